#include "sim/account/stall_ledger.h"

#include <algorithm>
#include <utility>

namespace warpfold::sim {
namespace {

// Returns the state of a warp that waits for the resource. `leaves_sm`: the memory queue holds up a global access.
WarpState state_of(Contended resource, bool leaves_sm) {
  switch (resource) {
    case Contended::kIssueSlot:
      return WarpState::kNotSelected;
    case Contended::kRegisterReadPort:
    case Contended::kRegisterWritePort:
      return WarpState::kDispatchStall;
    case Contended::kMemoryQueue:
      return leaves_sm ? WarpState::kLgThrottle : WarpState::kMioThrottle;
    default:
      return WarpState::kMathPipeThrottle;
  }
}

}  // namespace

// Adds `holder`. Four entries suffice, because few launches hold resources at a time. A fifth launch settles and clears
// all entries.
int StallLedger::make_place(Account& account, int holder) {
  if (known_ == kHolders) {
    settle(account);
    std::ranges::fill(place_of_, uint8_t{kHolders});
    known_ = 0;
  }
  holders_[known_] = holder;
  place_of_[holder] = static_cast<uint8_t>(known_);
  return known_++;
}

void StallLedger::charge(Account& account, Row& row) {
  for (int h = 0; h < known_; ++h) {
    for (int l = 0; l < kLosses; ++l) {
      const uint64_t lost = std::exchange(row.lost[h][l], 0);
      if (lost == 0) continue;
      const auto resource = l < kLosses - 2 ? static_cast<Contended>(l) : Contended::kMemoryQueue;
      account.spend(row.row, state_of(resource, l == kLosses - 1), lost);
      account.charge(row.row, holders_[h], resource, lost);
    }
  }
}

void StallLedger::settle(Account& account) {
  // Lists every field, so that a new field does not compile until it is listed and its value after settling is stated
  // here. Rows and their warps follow from the resident warps. `lost` is 0. `holders`, `known` and `place_of` only
  // index holders.
  [[maybe_unused]] const auto& [rows, unsettled, holders, known, place_of] = *this;
  [[maybe_unused]] const auto& [number, warps, lost] = Row{};
  if (!std::exchange(unsettled_, false)) return;
  for (Row& row : rows_) charge(account, row);
}

void StallLedger::left(Account& account, WarpMask warp, uint32_t row) {
  const auto active = std::ranges::find(rows_, row, &Row::row);
  if ((active->warps &= ~warp) != 0) return;
  charge(account, *active);
  *active = rows_.back();
  rows_.pop_back();
}

void StallLedger::entered(WarpMask warp, uint32_t row) {
  const auto active = std::ranges::find(rows_, row, &Row::row);
  if (active == rows_.end()) {
    rows_.push_back({.row = row, .warps = warp});
  } else {
    active->warps |= warp;
  }
}

}  // namespace warpfold::sim
