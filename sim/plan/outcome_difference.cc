#include "sim/plan/outcome_difference.h"

#include <algorithm>
#include <concepts>
#include <string_view>
#include <utility>
#include <vector>

namespace warpfold::sim {
namespace {

std::string_view name_of(WarpState state) { return state_name(state); }
std::string_view name_of(Contended resource) { return contended_name(resource); }

// Compares two outcomes figure by figure. Structured bindings name every member, so a new member does not compile until
// it is compared.
class Comparison {
 public:
  Comparison(const Outcome& one, const Outcome& other) { compare(one, other); }

  const std::optional<Difference>& found() const { return found_; }

 private:
  // `name` makes the figure's name. It is called only for a figure that differs: most outcomes agree in all of some
  // million figures.
  template <std::invocable Name>
  void number(Name name, uint64_t one, uint64_t other) {
    if (!found_ && one != other) found_ = Difference{kernel_, name(), one, other};
  }
  void number(const char* name, uint64_t one, uint64_t other) {
    number([name] { return std::string(name); }, one, other);
  }
  // Compares arrays indexed by an enum.
  template <typename Enum, typename Name, typename Values>
  void each_of(Name name, const Values& one, const Values& other) {
    if (found_ || one == other) return;
    for (size_t i = 0; i < one.size(); ++i)
      number([&] { return name() + std::string(name_of(static_cast<Enum>(i))); }, one[i], other[i]);
  }
  // Compares losses by culprit.
  template <typename Name>
  void losses(Name name, const std::vector<Losses>& one, const std::vector<Losses>& other) {
    number([&] { return name() + "culprits"; }, one.size(), other.size());
    if (found_) return;
    for (size_t c = 0; c < one.size(); ++c) each_of<Contended>([&] { return name() + std::to_string(c) + ", "; }, one[c], other[c]);
  }

  void compare(const SegmentCounters& one, const SegmentCounters& other) {
    const auto& [segment, states, lost, inherited, hidden, inherited_in_all, hidden_in_all, requests_lost] = one;
    const auto& [role, phase, position] = segment;
    const auto where = [&](const char* what) {
      return [&, what] {
        return "role " + std::to_string(role) + " " + std::string(phase_name(phase)) + " " + std::to_string(position) + " " + what;
      };
    };
    number(where("role"), role, other.segment.role);
    number(where("phase"), static_cast<uint64_t>(phase), static_cast<uint64_t>(other.segment.phase));
    number(where("position"), position, other.segment.position);
    each_of<WarpState>(where(""), states, other.states);
    each_of<WarpState>(where("inherited "), inherited, other.inherited);
    each_of<WarpState>(where("hidden "), hidden, other.hidden);
    each_of<WarpState>(where("inherited in all "), inherited_in_all, other.inherited_in_all);
    each_of<WarpState>(where("hidden in all "), hidden_in_all, other.hidden_in_all);
    losses(where("lost to "), lost, other.lost);
    losses(where("requests lost to "), requests_lost, other.requests_lost);
  }

  void compare(const KernelCounters& one, const KernelCounters& other) {
    const auto& [start, end, ctas, instructions, resident, states, l2, l2_served, dram, limit, limiter, segments, absent, beside] =
        one;
    number("start_cycle", start, other.start_cycle);
    number("end_cycle", end, other.end_cycle);
    number("ctas", ctas, other.ctas);
    number("instructions", instructions, other.instructions);
    number("resident_warp_cycles", resident, other.resident_warp_cycles);
    each_of<WarpState>([] { return std::string(); }, states, other.states);
    number("l2_bytes", l2, other.l2_bytes);
    number("l2_bytes_served", l2_served, other.l2_bytes_served);
    number("dram_bytes", dram, other.dram_bytes);
    number("cta_limit", limit, other.cta_limit);
    number("cta_limiter", 0, limiter == other.cta_limiter ? 0 : 1);
    number("segments", segments.size(), other.segments.size());
    for (size_t s = 0; s < segments.size() && !found_; ++s) compare(segments[s], other.segments[s]);
    losses([] { return std::string("absent for "); }, absent, other.absent);
    for (size_t l = 0; l < beside.size() && !found_; ++l) number("resident beside another launch", beside[l], other.beside[l]);
  }

  void compare(const ResourceUse& one, const ResourceUse& other) {
    const auto& [name, busy, capacity] = one;
    number([&] { return "resource " + name; }, 0, name == other.name ? 0 : 1);
    number([&] { return "resource " + name + ", busy"; }, busy, other.busy);
    number([&] { return "resource " + name + ", capacity"; }, capacity, other.capacity);
  }

  // Bounds that would have changed the run have no further figures.
  void compare(const AlternativeBounds& one, const AlternativeBounds& other) {
    const auto& [same, absent] = one;
    number("same under alternative bounds", same ? 1 : 0, other.same ? 1 : 0);
    for (size_t l = 0; l < absent.size() && same && !found_; ++l)
      losses([&] { return std::to_string(l) + " absent under alternative bounds for "; }, absent[l], other.absent[l]);
  }

  void compare(const Outcome& one, const Outcome& other) {
    const auto& [total, kernels, resources, ledger, sm_classes, sms_simulated, whole_chip, fold, folds, made, timeline,
                 alternative_bounds, left_idle, dirty_bytes, ran, deadlocked, deadlock] = one;
    const auto& [report] = deadlock;
    static_cast<void>(fold);
    static_cast<void>(folds);
    static_cast<void>(made);
    static_cast<void>(timeline);  // depends on which stretches were folded
    number("kernels", kernels.size(), other.kernels.size());
    number("alternative bounds", alternative_bounds.size(), other.alternative_bounds.size());
    for (size_t k = 0; k < kernels.size() && !found_; ++k) {
      kernel_ = k;
      compare(kernels[k], other.kernels[k]);
    }
    kernel_.reset();
    number("total_cycles", total, other.total_cycles);
    number("sm_classes", sm_classes, other.sm_classes);
    number("sms_simulated", sms_simulated, other.sms_simulated);
    number("whole_chip", whole_chip ? 1 : 0, other.whole_chip ? 1 : 0);
    number("left_idle", left_idle ? 1 : 0, other.left_idle ? 1 : 0);
    number("bytes dirty in L2", dirty_bytes, other.dirty_bytes);
    number("launches that ran", ran.size(), other.ran.size());
    number("launches that ran, which", 0, ran == other.ran ? 0 : 1);
    number("deadlocked", deadlocked ? 1 : 0, other.deadlocked ? 1 : 0);
    number("report of a deadlock", 0, report == other.deadlock.report ? 0 : 1);
    number("resources", resources.size(), other.resources.size());
    for (size_t r = 0; r < resources.size() && !found_; ++r) compare(resources[r], other.resources[r]);
    for (size_t a = 0; a < alternative_bounds.size() && !found_; ++a) compare(alternative_bounds[a], other.alternative_bounds[a]);
    for (size_t victim = 0; victim < ledger.size() && !found_; ++victim)
      losses([&] { return "ledger of " + std::to_string(victim) + " against "; }, ledger[victim], other.ledger[victim]);
  }

  std::optional<size_t> kernel_;
  std::optional<Difference> found_;
};

}  // namespace

std::optional<Difference> first_difference(const Outcome& one, const Outcome& other) { return Comparison(one, other).found(); }

}  // namespace warpfold::sim
