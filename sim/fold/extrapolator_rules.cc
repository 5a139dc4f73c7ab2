// When a jump may be made.
#include <algorithm>
#include <cstdlib>

#include "sim/fold/extrapolator.h"
#include "sim/fold/fold.h"

namespace warpfold::sim {
namespace {

constexpr double kOccupancyError = 0.003;       // relative, of resident warp-cycles; where the error is larger, that
constexpr double kOccupancyErrorAtLast = 0.02;  // the same when so many instructions have been measured:
constexpr uint64_t kMeasuredLong = 2'000'000;
// Shares of a launch's cycles between which a jump saves too little for what it may do to the order of what is left.
constexpr double kNegligibleShare = 0.002;
constexpr double kWorthwhileShare = 0.1;
// Share of L2's room for what waits to be written back that half a window may take: assumed, little against what a window's bursts
// move.
constexpr double kFilling = 0.01;

}  // namespace

// What is there goes on as it does: coupled warps get on, no launch is about to be let in, and none waits for room but that of
// coupled CTAs, of which as many have taken the place of those that have ended. (When the last free CTAs leave their room depends
// on how far apart they are, and what comes then may hold the last of them up for as long as it runs: a jump keeps no bound on
// either.)
bool Extrapolator::steady(size_t first) const {
  const Sample& from = samples_[first];
  const Sample& to = samples_.back();
  bool waits_for_room = false;
  bool keeps_its_room = true;
  for (size_t l = 0; l < coupled_.size(); ++l) {
    const int launch = static_cast<int>(l);
    const uint64_t running = sm_->ctas_running(launch);
    if (running > 0 && coupled_[l] && to.launches[l].instructions == from.launches[l].instructions) return false;
    const Cycle ready = sm_->launch_ready(launch);
    if (ready == kNever || !sm_->ctas_left(launch)) continue;
    if (ready >= to.state.at) return false;
    const uint64_t placed = to.state.placed[l] - from.state.placed[l];
    const uint64_t gone = to.ctas_done[l] - from.ctas_done[l];
    if (placed == 0 && gone == 0) {
      waits_for_room = true;
    } else {
      keeps_its_room = keeps_its_room && coupled_[l] && placed >= running && placed + 1 >= gone;
    }
  }
  return !waits_for_room || keeps_its_room;
}

// Cycles that the rate leaves open; and of the pacer's launch, of which whole rounds are taken, what those are off what was
// measured.
double Extrapolator::left_open(size_t first, int launch, const Jump& jump) const {
  const double open = relative_uncertainty(batches(first, launch)) * static_cast<double>(jump.skip.cycles);
  if (!pacer_ || pacer_->launch != launch) return open;
  const auto measured =
      static_cast<double>(samples_.back().launches[launch].instructions - samples_[first].launches[launch].instructions);
  const auto off = static_cast<double>(std::abs(static_cast<int64_t>(jump.corrections[launch].instructions)));
  return open + off / measured * static_cast<double>(jump.period);
}

// A CTA keeps its place until the last of its warps has ended; how many warps are there on average shows when as many CTAs as fit
// have come and gone kGenerations times. Then resident warp-cycles, of which the waits are made, may leave open kOccupancyError;
// they come and go in long waves, for which a long run does not wait.
bool Extrapolator::occupancy_settled(size_t first, int launch, double share) const {
  if (coupled_[launch] || !sm_->ctas_left(launch)) return true;
  const uint64_t gone = samples_.back().ctas_done[launch] - samples_[first].ctas_done[launch];
  if (gone == 0 && samples_.back().launches[launch].instructions == samples_[first].launches[launch].instructions) return true;
  if (static_cast<double>(gone) < share * static_cast<double>(kGenerations * sm_->ctas_running(launch))) return false;
  std::vector<Batch> measured;
  for (size_t i = first; i + 1 < samples_.size(); ++i) {
    const auto resident = [&](const Sample& sample) { return sample.states[launch] + sum_of(sample.waiting[launch]); };
    measured.push_back({static_cast<double>(resident(samples_[i + 1]) - resident(samples_[i])),
                        static_cast<double>(samples_[i + 1].state.at - samples_[i].state.at)});
  }
  const uint64_t instructions = samples_.back().launches[launch].instructions - samples_[first].launches[launch].instructions;
  const double early = std::max(kOccupancyError, error_);
  const double most = instructions < kMeasuredLong ? early : std::max(kOccupancyErrorAtLast, early);
  return share * relative_uncertainty(measured) <= most && share * relative_drift(measured) <= most;
}

bool Extrapolator::gets_on(size_t first, size_t launch) const {
  return samples_.back().launches[launch].instructions != samples_[first].launches[launch].instructions;
}

// Stores wait for DRAM from the cycle on in which L2 has no more room for what is to be written back. If what waits has become
// more, the least in the window's second half against that in its first, it has to find room until the jump's end. (A jump leaves
// it as it is, so those before count as well.)
bool Extrapolator::writes_have_room(size_t first, Cycle skipped) const {
  const auto half = static_cast<std::ptrdiff_t>((samples_.size() - first) / 2);
  const auto least = [](auto from, auto to) { return std::ranges::min_element(from, to, {}, &Sample::dirty_share)->dirty_share; };
  const auto from = samples_.begin() + static_cast<std::ptrdiff_t>(first);
  const double before = least(from, from + half);
  const double since = least(from + half, samples_.end());
  const auto cycles = static_cast<double>(samples_.back().state.at - samples_[first].state.at) / 2;
  return since - before < kFilling && since + (since - before) * static_cast<double>(skipped_ + skipped) / cycles <= 1;
}

// A launch's cycles when `skipped` more have passed.
double Extrapolator::cycles_after(Cycle skipped, size_t launch) const {
  const Cycle now = samples_.back().state.at;
  return static_cast<double>(now - std::min(now, sm_->launch_start(static_cast<int>(launch))) + skipped);
}

// What the rates leave open may come to half of the error, over all jumps of a launch together; the rest is for what a
// jump cannot take in whole pieces: a trip of a warp. A jump leaves a fifth of it to those that its launch may need later.
double Extrapolator::budget(Cycle skipped, size_t launch) const {
  return error_ / 2 * cycles_after(skipped, launch) - spent_[launch];
}

// What can be said before it is known what a jump takes.
bool Extrapolator::rates_agree(size_t first, Cycle skipped) const {
  if (!steady(first) || !writes_have_room(first, skipped)) return false;
  for (size_t l = 0; l < coupled_.size(); ++l) {
    if (!gets_on(first, l)) continue;
    const auto cycles = static_cast<double>(skipped);
    const std::vector<Batch> measured = batches(first, static_cast<int>(l));
    if (relative_uncertainty(measured) * cycles > budget(skipped, l) * 4 / 5) return false;
    if (relative_drift(measured) * cycles > budget(skipped, l)) return false;
    if (!occupancy_settled(first, static_cast<int>(l), cycles / cycles_after(skipped, l))) return false;
  }
  return true;
}

bool Extrapolator::agree(size_t first, const Jump& jump) const {
  const Cycle skipped = jump.skip.cycles;
  double worth = 0;
  for (size_t l = 0; l < coupled_.size(); ++l) {
    if (!gets_on(first, l)) continue;
    worth = std::max(worth, static_cast<double>(skipped) / cycles_after(skipped, l));
    if (static_cast<double>(jump.coarsest[l]) > error_ / 4 * cycles_after(skipped, l)) return false;
    if (left_open(first, static_cast<int>(l), jump) > budget(skipped, l) * 4 / 5) return false;
  }
  return worth <= kNegligibleShare || worth >= kWorthwhileShare;
}

}  // namespace warpfold::sim
