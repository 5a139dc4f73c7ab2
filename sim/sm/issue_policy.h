#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/engine/warp_mask.h"
#include "sim/sm/spec.h"

namespace warpfold::sim {

// Picks the warp that issues: candidates in, winner out, and what the policies remember from cycle to cycle.
//
//   CGGTY            the warp that issued last while it is a candidate, else the youngest
//   GTO              the warp that issued last while it is a candidate, else the oldest
//   LRR              the next candidate in the order of slots, round
//   oldest first     the oldest
//   greedy then lowest slot, lowest slot first: as GTO and oldest first, by the number of the warp slot instead of age
//   kernel priority  CGGTY among the candidates of the most urgent kernels
//
// Age and slot differ where a CTA starts in slots that one before it has left. Source of CGGTY: Huerta et al., MICRO 2025.
class IssueArbiter {
 public:
  explicit IssueArbiter(size_t slots) : younger_(slots, 0) {}

  // A slot of `candidates`, of which there is one at least. `most_urgent(candidates)`: those of the kernels of highest priority.
  template <typename MostUrgent>
  int pick(IssuePolicy policy, WarpMask candidates, MostUrgent most_urgent) const {
    if (policy == IssuePolicy::kKernelPriority) candidates = most_urgent(candidates);
    const WarpMask last = last_issued_ & candidates;
    if (policy == IssuePolicy::kCggty || policy == IssuePolicy::kKernelPriority) return youngest(last != 0 ? last : candidates);
    if (policy == IssuePolicy::kGto) return oldest(last != 0 ? last : candidates);
    if (policy == IssuePolicy::kOldestFirst) return oldest(candidates);
    if (policy == IssuePolicy::kGreedyThenLowestSlot) return std::countr_zero(last != 0 ? last : candidates);
    if (policy == IssuePolicy::kLowestSlotFirst) return std::countr_zero(candidates);
    return next_in_turn(candidates);
  }

  void issued(int slot) {
    last_issued_ = WarpMask{1} << slot;
    last_turn_ = slot;
  }
  // A warp starts in `slot` beside those of `resident`.
  void started(int slot, WarpMask resident) {
    for (WarpMask others = resident; others != 0; others &= others - 1) younger_[std::countr_zero(others)] |= WarpMask{1} << slot;
    younger_[slot] = 0;
  }
  void exited(int slot) {
    for (WarpMask& later : younger_) later &= ~(WarpMask{1} << slot);
    last_issued_ &= ~(WarpMask{1} << slot);
  }
  // With no warp resident: forgets the turns.
  void reset() {
    last_issued_ = 0;
    last_turn_ = 0;
  }

  void visit(StateVisitor& visitor, WarpMask resident) {
    // Every field.
    [[maybe_unused]] const auto& [younger, last_issued, last_turn] = *this;
    for (WarpMask left = resident; left != 0; left &= left - 1) visitor.value("younger", younger_[std::countr_zero(left)]);
    visitor.values("last_issued", last_issued_, "last_turn", last_turn_);
  }
  bool operator==(const IssueArbiter&) const = default;

 private:
  int youngest(WarpMask candidates) const {
    // Slots fill upwards, so the highest one is mostly the youngest already.
    int w = 31 - std::countl_zero(candidates);
    for (WarpMask later = younger_[w] & candidates; later != 0; later = younger_[w] & candidates) w = 31 - std::countl_zero(later);
    return w;
  }
  int oldest(WarpMask candidates) const {
    int w = std::countr_zero(candidates);
    const auto earlier = [&] { return candidates & ~younger_[w] & ~(WarpMask{1} << w); };
    for (WarpMask older = earlier(); older != 0; older = earlier()) w = std::countr_zero(older);
    return w;
  }
  int next_in_turn(WarpMask candidates) const {
    const WarpMask after = candidates & ~((WarpMask{2} << last_turn_) - 1);
    return std::countr_zero(after != 0 ? after : candidates);
  }

  std::vector<WarpMask> younger_;  // per slot: resident warps that started later
  WarpMask last_issued_ = 0;       // the warp; none where it has exited
  int last_turn_ = 0;              // its slot, also when it has exited
};

}  // namespace warpfold::sim
