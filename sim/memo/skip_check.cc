#include "sim/memo/skip_check.h"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "sim/memo/recurrence.h"
#include "sim/sm/sm_snapshot.h"

namespace warpfold::sim {
namespace {

// Returns a pseudo-random word for the number of a skip, the same on every machine.
uint64_t mixed(uint64_t word) {
  constexpr uint64_t kSeed = 0x9e3779b97f4a7c15ULL;
  word = (word + kSeed) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ word >> 27) * 0x94d049bb133111ebULL;
  return word ^ word >> 31;
}

// A named figure of a state, for comparison.
struct Figure {
  std::string name;
  uint64_t value;

  bool operator==(const Figure&) const = default;
};

std::vector<Figure> figures_of(const Sm& sm) {
  const SmState& state = sm.state();
  std::vector<Figure> figures;
  for (size_t l = 0; l < state.launches.size(); ++l) {
    const std::string of_kernel = " of kernel " + state.launches[l].image->kernel->name;
    const auto launch = static_cast<int>(l);
    const LaunchProgress& progress = state.progress[l];
    const LaunchAccount& account = state.account.launch(launch);
    figures.push_back({"instructions" + of_kernel, account.instructions});
    figures.push_back({"CTAs placed" + of_kernel, progress.placed});
    figures.push_back({"CTAs ended" + of_kernel, progress.done});
    figures.push_back({"cycle of its start" + of_kernel, progress.start});
    figures.push_back({"cycle of its last end of a CTA" + of_kernel, progress.end});
    figures.push_back({"bytes requested" + of_kernel, account.requested_bytes});
    figures.push_back({"bytes served" + of_kernel, account.served_bytes});
    figures.push_back({"bytes of L1" + of_kernel, account.l1_bytes});
    figures.push_back({"bytes of DRAM" + of_kernel, account.dram_bytes});
    figures.push_back({"resident warp-cycles" + of_kernel, account.resident_warp_cycles});
    figures.push_back({"absent warp-cycles" + of_kernel, account.absent_warp_cycles});
    for (int s = 0; s < kWarpStates; ++s) {
      const auto warp_state = static_cast<WarpState>(s);
      figures.push_back(
          {"warp-cycles in state " + std::string(state_name(warp_state)) + of_kernel, state.account.cycles_of(launch, warp_state)});
    }
  }
  return figures;
}

// Records the fields of a state key by name.
class FieldsOfKey : public KeyFilter {
 public:
  explicit FieldsOfKey(const std::string& omitted) : omitted_(omitted) {}
  bool keeps(const char* name, uint64_t word) override {
    if (name != omitted_) fields_.push_back({"state key, " + std::string(name), word});
    return false;
  }
  const std::vector<Figure>& fields() const { return fields_; }

 private:
  const std::string& omitted_;
  std::vector<Figure> fields_;
};

std::vector<Figure> fields_of_key(Sm& sm, Cycle at, const std::string& omitted) {
  FieldsOfKey fields(omitted);
  Snapshot unused;
  StateVisitor visitor(unused, at, &fields);
  sm.visit(visitor);
  return fields.fields();
}

Snapshot snapshot_of(Sm& sm, Cycle at, const std::string& omitted) {
  FieldOmitter omitter(omitted);
  Snapshot snapshot;
  StateVisitor visitor(snapshot, at, omitted.empty() ? nullptr : &omitter);
  sm.visit(visitor);
  return snapshot;
}

// Names the kernels that have CTAs on the SM.
std::string kernels_on(const Sm& sm) {
  std::string names;
  const SmState& state = sm.state();
  for (size_t l = 0; l < state.launches.size(); ++l) {
    if (state.progress[l].running == 0) continue;
    names += (names.empty() ? "kernel " : ", kernel ") + state.launches[l].image->kernel->name;
  }
  return names;
}

std::string amount(uint64_t one, uint64_t other) {
  return one > other ? std::to_string(one - other) + " more" : std::to_string(other - one) + " less";
}

std::optional<std::string> first_difference(const std::vector<Figure>& replayed, const std::vector<Figure>& skipped) {
  const auto [one, other] = std::ranges::mismatch(replayed, skipped);
  if (one == replayed.end() && other == skipped.end()) return std::nullopt;
  if (one == replayed.end() || other == skipped.end() || one->name != other->name) return "the states have other parts";
  return one->name + " would be " + std::to_string(other->value) + " and is " + std::to_string(one->value) + " by replay (" +
         amount(one->value, other->value) + ")";
}

// Compares words that have no names of their own.
std::optional<std::string> first_difference(std::string_view name, const std::vector<uint64_t>& replayed,
                                            const std::vector<uint64_t>& skipped) {
  const auto [one, other] = std::ranges::mismatch(replayed, skipped);
  if (one == replayed.end() && other == skipped.end()) return std::nullopt;
  const std::string which = std::string(name) + " " + std::to_string(one - replayed.begin());
  if (one == replayed.end() || other == skipped.end()) return which + " is there once only";
  return which + " would be " + std::to_string(*other) + " and is " + std::to_string(*one) + " by replay (" + amount(*one, *other) +
         ")";
}

std::optional<std::string> difference(Sm& replayed, Sm& skipped, Cycle at, const std::string& omitted) {
  const Snapshot one = snapshot_of(replayed, at, omitted);
  const Snapshot other = snapshot_of(skipped, at, omitted);
  if (auto found = first_difference(figures_of(replayed), figures_of(skipped))) return found;
  if (one.key != other.key) return first_difference(fields_of_key(replayed, at, omitted), fields_of_key(skipped, at, omitted));
  const std::array<std::pair<std::string_view, std::vector<uint64_t> Snapshot::*>, 4> rest = {
      {{"CTA class", &Snapshot::classes},
       {"counter", &Snapshot::counts},
       {"begin of wait", &Snapshot::moments},
       {"CTAs placed of launch", &Snapshot::placed}}};
  for (const auto& [name, words] : rest) {
    if (auto found = first_difference(name, one.*words, other.*words)) return found;
  }
  if (auto found = first_difference("trips left of loop", one.trips.left, other.trips.left)) return found;
  if (!(replayed.account() == skipped.account())) return "what warps have lost, by segment of the code";
  return std::nullopt;
}

// Returns an SM in the same state, without an observer.
Sm copy_of(const Sm& sm) { return {sm.spec(), sm.state()}; }

void replay(Sm& sm, Cycle until) {
  while (sm.run(until) < until) {
  }
}

}  // namespace

// True if the next skip is checked: the first one, then pseudo-randomly one in kOneIn, as long as instructions are
// left.
bool SkipCheck::draw(uint64_t instructions) {
  ++skips_;
  if ((checked_ > 0 && mixed(skips_) % kOneIn != 0) || instructions > instructions_left_) return false;
  instructions_left_ -= instructions;
  ++checked_;
  return true;
}

void SkipCheck::recurrence(const Sm& sm, const Snapshot& before, const Snapshot& after, const std::vector<const CtaList*>& ctas) {
  if (!draw(after.instructions - before.instructions)) return;
  const Cycle end = after.at + (after.at - before.at);
  Sm replayed = copy_of(sm);
  replay(replayed, end);
  Sm skipped = copy_of(sm);
  move_on(skipped, sim::recurrence(before, after, ctas, end), true);
  compare(
      replayed, skipped, end,
      kernels_on(sm) + ": a period of " + std::to_string(after.at - before.at) + " cycles after cycle " + std::to_string(after.at));
}

void SkipCheck::compare(Sm& replayed, Sm& skipped, Cycle at, const std::string& what) const {
  const auto found = difference(replayed, skipped, at, omitted_field_);
  if (found) throw std::logic_error("self-check: " + what + ": " + *found);
}

}  // namespace warpfold::sim
