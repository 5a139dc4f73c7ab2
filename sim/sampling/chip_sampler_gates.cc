// When the sampler believes what it has measured: the gates of docs/sampling.md, in the order in which they are asked.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "sim/memo/recurrence.h"
#include "sim/sampling/chip_sampler.h"

namespace warpfold::sim {
namespace {

constexpr double kGenerations = 2;  // assumed: how often CTAs are to have come and gone until how far apart they are averages out
constexpr double kFilling = 0.01;   // assumed: share of L2's room that half a window's bursts may take
constexpr double kNegligibleShare = 0.002;  // of a launch's cycles: what saves so little, or
constexpr double kWorthwhileShare = 0.1;    // so much, may change the order of what is left

}  // namespace

std::string_view gate_name(SamplingGate gate) {
  static constexpr std::array<std::string_view, kSamplingGates> kNames = {
      "open",         "few_batches",     "nothing_left_to_take", "launch_stalled",
      "launch_waits", "writes_fill_l2",  "rates_uncertain",      "rates_drift",
      "other_work",   "few_generations", "pieces_too_coarse",    "not_worthwhile"};
  return kNames[static_cast<size_t>(gate)];
}

// A launch's cycles when `skipped` more have passed.
double ChipSampler::cycles_after(Cycle skipped, size_t launch) const {
  Cycle start = samples_.back().at;
  for (const Member& member : members_) {
    const LaunchProgress& progress = member.sm->state().progress[launch];
    if (progress.placed > 0) start = std::min(start, progress.start);
  }
  return static_cast<double>(samples_.back().at - start + skipped);
}

// The launch's uncertain rates may cost half of the error, over all its skips together. Whole pieces may cost the other half.
double ChipSampler::budget(Cycle skipped, size_t launch) const {
  return error_ / 2 * cycles_after(skipped, launch) - spent_[launch];
}

// Warps wait for something that a skip would put off.
bool ChipSampler::stalled(size_t first) const {
  for (size_t m = 0; m < members_.size(); ++m) {
    for (size_t l = 0; l < launches(); ++l) {
      if (members_[m].sm->state().progress[l].running > 0 && issued(first, m, l) == 0) return true;
    }
  }
  return false;
}

// A launch waits for room. When warps leave that room depends on how far they have come in their CTAs, and where CTAs are taken
// warps stay where they are. Warps of a CTA that wait for each other leave together: where as many of their CTAs have come as have
// gone, the next ones go on like that.
bool ChipSampler::launch_waits(const Skip& skip, uint64_t periods) const {
  for (size_t m = 0; m < members_.size(); ++m) {
    const SmState& state = members_[m].sm->state();
    const SmSample& from = samples_[skip.first].of_member[m];
    const SmSample& to = samples_.back().of_member[m];
    bool waits = false;
    bool room_is_kept = true;
    for (size_t l = 0; l < launches(); ++l) {
      const LaunchProgress& progress = state.progress[l];
      if (progress.ready == kNever || !sampled_[m].has_ctas_left(l)) continue;
      const uint64_t came = to.state.placed[l] - from.state.placed[l];
      const uint64_t gone = to.ctas_done[l] - from.ctas_done[l];
      if (progress.running == 0) {
        waits = true;
      } else if (by_ctas(skip, m, l, periods)) {
        room_is_kept &= state.coupled(static_cast<int>(l)) && came >= progress.running && came + 1 >= gone;
      }
    }
    if (waits && !room_is_kept) return true;
  }
  return false;
}

// Stores wait for DRAM from the cycle on in which L2 has no more room for dirty lines, and reads evict none from the cycle on in
// which it has none. If they have become more or fewer, the least in the window's second half against that in its first, neither
// may come before the skip's end. A skip leaves them as they are, so those before count as well.
bool ChipSampler::l2_fills_or_empties(size_t first, Cycle skipped) const {
  const auto half = static_cast<std::ptrdiff_t>((samples_.size() - first) / 2);
  const auto least = [](auto from, auto to) { return std::ranges::min_element(from, to, {}, &Sample::dirty_share)->dirty_share; };
  const auto from = samples_.begin() + static_cast<std::ptrdiff_t>(first);
  const double before = least(from, from + half);
  const double since = least(from + half, samples_.end());
  const auto cycles = static_cast<double>(samples_.back().at - samples_[first].at) / 2;
  const double change = since - before;
  const double at_end = since + change * static_cast<double>(skipped_ + skipped) / cycles;
  return std::abs(change) >= kFilling || at_end > 1 || (since > 0 && at_end < 0);
}

// CTAs begin together, and drift apart as they come and go.
bool ChipSampler::few_generations(const Skip& skip, size_t launch, uint64_t periods) const {
  double gone = 0;
  double running = 0;
  for (size_t m = 0; m < members_.size(); ++m) {
    if (!by_ctas(skip, m, launch, periods)) continue;
    const auto sms = static_cast<double>(members_[m].sms);
    gone += sms * static_cast<double>(samples_.back().of_member[m].ctas_done[launch] -
                                      samples_[skip.first].of_member[m].ctas_done[launch]);
    running += sms * static_cast<double>(members_[m].sm->state().progress[launch].running);
  }
  const Cycle skipped = periods * skip.window;
  return gone < kGenerations * running * static_cast<double>(skipped) / cycles_after(skipped, launch);
}

// Of trips per cycle, of residents from a sample to the next.
double ChipSampler::uncertainty_of_residents(const Skip& skip, size_t launch, const std::vector<Place>& places) const {
  std::vector<Batch> measured;
  for (size_t i = skip.first; i + 1 < samples_.size(); ++i) {
    Batch sum;
    for (const auto& [group, resident] : places) {
      const Batch batch = trips(*group, i, i + 1, launch, resident);
      sum.done += batch.done;
      sum.cycles += batch.cycles;
    }
    if (sum.cycles > 0) measured.push_back(sum);
  }
  return measured.size() < kLeastBatches ? 1 : relative_uncertainty(measured);
}

// Of done per cycle. Where CTAs end and others take their place, a launch ends when all of its work is done. Else it ends with its
// residents: those that wait for each other get on alike, and of warps that do not, the slowest is the last.
double ChipSampler::uncertainty(const Skip& skip, size_t launch, uint64_t periods) const {
  double most = 0;
  const auto takes_ctas = [&](size_t m) { return by_ctas(skip, m, launch, periods); };
  for (const Group& group : skip.alike) {
    if (std::ranges::any_of(group, takes_ctas)) most = std::max(most, relative_uncertainty(batches(skip.first, group, launch)));
  }
  std::vector<Place> together;
  for (const Group& group : skip.alike_by_residents) {
    if (std::ranges::all_of(group, takes_ctas)) continue;
    for (size_t r = 0; r < skip.wanted[group.front()][launch].of_residents.size(); ++r) {
      if (std::ranges::all_of(group, [&](size_t m) { return does_nothing(skip.first, m, launch, r); })) continue;
      if (members_[group.front()].sm->state().coupled(static_cast<int>(launch))) {
        together.emplace_back(&group, r);
      } else {
        most = std::max(most, uncertainty_of_residents(skip, launch, {{&group, r}}));
      }
    }
  }
  if (!together.empty()) most = std::max(most, uncertainty_of_residents(skip, launch, together));
  return most;
}

// The relative difference in bytes an instruction, between the CTAs to be taken and those placed in the window. If bytes bind, the
// time of the former is off by as much; if instructions do, by nothing.
double ChipSampler::otherness(const Skip& skip, size_t launch, uint64_t periods) {
  Work done;
  Work left;
  for (size_t m = 0; m < members_.size(); ++m) {
    if (!by_ctas(skip, m, launch, periods)) continue;
    uint64_t ctas = 0;
    done = done + sampled_[m].placed_last(launch, placed(skip.first, m, launch)) * members_[m].sms;
    left = left + sampled_[m].next_ctas(launch, periods * skip.wanted[m][launch].instructions, ctas) * members_[m].sms;
  }
  if (left.bytes == 0 && done.bytes == 0) return 0;
  if (done.bytes == 0 || left.instructions == 0) return 1;
  const auto intensity = [](const Work& work) { return static_cast<double>(work.bytes) / static_cast<double>(work.instructions); };
  return std::abs(intensity(left) / intensity(done) - 1);
}

SamplingGate ChipSampler::gate_of_rates(const Skip& skip, uint64_t periods) {
  const Cycle skipped = periods * skip.window;
  if (stalled(skip.first)) return SamplingGate::kLaunchStalled;
  if (launch_waits(skip, periods)) return SamplingGate::kLaunchWaits;
  if (l2_fills_or_empties(skip.first, skipped)) return SamplingGate::kWritesFillL2;
  Group all(members_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  for (size_t l = 0; l < launches(); ++l) {
    if (!progresses(skip.first, l)) continue;
    const std::vector<Batch> measured = batches(skip.first, all, l);
    const auto time = static_cast<double>(skipped);
    // A fifth of the budget is left to skips that the launch may need later.
    if (uncertainty(skip, l, periods) * time > budget(skipped, l) * 4 / 5) return SamplingGate::kRatesUncertain;
    // A trend is not noise: a confidence interval does not see it.
    if (relative_drift(measured) * time > budget(skipped, l)) return SamplingGate::kRatesDrift;
    if (otherness(skip, l, periods) * time > budget(skipped, l)) return SamplingGate::kOtherWork;
    if (few_generations(skip, l, periods)) return SamplingGate::kFewGenerations;
  }
  return SamplingGate::kOpen;
}

// A small skip saves little and still changes the order of what is left.
bool ChipSampler::worthwhile(size_t first, Cycle skipped) const {
  double worth = 0;
  for (size_t l = 0; l < launches(); ++l) {
    if (progresses(first, l)) worth = std::max(worth, static_cast<double>(skipped) / cycles_after(skipped, l));
  }
  return worth <= kNegligibleShare || worth >= kWorthwhileShare;
}

// Cycles that the launch is off, at most, because it gives whole pieces only.
double ChipSampler::off(const Skip& skip, size_t launch) {
  double most = 0;
  for (size_t m = 0; m < members_.size(); ++m) {
    const SampledSm::Wanted& wanted = skip.wanted[m][launch];
    if (wanted.instructions == 0) continue;
    const double windows = by_ctas(skip, m, launch, skip.periods)
                               ? sampled_[m].most_off_of_ctas(launch, wanted, skip.periods, owed_[members_[m].index])
                               : sampled_[m].most_off(launch, wanted, skip.periods);
    most = std::max(most, windows * static_cast<double>(skip.window));
  }
  return most;
}

// The other half of the error.
SamplingGate ChipSampler::gate_of_pieces(const Skip& skip) {
  for (size_t l = 0; l < launches(); ++l) {
    if (spent_on_pieces_[l] + off(skip, l) > error_ / 2 * cycles_after(skip.cycles(), l)) return SamplingGate::kPiecesTooCoarse;
  }
  return worthwhile(skip.first, skip.cycles()) ? SamplingGate::kOpen : SamplingGate::kNotWorthwhile;
}

}  // namespace warpfold::sim
