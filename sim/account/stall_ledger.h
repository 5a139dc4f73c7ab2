#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/account/account.h"
#include "sim/account/states.h"
#include "sim/engine/warp_mask.h"

namespace warpfold::sim {

// Records the stalls of one sub-core: the warps that stalled in a cycle, the reason, and the launch that held the
// resource. Sums by account row and holder are buffered here and charged to the account by settle(), before the account
// is read.
//
//   stalled(0b0110, math_pipe_throttle, launch 1, ALU)   warps 1 and 2 each lose a cycle on the ALU to launch 1
class StallLedger {
 public:
  explicit StallLedger(size_t launches) : place_of_(launches, kHolders) {}

  void stalled(Account& account, WarpMask warps, WarpState reason, int holder, Contended resource) {
    if constexpr (!kAccounting) return;
    const size_t place = place_for(account, holder);
    const size_t loss = resource != Contended::kMemoryQueue ? static_cast<size_t>(resource)
                        : reason == WarpState::kLgThrottle  ? kLosses - 1
                                                            : kLosses - 2;
    unsettled_ = true;
    for (Row& row : rows_) row.lost[place][loss] += static_cast<uint64_t>(std::popcount(warps & row.warps));
  }

  // Records warps that lost the issue slot to a warp of launch `winner`, and warps that lost `pipe` to it. Either mask
  // may be empty: adding zero is cheaper than a branch that is hard to predict.
  void not_selected(Account& account, WarpMask without_slot, WarpMask without_pipe, int winner, Contended pipe) {
    if constexpr (!kAccounting) return;
    const size_t place = place_for(account, winner);
    unsettled_ = true;
    for (Row& row : rows_) {
      auto& lost = row.lost[place];
      lost[static_cast<size_t>(Contended::kIssueSlot)] += static_cast<uint64_t>(std::popcount(without_slot & row.warps));
      lost[static_cast<size_t>(pipe)] += static_cast<uint64_t>(std::popcount(without_pipe & row.warps));
    }
  }

  // A warp enters a row of the account, or leaves it.
  void entered(WarpMask warp, uint32_t row);
  void left(Account& account, WarpMask warp, uint32_t row);
  // Charges the buffered sums to the account. The remaining state of a settled ledger follows from the resident warps.
  void settle(Account& account);

  bool operator==(const StallLedger&) const = default;

 private:
  // One counter per resource. The memory queue has two: the last one for instructions that leave the SM (lg_throttle),
  // the one before for the others (mio_throttle).
  static constexpr int kLosses = static_cast<int>(Contended::kRegisterWritePort) + 3;
  static constexpr int kHolders = 4;
  static_assert(static_cast<int>(std::ranges::max(kContendedPipe)) < kLosses);
  // Account row with resident warps on the sub-core, and the warp-cycles lost to each holder since the last settle().
  struct Row {
    uint32_t row = 0;
    WarpMask warps = 0;
    std::array<std::array<uint64_t, kLosses>, kHolders> lost{};

    bool operator==(const Row&) const = default;
  };

  size_t place_for(Account& account, int holder) {
    return static_cast<size_t>(place_of_[holder] < kHolders ? place_of_[holder] : make_place(account, holder));
  }
  int make_place(Account& account, int holder);
  void charge(Account& account, Row& row);

  std::vector<Row> rows_{};
  bool unsettled_ = false;
  std::array<int, kHolders> holders_{};  // launches
  int known_ = 0;                        // number of entries in use in holders_
  std::vector<uint8_t> place_of_;        // per launch: its index in holders_; kHolders if absent
};

}  // namespace warpfold::sim
