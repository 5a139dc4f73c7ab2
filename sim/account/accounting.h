#pragma once

namespace warpfold::sim {

// Built with WARPFOLD_ACCOUNTING=OFF the machine charges nothing: no warp states, no ledger. Times, instructions and bytes are the
// same. It is there to measure what accounting costs (tests/bench), not to be used.
#ifdef WARPFOLD_WITHOUT_ACCOUNTING
inline constexpr bool kAccounting = false;
#else
inline constexpr bool kAccounting = true;
#endif

}  // namespace warpfold::sim
