#pragma once

namespace warpfold::sim {

// False if built with WARPFOLD_ACCOUNTING=OFF: the machine then records no warp states and no ledger. Times,
// instructions and bytes do not change. The switch exists to measure the cost of accounting (tests/bench), not for use.
#ifdef WARPFOLD_WITHOUT_ACCOUNTING
inline constexpr bool kAccounting = false;
#else
inline constexpr bool kAccounting = true;
#endif

}  // namespace warpfold::sim
