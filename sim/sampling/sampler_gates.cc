// When work may be taken away: each gate is a question about the window that begins at the sample `first`.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "sim/sampling/generations.h"
#include "sim/sampling/sampler.h"

namespace warpfold::sim {
namespace {

// Relative, of resident warp-cycles; where the error is larger, that. fitted: to the random mixes of tests/bounded.
constexpr double kOccupancyError = 0.003;
constexpr double kOccupancyErrorAtLast = 0.02;  // the same when so many instructions have been measured:
constexpr uint64_t kMeasuredLong = 2'000'000;
// Shares of a launch's cycles between which work taken away saves too little for what it may do to the order of what is left.
constexpr double kNegligibleShare = 0.002;
constexpr double kWorthwhileShare = 0.1;
// Share of L2's room for what waits to be written back that half a window may take: assumed, little against what a window's bursts
// move.
constexpr double kFilling = 0.01;

}  // namespace

std::string_view gate_name(SamplingGate gate) {
  static constexpr std::array<std::string_view, kSamplingGates> kNames = {"open",
                                                                          "few_batches",
                                                                          "nothing_left_to_take",
                                                                          "coupled_launch_stalled",
                                                                          "launch_about_to_start",
                                                                          "launch_waits_for_room",
                                                                          "writes_fill_l2",
                                                                          "rates_uncertain",
                                                                          "rates_drift",
                                                                          "occupancy_unsettled",
                                                                          "trips_too_coarse",
                                                                          "pieces_exceed_budget",
                                                                          "not_worthwhile"};
  return kNames[static_cast<size_t>(gate)];
}

// A launch's cycles when `skipped` more have passed.
double Sampler::cycles_after(Cycle skipped, size_t launch) const {
  const Cycle now = samples_.back().state.at;
  return static_cast<double>(now - std::min(now, sm_->state().progress[launch].start) + skipped);
}

// What the rates leave open may come to half of the error, over all extrapolations of a launch together. The rest is for what
// cannot be taken in whole pieces: a trip of a warp.
double Sampler::budget(Cycle skipped, size_t launch) const { return error_ / 2 * cycles_after(skipped, launch) - spent_[launch]; }

// A fifth of the budget is left to extrapolations that the launch may need later.
double Sampler::usable_budget(Cycle skipped, size_t launch) const { return budget(skipped, launch) * 4 / 5; }

// Cycles that the rate leaves open; and of the pacer's launch, of which whole rounds are taken, what those are off what was
// measured.
double Sampler::left_open(size_t first, int launch, const Extrapolation& extrapolation) const {
  const double open = relative_uncertainty(batches(first, launch)) * static_cast<double>(extrapolation.by.cycles);
  if (!pacer_ || pacer_->launch != launch) return open;
  const auto measured =
      static_cast<double>(samples_.back().launches[launch].instructions - samples_[first].launches[launch].instructions);
  const auto off = static_cast<double>(std::abs(static_cast<int64_t>(extrapolation.corrections[launch].instructions)));
  return open + off / measured * static_cast<double>(extrapolation.period);
}

bool Sampler::progresses(size_t first, size_t launch) const {
  return samples_.back().launches[launch].instructions != samples_[first].launches[launch].instructions;
}

// ---- what is there goes on as it does

// Coupled warps wait for something that an extrapolation would put off.
bool Sampler::coupled_launch_stalled(size_t first) const {
  for (size_t l = 0; l < coupled_.size(); ++l) {
    if (sm_->state().progress[l].running > 0 && coupled_[l] && !progresses(first, l)) return true;
  }
  return false;
}

// In a known cycle other warps come, and rates change.
bool Sampler::launch_about_to_start() const {
  for (size_t l = 0; l < coupled_.size(); ++l) {
    const auto launch = static_cast<int>(l);
    const Cycle ready = sm_->state().progress[launch].ready;
    if (ready != kNever && sm_->state().ctas_left(launch) && ready >= samples_.back().state.at) return true;
  }
  return false;
}

// A launch waits for room other than that of coupled CTAs, of which as many have come as have gone. When the last uncoupled CTAs
// leave their room depends on how far apart they are, and what comes then may hold the last of them up for as long as it runs: an
// extrapolation keeps no bound on either. measured: of two kernels of random numbers on four SMs one was 17 % off.
bool Sampler::launch_waits_for_room(size_t first) const {
  const Sample& from = samples_[first];
  const Sample& to = samples_.back();
  bool waits_for_room = false;
  bool keeps_its_room = true;
  for (size_t l = 0; l < coupled_.size(); ++l) {
    const auto launch = static_cast<int>(l);
    if (sm_->state().progress[launch].ready == kNever || !sm_->state().ctas_left(launch)) continue;
    const uint64_t placed = to.state.placed[l] - from.state.placed[l];
    const uint64_t gone = to.ctas_done[l] - from.ctas_done[l];
    if (placed == 0 && gone == 0) {
      waits_for_room = true;
    } else {
      keeps_its_room = keeps_its_room && coupled_[l] && placed >= sm_->state().progress[launch].running && placed + 1 >= gone;
    }
  }
  return waits_for_room && !keeps_its_room;
}

// Stores wait for DRAM from the cycle on in which L2 has no more room for what is to be written back. If what waits has become
// more, the least in the window's second half against that in its first, it has to find room until the extrapolation's end. (An
// extrapolation leaves it as it is, so those before count as well.) measured: 80 tiles of a GEMM beside a slow DRAM came out 7 %
// too fast without this.
bool Sampler::writes_fill_l2(size_t first, Cycle skipped) const {
  const auto half = static_cast<std::ptrdiff_t>((samples_.size() - first) / 2);
  const auto least = [](auto from, auto to) { return std::ranges::min_element(from, to, {}, &Sample::dirty_share)->dirty_share; };
  const auto from = samples_.begin() + static_cast<std::ptrdiff_t>(first);
  const double before = least(from, from + half);
  const double since = least(from + half, samples_.end());
  const auto cycles = static_cast<double>(samples_.back().state.at - samples_[first].state.at) / 2;
  const bool room = since - before < kFilling && since + (since - before) * static_cast<double>(skipped_ + skipped) / cycles <= 1;
  return !room;
}

// ---- rates agree

bool Sampler::rate_uncertain(const std::vector<Batch>& measured, size_t launch, Cycle skipped) const {
  return relative_uncertainty(measured) * static_cast<double>(skipped) > usable_budget(skipped, launch);
}

// A trend is not noise: a confidence interval does not see it.
bool Sampler::rate_drifts(const std::vector<Batch>& measured, size_t launch, Cycle skipped) const {
  return relative_drift(measured) * static_cast<double>(skipped) > budget(skipped, launch);
}

// A CTA keeps its place until the last of its warps has ended; how many warps are there on average shows when as many CTAs as fit
// have come and gone kGenerations times. Then resident warp-cycles, of which the waits are made, may leave open kOccupancyError;
// they come and go in long waves, for which a long run does not wait.
bool Sampler::occupancy_unsettled(size_t first, size_t l, Cycle skipped) const {
  const auto launch = static_cast<int>(l);
  const double share = static_cast<double>(skipped) / cycles_after(skipped, l);
  if (coupled_[l] || !sm_->state().ctas_left(launch)) return false;
  const uint64_t gone = samples_.back().ctas_done[l] - samples_[first].ctas_done[l];
  if (gone == 0 && !progresses(first, l)) return false;
  if (static_cast<double>(gone) < share * static_cast<double>(kGenerations * sm_->state().progress[launch].running)) return true;
  std::vector<Batch> measured;
  for (size_t i = first; i + 1 < samples_.size(); ++i) {
    const auto resident = [&](const Sample& sample) { return sample.states[l] + sum_of(sample.waiting[l]); };
    measured.push_back({static_cast<double>(resident(samples_[i + 1]) - resident(samples_[i])),
                        static_cast<double>(samples_[i + 1].state.at - samples_[i].state.at)});
  }
  const uint64_t instructions = samples_.back().launches[l].instructions - samples_[first].launches[l].instructions;
  const double early = std::max(kOccupancyError, error_);
  const double most = instructions < kMeasuredLong ? early : std::max(kOccupancyErrorAtLast, early);
  return !(share * relative_uncertainty(measured) <= most && share * relative_drift(measured) <= most);
}

// What can be asked before it is known what an extrapolation takes.
SamplingGate Sampler::gate_of_rates(size_t first, Cycle skipped) const {
  if (coupled_launch_stalled(first)) return SamplingGate::kCoupledLaunchStalled;
  if (launch_about_to_start()) return SamplingGate::kLaunchAboutToStart;
  if (launch_waits_for_room(first)) return SamplingGate::kLaunchWaitsForRoom;
  if (writes_fill_l2(first, skipped)) return SamplingGate::kWritesFillL2;
  for (size_t l = 0; l < coupled_.size(); ++l) {
    if (!progresses(first, l)) continue;
    const std::vector<Batch> measured = batches(first, static_cast<int>(l));
    if (rate_uncertain(measured, l, skipped)) return SamplingGate::kRatesUncertain;
    if (rate_drifts(measured, l, skipped)) return SamplingGate::kRatesDrift;
    if (occupancy_unsettled(first, l, skipped)) return SamplingGate::kOccupancyUnsettled;
  }
  return SamplingGate::kOpen;
}

// ---- what would be taken fits

// Work is taken in whole trips, of which the longest may be a quarter of the error.
bool Sampler::trips_too_coarse(const Extrapolation& extrapolation, size_t launch) const {
  const double cycles = cycles_after(extrapolation.by.cycles, launch);
  return static_cast<double>(extrapolation.coarsest[launch]) > error_ / 4 * cycles;
}

bool Sampler::pieces_exceed_budget(size_t first, const Extrapolation& extrapolation, size_t launch) const {
  return left_open(first, static_cast<int>(launch), extrapolation) > usable_budget(extrapolation.by.cycles, launch);
}

// A small extrapolation saves little and still changes the order of what is left.
bool Sampler::worthwhile(size_t first, Cycle skipped) const {
  double worth = 0;
  for (size_t l = 0; l < coupled_.size(); ++l) {
    if (progresses(first, l)) worth = std::max(worth, static_cast<double>(skipped) / cycles_after(skipped, l));
  }
  return worth <= kNegligibleShare || worth >= kWorthwhileShare;
}

SamplingGate Sampler::gate_of_work(size_t first, const Extrapolation& extrapolation) const {
  for (size_t l = 0; l < coupled_.size(); ++l) {
    if (!progresses(first, l)) continue;
    if (trips_too_coarse(extrapolation, l)) return SamplingGate::kTripsTooCoarse;
    if (pieces_exceed_budget(first, extrapolation, l)) return SamplingGate::kPiecesExceedBudget;
  }
  return worthwhile(first, extrapolation.by.cycles) ? SamplingGate::kOpen : SamplingGate::kNotWorthwhile;
}

}  // namespace warpfold::sim
