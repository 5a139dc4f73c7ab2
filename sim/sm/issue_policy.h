#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/engine/warp_mask.h"
#include "sim/sm/spec.h"

namespace warpfold::sim {

// Picks the warp that issues. The fields hold the policies' memory from cycle to cycle.
//
//   GTO              the warp that issued in the cycle before, if it is a candidate. Otherwise a warp of the oldest CTA with a
//                    candidate: the warp that issued last, or else the lowest slot
//   CGGTY            as GTO, with the youngest CTA and its highest slot
//   LRR              the next candidate in the order of slots, round-robin
//   oldest first     the lowest slot of the oldest CTA
//   greedy then lowest slot
//                    the warp that issued last, if it is a candidate. Otherwise the lowest slot
//   lowest slot first
//                    the lowest slot
//   kernel priority  CGGTY among the candidates of the kernels of highest priority
//
// All warps of a CTA are of one age. Age and slot differ if a CTA starts in slots that an earlier CTA has left.
//
// Sources: an H100 of Warpfold's kit (docs/validation/h100_kit.csv, K30 to K79). Warps of one CTA get equal shares of
// the issue slot. A CTA whose instructions hold their pipe for more than a cycle leaves 0.1 to 4 % of the slots to a
// younger CTA (K41, K67). A CTA that issues in every cycle keeps the slot (K54, K55). CGGTY: Huerta et al., MICRO 2025,
// for warps of one CTA; between CTAs: assumed as on an H100.
class IssueArbiter {
 public:
  // Returns the slot of a candidate; there must be one. `stays`: the warp that issued last did so in the cycle before.
  // `most_urgent(candidates)` returns the candidates of the kernels of highest priority.
  template <typename MostUrgent>
  int pick(IssuePolicy policy, WarpMask candidates, bool stays, MostUrgent most_urgent) const {
    if (policy == IssuePolicy::kKernelPriority) candidates = most_urgent(candidates);
    if ((candidates & (candidates - 1)) == 0) return std::countr_zero(candidates);
    const WarpMask last = last_issued_ & candidates;
    switch (policy) {
      case IssuePolicy::kCggty:
      case IssuePolicy::kKernelPriority: {
        const WarpMask youngest = stays && last != 0 ? last : of_youngest_cta(candidates);
        return highest((last & youngest) != 0 ? last : youngest);
      }
      case IssuePolicy::kGto: {
        const WarpMask oldest = stays && last != 0 ? last : of_oldest_cta(candidates);
        return std::countr_zero((last & oldest) != 0 ? last : oldest);
      }
      case IssuePolicy::kOldestFirst:
        return std::countr_zero(of_oldest_cta(candidates));
      case IssuePolicy::kGreedyThenLowestSlot:
        return std::countr_zero(last != 0 ? last : candidates);
      case IssuePolicy::kLowestSlotFirst:
        return std::countr_zero(candidates);
      case IssuePolicy::kLrr:
        break;
    }
    return next_in_turn(candidates);
  }

  int last() const { return last_turn_; }  // the slot of the warp that issued last
  void issued(int slot) {
    last_issued_ = WarpMask{1} << slot;
    last_turn_ = slot;
  }
  // A warp starts in `slot`. `older`: the resident warps of other CTAs.
  void started(int slot, WarpMask older) {
    if (ctas_.empty() || (ctas_.back() & ~older) == 0) ctas_.push_back(0);
    ctas_.back() |= WarpMask{1} << slot;
  }
  void exited(int slot) {
    for (WarpMask& cta : ctas_) cta &= ~(WarpMask{1} << slot);
    std::erase(ctas_, WarpMask{0});
    last_issued_ &= ~(WarpMask{1} << slot);
  }
  // Resets the turns. Requires that no warp is resident.
  void reset() {
    last_issued_ = 0;
    last_turn_ = 0;
  }

  void visit(StateVisitor& visitor, WarpMask resident) {
    // The binding lists all fields.
    [[maybe_unused]] const auto& [ctas, last_issued, last_turn] = *this;
    for (WarpMask left = resident; left != 0; left &= left - 1) visitor.value("younger", younger_than(left & -left));
    visitor.values("last_issued", last_issued_, "last_turn", last_turn_);
  }
  bool operator==(const IssueArbiter&) const = default;

 private:
  static int highest(WarpMask warps) { return 31 - std::countl_zero(warps); }
  // Requires that some CTA has a candidate.
  WarpMask of_oldest_cta(WarpMask candidates) const {
    auto cta = ctas_.begin();
    while ((*cta & candidates) == 0) ++cta;
    return *cta & candidates;
  }
  WarpMask of_youngest_cta(WarpMask candidates) const {
    auto cta = ctas_.end() - 1;
    while ((*cta & candidates) == 0) --cta;
    return *cta & candidates;
  }
  // Returns the resident warps of CTAs that started later than the warp's CTA.
  WarpMask younger_than(WarpMask warp) const {
    WarpMask younger = 0;
    for (auto cta = ctas_.rbegin(); (*cta & warp) == 0; ++cta) younger |= *cta;
    return younger;
  }
  int next_in_turn(WarpMask candidates) const {
    const WarpMask after = candidates & ~((WarpMask{2} << last_turn_) - 1);
    return std::countr_zero(after != 0 ? after : candidates);
  }

  std::vector<WarpMask> ctas_;  // resident warps of each CTA, the oldest CTA first
  WarpMask last_issued_ = 0;    // the warp that issued last; 0 if it has exited
  int last_turn_ = 0;           // slot of that warp, also after its exit
};

}  // namespace warpfold::sim
