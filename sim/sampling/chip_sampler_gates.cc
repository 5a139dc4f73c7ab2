// Conditions for an extrapolation: the gates of docs/sampling.md, in the order in which the sampler asks them.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "sim/memo/recurrence.h"
#include "sim/sampling/chip_sampler.h"

namespace warpfold::sim {
namespace {

constexpr double kGenerations = 2;  // assumed: generations until the distances between CTAs average out
constexpr double kFilling = 0.01;   // assumed: share of L2's room for dirty bytes that bursts change in half a window
// A skip changes the order of the work left. It may, if it is at most the first or at least the second of these shares
// of a launch's cycles: it then changes little, or saves much.
constexpr double kNegligibleShare = 0.002;
constexpr double kWorthwhileShare = 0.1;

}  // namespace

std::string_view gate_name(SamplingGate gate) {
  static constexpr std::array<std::string_view, kSamplingGates> kNames = {
      "open",         "few_batches",     "nothing_left_to_take", "launch_stalled",
      "launch_waits", "writes_fill_l2",  "rates_uncertain",      "rates_drift",
      "other_work",   "few_generations", "pieces_too_coarse",    "not_worthwhile"};
  return kNames[static_cast<size_t>(gate)];
}

// Returns the launch's cycles so far plus `skipped`.
double ChipSampler::cycles_after(Cycle skipped, size_t launch) const {
  Cycle start = samples_.back().at;
  for (const Member& member : members_) {
    const LaunchProgress& progress = member.sm->state().progress[launch];
    if (progress.placed > 0) start = std::min(start, progress.start);
  }
  return static_cast<double>(samples_.back().at - start + skipped);
}

// Returns the cycles by which the launch's uncertain rates may still be off: half of the allowed error, over all its
// skips together. Whole pieces have the other half (gate_of_pieces).
double ChipSampler::budget(Cycle skipped, size_t launch) const {
  return error_ / 2 * cycles_after(skipped, launch) - spent_[launch];
}

// True if a launch with CTAs on an SM has issued nothing there since sample `first`: a skip would postpone the event
// for which its warps wait.
bool ChipSampler::stalled(size_t first) const {
  for (size_t m = 0; m < members_.size(); ++m) {
    for (size_t l = 0; l < launches(); ++l) {
      if (members_[m].sm->state().progress[l].running > 0 && issued(first, m, l) == 0) return true;
    }
  }
  return false;
}

// True if a launch waits for room and a skip would postpone the end of CTAs that hold it. If CTAs are taken, resident
// warps keep their places in their CTAs, so the skip does not bring their exits nearer. Only CTAs whose warps wait for
// each other are no obstacle: their warps exit together. If as many such CTAs have been placed as have ended, the
// following ones go on in the same way.
bool ChipSampler::launch_waits(const Skip& skip, uint64_t windows) const {
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
      } else if (takes_ctas(skip, m, l, windows)) {
        room_is_kept &= state.coupled(static_cast<int>(l)) && came >= progress.running && came + 1 >= gone;
      }
    }
    if (waits && !room_is_kept) return true;
  }
  return false;
}

// True if L2's dirty lines grow or shrink, or would fill their room or run out before the skip's end. Once the room is
// full, stores wait for DRAM; once no line is dirty, reads evict none. The trend is the least share of the window's
// second half against that of the first. A skip leaves dirty lines as they are, so the trend is extended over earlier
// skips too.
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

// True if too few CTAs have come and gone for the length of the skip: CTAs begin together and drift apart over
// generations.
bool ChipSampler::few_generations(const Skip& skip, size_t launch, uint64_t windows) const {
  double gone = 0;
  double running = 0;
  for (size_t m = 0; m < members_.size(); ++m) {
    if (!takes_ctas(skip, m, launch, windows)) continue;
    const auto sms = static_cast<double>(members_[m].sms);
    gone += sms * static_cast<double>(samples_.back().of_member[m].ctas_done[launch] -
                                      samples_[skip.first].of_member[m].ctas_done[launch]);
    running += sms * static_cast<double>(members_[m].sm->state().progress[launch].running);
  }
  const Cycle skipped = windows * skip.window;
  return gone < kGenerations * running * static_cast<double>(skipped) / cycles_after(skipped, launch);
}

// Returns the relative uncertainty of trips per cycle, over the batches of the window, for the residents at `places`
// together.
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

// Returns the relative uncertainty of the launch's rate. If CTAs are taken, the launch ends when all of its work is
// done: the most uncertain group counts. Otherwise it ends with its residents. If warps of its CTAs wait for each
// other, all residents have the same rate and are measured together. If not, the slowest warp ends the launch: the most
// uncertain one counts.
double ChipSampler::uncertainty(const Skip& skip, size_t launch, uint64_t windows) const {
  double most = 0;
  const auto in_ctas = [&](size_t m) { return takes_ctas(skip, m, launch, windows); };
  for (const Group& group : skip.alike) {
    if (std::ranges::any_of(group, in_ctas)) most = std::max(most, relative_uncertainty(batches(skip.first, group, launch)));
  }
  std::vector<Place> together;
  for (const Group& group : skip.alike_by_residents) {
    if (std::ranges::all_of(group, in_ctas)) continue;
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

// Returns the relative difference in bytes per instruction between the CTAs to be taken and those placed in the window.
// If bytes limit the launch, the time of the CTAs to be taken is off by that much; if instructions do, by nothing.
double ChipSampler::intensity_difference(const Skip& skip, size_t launch, uint64_t windows) {
  Work done;
  Work left;
  for (size_t m = 0; m < members_.size(); ++m) {
    if (!takes_ctas(skip, m, launch, windows)) continue;
    uint64_t ctas = 0;
    done = done + sampled_[m].placed_last(launch, placed(skip.first, m, launch)) * members_[m].sms;
    left = left + sampled_[m].next_ctas(launch, windows * skip.wanted[m][launch].instructions, ctas) * members_[m].sms;
  }
  if (left.bytes == 0 && done.bytes == 0) return 0;
  if (done.bytes == 0 || left.instructions == 0) return 1;
  const auto intensity = [](const Work& work) { return static_cast<double>(work.bytes) / static_cast<double>(work.instructions); };
  return std::abs(intensity(left) / intensity(done) - 1);
}

SamplingGate ChipSampler::gate_of_rates(const Skip& skip, uint64_t windows) {
  const Cycle skipped = windows * skip.window;
  if (stalled(skip.first)) return SamplingGate::kLaunchStalled;
  if (launch_waits(skip, windows)) return SamplingGate::kLaunchWaits;
  if (l2_fills_or_empties(skip.first, skipped)) return SamplingGate::kWritesFillL2;
  Group all(members_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  for (size_t l = 0; l < launches(); ++l) {
    if (!progresses(skip.first, l)) continue;
    const std::vector<Batch> measured = batches(skip.first, all, l);
    const auto time = static_cast<double>(skipped);
    // Keep a fifth of the budget for later skips of the launch.
    if (uncertainty(skip, l, windows) * time > budget(skipped, l) * 4 / 5) return SamplingGate::kRatesUncertain;
    // A confidence interval covers noise, but not a trend.
    if (relative_drift(measured) * time > budget(skipped, l)) return SamplingGate::kRatesDrift;
    if (intensity_difference(skip, l, windows) * time > budget(skipped, l)) return SamplingGate::kOtherWork;
    if (few_generations(skip, l, windows)) return SamplingGate::kFewGenerations;
  }
  return SamplingGate::kOpen;
}

// False for a skip that saves little and yet changes the order of the work left.
bool ChipSampler::worthwhile(size_t first, Cycle skipped) const {
  double worth = 0;
  for (size_t l = 0; l < launches(); ++l) {
    if (progresses(first, l)) worth = std::max(worth, static_cast<double>(skipped) / cycles_after(skipped, l));
  }
  return worth <= kNegligibleShare || worth >= kWorthwhileShare;
}

// Returns the most cycles by which the launch may be off because only whole trips and CTAs are taken.
double ChipSampler::rounding_error(const Skip& skip, size_t launch) {
  double most = 0;
  for (size_t m = 0; m < members_.size(); ++m) {
    const SampledSm::Wanted& wanted = skip.wanted[m][launch];
    if (wanted.instructions == 0) continue;
    const double off = takes_ctas(skip, m, launch, skip.windows)
                           ? sampled_[m].cta_rounding_error(launch, wanted, skip.windows, owed_[members_[m].index])
                           : sampled_[m].trip_rounding_error(launch, wanted, skip.windows);
    most = std::max(most, off * static_cast<double>(skip.window));
  }
  return most;
}

// Asks the gates of pieces, which have half of the allowed error (see budget()), and of the skip's length.
SamplingGate ChipSampler::gate_of_pieces(const Skip& skip) {
  for (size_t l = 0; l < launches(); ++l) {
    if (spent_on_pieces_[l] + rounding_error(skip, l) > error_ / 2 * cycles_after(skip.cycles(), l))
      return SamplingGate::kPiecesTooCoarse;
  }
  return worthwhile(skip.first, skip.cycles()) ? SamplingGate::kOpen : SamplingGate::kNotWorthwhile;
}

}  // namespace warpfold::sim
