// Classes that ask for bandwidth at the same time, each by itself: for how long they are replayed together first, slices of time,
// and what is measured in each.
#include <algorithm>
#include <utility>

#include "sim/gpu/chip_sharing.h"

namespace warpfold::sim {
namespace {

// Of a longer run, instructions that are replayed together: each phase gets half of what is left. assumed: each shows its demand.
constexpr uint64_t kTogether = 4'000'000;
constexpr uint64_t kTogetherCoarse = 2'000'000;  // where an error of 0.5 % and more is allowed
constexpr uint64_t kPhasePart = 2;

// Slices grow while demands stay what they are; after one that was run again, so many of a quarter of its length come first
// (assumed: of 1, 4 and 16, 4 replays least over all policies of the 70B block). What a slice at other rates can be off is a part
// of it: one that is no longer than a 64th of the run so far is not run again (assumed).
constexpr Cycle kGrowth = 4;
constexpr int kAcceptedToGrow = 4;
constexpr Cycle kNegligiblePart = 64;
constexpr Cycle kShortestSlice = 8192;

// A slice whose rates were not right stands for what it skips: of its instructions half at least (assumed). Else it is replayed
// together, and as much again as was replayed the last time.
constexpr uint64_t kWorthwhile = 2;
constexpr uint64_t kTogetherAgain = 1'000'000;

// What a class asks for in fewer cycles than that says little (assumed): what is known of it holds.
constexpr Cycle kShortestMeasurement = 2048;

}  // namespace

uint64_t ChipSharing::instructions() const {
  uint64_t sum = 0;
  for (const ClassRun& class_run : class_runs_) sum += class_run.replayed();
  return sum;
}

// The same with what has been skipped, of the classes of the slice.
uint64_t ChipSharing::issued_apart() const {
  uint64_t sum = 0;
  for (const size_t m : apart_) {
    if (class_runs_[m].sm != nullptr) sum += class_runs_[m].sm->instructions();
  }
  return sum;
}

// Which launches have CTAs left or running on each of the classes.
std::vector<uint64_t> ChipSharing::phase_of(const std::vector<size_t>& asking) const {
  std::vector<uint64_t> phase;
  for (const size_t m : asking) {
    phase.push_back(m);
    const SmState& state = class_runs_[m].sm->state();
    for (size_t l = 0; l < launch_uses_memory_.size(); ++l) {
      const LaunchProgress& progress = state.progress[l];
      phase.push_back((progress.placed > 0 ? 1U : 0U) + (state.launch_done(static_cast<int>(l)) ? 2U : 0U));
    }
  }
  return phase;
}

uint64_t ChipSharing::replay_together_until(const std::vector<size_t>& asking, const FoldOptions& fold) {
  if (fold.mode != FoldMode::kAuto) return UINT64_MAX;
  if (work_ <= short_run(fold.error) && fold.replayed_together == 0) return UINT64_MAX;
  const uint64_t done = instructions();
  const uint64_t together = fold.replayed_together > 0  ? fold.replayed_together
                            : fold.error < kCoarseError ? kTogether
                                                        : kTogetherCoarse;
  if (!started_) {
    started_ = true;
    together_again_ = kTogetherAgain;
    together_left_ = together;
  }
  std::vector<uint64_t> phase = phase_of(asking);
  if (phase != phase_) {
    phase_ = std::move(phase);
    phase_begin_ = kNever;
    for (const size_t m : asking) phase_begin_ = std::min(phase_begin_, class_runs_[m].next);
    slice_ = kShortestSlice;
    accepted_to_grow_ = 0;
    // With what the phase before has not replayed of its part.
    if (together_until_ > done) together_left_ = std::min(together_left_ + together_until_ - done, together);
    const uint64_t part = together_left_ / kPhasePart;
    together_left_ -= part;
    together_until_ = done + part;
    begin_measurement(phase_begin_);
  }
  return together_until_ > done ? together_until_ : 0;
}

void ChipSharing::begin_measurement(Cycle now) {
  measured_from_ = now;
  asked_.assign(class_runs_.size(), {});
  for (size_t m = 0; m < class_runs_.size(); ++m) {
    if (class_runs_[m].sm == nullptr) continue;
    const MemoryShare& memory = class_runs_[m].sm->memory().memory();
    asked_[m] = {std::max(now, class_runs_[m].sm->state().now), memory.l2_read_bytes(), memory.l2_write_bytes(),
                 memory.dram_read_bytes(), memory.dram_written_bytes()};
  }
}

// Each over its own cycles: some have got further.
void ChipSharing::measure(Cycle now, bool apart) {
  demands_.resize(class_runs_.size());
  for (size_t m = 0; m < class_runs_.size(); ++m) {
    if (class_runs_[m].sm == nullptr) continue;
    const Asked& before = asked_[m];
    const Cycle until = std::max(now, class_runs_[m].sm->state().now);
    const bool known = demands_[m].sms > 0;
    if (until <= before.at || (known && until - before.at < kShortestMeasurement)) continue;
    const Cycle cycles = until - before.at;
    const MemoryShare& memory = class_runs_[m].sm->memory().memory();
    // A class that has got an Sm of its own since has asked for what its leader had.
    const auto rate = [&](uint64_t bytes, uint64_t from) { return 1000 * (bytes - std::min(bytes, from)) / cycles; };
    demands_[m] = {.sms = represented_sms(class_runs_, class_runs_[m]),
                   .l2_read = rate(memory.l2_read_bytes(), before.l2_read),
                   .l2_write = rate(memory.l2_write_bytes(), before.l2_write),
                   .dram_read = rate(memory.dram_read_bytes(), before.dram_read),
                   .dram_write = rate(memory.dram_written_bytes(), before.dram_write),
                   .served = apart ? memory.rates() : MemoryRates{}};
  }
}

std::vector<MemoryDemand> ChipSharing::demands_of(const std::vector<size_t>& asking) const {
  std::vector<MemoryDemand> demands;
  for (const size_t m : asking) {
    demands.push_back(demands_[m]);
    demands.back().sms = represented_sms(class_runs_, class_runs_[m]);
  }
  return demands;
}

Cycle ChipSharing::begin_slice(const std::vector<size_t>& asking) {
  part();
  estimated_ = true;
  apart_ = asking;
  Cycle begin = kNever;
  for (const size_t m : asking) begin = std::min(begin, class_runs_[m].next);
  if (demands_.empty() || measured_from_ == phase_begin_) measure(begin, false);
  const std::vector<MemoryRates> rates = rates_beside(spec_.memory, demands_of(asking));
  for (size_t i = 0; i < asking.size(); ++i) {
    ClassRun& class_run = class_runs_[asking[i]];
    if (serve_alike(class_run.sm->memory().memory().rates(), rates[i], demands_[asking[i]])) continue;
    class_run.sm->memory().set_rates(class_run.next, rates[i]);
    if (class_run.folding) class_run.folding->disturbed();
  }
  begin_measurement(begin);
  issued_before_ = issued_apart();
  replayed_before_ = instructions();
  if (launch_end_ <= begin) launch_end_ = kNever;
  return std::min(begin + slice_, launch_end_);
}

bool ChipSharing::too_far(Cycle until) {
  launch_end_ = until;
  return std::ranges::any_of(apart_, [&](size_t m) {
    const ClassRun& class_run = class_runs_[m];
    return class_run.sm != nullptr && class_run.sm->state().now > until + kShortestSlice;
  });
}

bool ChipSharing::end_slice(Cycle until) {
  measure(until, true);
  const std::vector<MemoryDemand> demands = demands_of(apart_);
  const std::vector<MemoryRates> rates = rates_beside(spec_.memory, demands);
  const bool consistent = std::ranges::equal(apart_, rates, [&](size_t m, const MemoryRates& rate) {
    return serve_alike(class_runs_[m].sm->memory().memory().rates(), rate, demands_[m]);
  });
  if (consistent && accepted_to_grow_ > 0) --accepted_to_grow_;
  if (consistent && accepted_to_grow_ == 0) slice_ *= kGrowth;
  if (consistent) return true;
  if (until - measured_from_ > std::max(kShortestSlice, until / kNegligiblePart)) return false;
  const uint64_t issued = issued_apart() - issued_before_;
  const uint64_t done = instructions() - replayed_before_;
  if (!oversubscribed(spec_.memory, demands) && kWorthwhile * done <= issued) return true;
  replay_slice_ = true;
  return false;
}

void ChipSharing::shorten_slice() {
  if (std::exchange(replay_slice_, false)) {
    phase_begin_ = measured_from_;
    begin_measurement(phase_begin_);
    together_until_ = instructions() + together_again_;
    together_again_ *= kPhasePart;
  }
  slice_ = std::max(slice_ / kGrowth, kShortestSlice);
  accepted_to_grow_ = kAcceptedToGrow;
}

}  // namespace warpfold::sim
