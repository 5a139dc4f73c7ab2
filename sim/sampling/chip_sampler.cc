#include "sim/sampling/chip_sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "sim/memo/recurrence.h"

namespace warpfold::sim {
namespace {

constexpr size_t kMostSamples = 32;     // then every second one goes: batches of twice the length
constexpr Cycle kShortestBatch = 1024;  // cycles
constexpr double kGenerations = 2;  // assumed: how often CTAs are to have come and gone until how far apart they are averages out
constexpr double kFilling = 0.01;   // assumed: share of L2's room that half a window's bursts may take
constexpr double kNegligibleShare = 0.002;  // of a launch's cycles: what saves so little, or
constexpr double kWorthwhileShare = 0.1;    // so much, may change the order of what is left

__extension__ using Wide = unsigned __int128;

}  // namespace

std::string_view gate_name(SamplingGate gate) {
  static constexpr std::array<std::string_view, kSamplingGates> kNames = {
      "open",         "few_batches",     "nothing_left_to_take", "launch_stalled",
      "launch_waits", "writes_fill_l2",  "rates_uncertain",      "rates_drift",
      "other_work",   "few_generations", "pieces_too_coarse",    "not_worthwhile"};
  return kNames[static_cast<size_t>(gate)];
}

// ---- measuring

// What an SM counts is large: every second sample keeps it, also where every second one of all goes.
bool ChipSampler::may_begin_window(size_t sample) { return sample % 2 == 1; }

void ChipSampler::forget_counts(Sample& sample) {
  for (SmSample& of_member : sample.of_member) {
    std::vector<uint64_t>().swap(of_member.state.counts);
    std::vector<uint64_t>().swap(of_member.state.charges);
  }
}

// Takes what is owed, where residents have come that have it. Whether any was taken: what has been measured is of another work
// then.
bool ChipSampler::settle() {
  bool any = false;
  for (size_t m = 0; m < members_.size(); ++m) {
    std::vector<uint64_t>& owed = owed_[members_[m].index];
    if (std::ranges::all_of(owed, [](uint64_t each) { return each == 0; })) continue;
    const std::vector<uint64_t> taken = sampled_[m].take_owed(owed);
    for (size_t l = 0; l < taken.size(); ++l) {
      owed[l] -= taken[l];
      besides_[members_[m].index] += taken[l];
      any |= taken[l] > 0;
    }
  }
  return any;
}

// Whether there is more to plan with than before.
bool ChipSampler::observe(Cycle now, const std::vector<Member>& members, double dirty_share) {
  const auto same = [](const Member& one, const Member& other) {
    return one.index == other.index && one.sm == other.sm && one.sms == other.sms;
  };
  const bool others = !std::ranges::equal(members, members_, same);
  if (!others && !samples_.empty() && now < samples_.back().at + batch_) {
    for (SampledSm& each : sampled_) each.watch(now);
    return false;
  }
  if (others) {
    samples_.clear();
    members_ = members;
    sampled_.clear();
    for (const Member& member : members) sampled_.emplace_back(*member.sm);
  }
  if (settle()) samples_.clear();
  Sample sample{now, dirty_share, {}};
  std::vector<std::vector<uint64_t>> phase;
  for (SampledSm& each : sampled_) {
    sample.of_member.push_back(each.sample(now));
    phase.push_back(each.phase());
  }
  if (phase != phase_) samples_.clear();
  phase_ = std::move(phase);
  if (samples_.empty()) batch_ = kShortestBatch;
  if (samples_.size() == kMostSamples) {
    for (size_t i = 0; i < kMostSamples / 2; ++i) samples_[i] = std::move(samples_[2 * i + 1]);
    samples_.resize(kMostSamples / 2);
    batch_ *= 2;
  }
  samples_.push_back(std::move(sample));
  for (size_t i = 0; i + 1 < samples_.size(); ++i) {
    if (!may_begin_window(i)) forget_counts(samples_[i]);
  }
  spent_.resize(launches());
  spent_on_pieces_.resize(launches());
  return true;
}

// Instructions.
std::vector<Batch> ChipSampler::batches(size_t first, const Group& group, size_t launch) const {
  std::vector<Batch> result;
  for (size_t i = first; i + 1 < samples_.size(); ++i) {
    Batch batch{0, static_cast<double>(samples_[i + 1].at - samples_[i].at)};
    for (const size_t m : group) {
      const uint64_t issued = samples_[i + 1].of_member[m].issued(launch) - samples_[i].of_member[m].issued(launch);
      batch.done += static_cast<double>(members_[m].sms * issued);
    }
    result.push_back(batch);
  }
  return result;
}

uint64_t ChipSampler::issued(size_t first, size_t member, size_t launch) const {
  return samples_.back().of_member[member].issued(launch) - samples_[first].of_member[member].issued(launch);
}

bool ChipSampler::progresses(size_t first, size_t launch) const {
  for (size_t m = 0; m < members_.size(); ++m) {
    if (issued(first, m, launch) > 0) return true;
  }
  return false;
}

void ChipSampler::part(size_t member, const Member& copy) {
  members_[member].sms -= copy.sms;
  members_.push_back(copy);
  sampled_.push_back(sampled_[member].of(*copy.sm));
  phase_.push_back(phase_[member]);
  owed_[copy.index] = owed_[members_[member].index];
  for (Sample& sample : samples_) sample.of_member.push_back(sample.of_member[member]);
}

void ChipSampler::restart() {
  samples_.clear();
  for (SampledSm& each : sampled_) each.forget();
}

uint64_t ChipSampler::measured() const {
  if (samples_.empty()) return 0;
  uint64_t issued_before = 0;
  for (const LaunchAccount& launch : samples_.front().of_member.front().launches) issued_before += launch.instructions;
  return members_.front().sm->instructions() - issued_before;
}

// ---- planning

// Later samples leave less for the end of the phase; the first quarter may still belong to what was before.
std::optional<ChipSampler::Skip> ChipSampler::look(Cycle now, Cycle limit, const std::vector<Member>& members, double dirty_share) {
  return observe(now, members, dirty_share) ? longest(limit) : std::nullopt;
}

std::optional<ChipSampler::Skip> ChipSampler::longest(Cycle limit) {
  const Cycle now = samples_.back().at;
  find_same_residents();
  std::optional<Skip> best;
  blocking_gate_ = SamplingGate::kFewBatches;
  for (size_t first = samples_.size() / 4; first + kLeastBatches < samples_.size(); ++first) {
    if (!may_begin_window(first)) continue;
    Skip skip{.first = first, .window = now - samples_[first].at};
    const SamplingGate gate = plan(first, limit, skip);
    blocking_gate_ = std::max(blocking_gate_, gate);
    if (gate == SamplingGate::kOpen && (!best || skip.cycles() > best->cycles())) best = std::move(skip);
  }
  if (best) blocking_gate_ = SamplingGate::kOpen;
  return best;
}

void ChipSampler::find_same_residents() {
  same_since_.assign(members_.size(), std::vector<size_t>(launches(), samples_.size() - 1));
  for (size_t m = 0; m < members_.size(); ++m) {
    const SmSample& now = samples_.back().of_member[m];
    for (size_t l = 0; l < launches(); ++l) {
      size_t& since = same_since_[m][l];
      while (since > 0 && same_residents(samples_[since - 1].of_member[m], now, l)) --since;
    }
  }
}

uint64_t ChipSampler::placed(size_t first, size_t member, size_t launch) const {
  return samples_.back().of_member[member].state.placed[launch] - samples_[first].of_member[member].state.placed[launch];
}

// SMs that do the same are taken to get on alike: those in the same phase whose CTAs, placed in the window or left, hold the same
// in the mean. `by_residents`: whose residents have been the same, as many of each launch, in trips that hold the same.
std::vector<ChipSampler::Group> ChipSampler::groups(size_t first, bool by_residents) {
  std::map<std::vector<uint64_t>, Group> alike;
  for (size_t m = 0; m < members_.size(); ++m) {
    std::vector<uint64_t> key = phase_[m];
    const auto add = [&key](const Work& work) { key.insert(key.end(), {work.instructions, work.bytes}); };
    for (size_t l = 0; l < launches(); ++l) {
      if (by_residents) {
        const auto& residents = samples_.back().of_member[m].residents[l];
        key.push_back(first >= same_since_[m][l] ? residents.size() : kUnbounded);
        for (size_t r = 0; first >= same_since_[m][l] && r < residents.size(); ++r) add(residents[r].trip);
      } else if (sampled_[m].has_ctas_left(l)) {
        const uint64_t ctas = placed(first, m, l);
        const Work work = sampled_[m].placed_last(l, ctas);
        add(ctas > 0 ? Work{work.instructions / ctas, work.bytes / ctas} : Work{});
        add(sampled_[m].mean_of_not_placed(l));
      }
    }
    alike[key].push_back(m);
  }
  std::vector<Group> groups;
  for (auto& [key, group] : alike) groups.push_back(std::move(group));
  return groups;
}

void ChipSampler::set_wanted(size_t first, Skip& skip) {
  skip.wanted.assign(members_.size(), std::vector<SampledSm::Wanted>(launches()));
  skip.alike = groups(first, false);
  skip.alike_by_residents = groups(first, true);
  for (const Group& group : skip.alike) {
    for (size_t l = 0; l < launches(); ++l) {
      Wide instructions = 0;
      uint64_t sms = 0;
      for (const size_t m : group) {
        instructions += Wide{issued(first, m, l)} * members_[m].sms;
        sms += members_[m].sms;
      }
      for (const size_t m : group) skip.wanted[m][l].instructions = static_cast<uint64_t>(instructions / sms);
    }
  }
  for (const Group& group : skip.alike_by_residents) {
    for (size_t l = 0; l < launches(); ++l) {
      if (first < same_since_[group.front()][l]) continue;
      for (size_t r = 0; r < samples_.back().of_member[group.front()].residents[l].size(); ++r) {
        const Batch all = trips(group, first, samples_.size() - 1, l, r);
        const double of_one = all.cycles > 0 ? all.done / all.cycles * static_cast<double>(skip.window) : 0;
        for (const size_t m : group) skip.wanted[m][l].of_residents.push_back(does_nothing(first, m, l, r) ? 0 : of_one);
      }
    }
  }
}

bool ChipSampler::does_nothing(size_t first, size_t member, size_t launch, size_t resident) const {
  const auto left = [&](const Sample& sample) { return sample.of_member[member].residents[launch][resident].instructions; };
  return left(samples_[first]) == left(samples_.back());
}

// Of the residents of all members: from the last trip that ended before one sample to the last one before another.
Batch ChipSampler::trips(const Group& group, size_t from, size_t to, size_t launch, size_t resident) const {
  Batch batch;
  for (const size_t m : group) {
    const SmSample::Resident& before = samples_[from].of_member[m].residents[launch][resident];
    const SmSample::Resident& after = samples_[to].of_member[m].residents[launch][resident];
    if (before.at == kNever) continue;
    const auto sms = static_cast<double>(members_[m].sms);
    batch.done += sms * static_cast<double>(before.trips_left - after.trips_left);
    batch.cycles += sms * static_cast<double>(after.at - before.at);
  }
  return batch;
}

// That what the launches have left allows, and what is known to come.
uint64_t ChipSampler::most_periods(Skip& skip, Cycle limit) {
  const Cycle now = samples_.back().at;
  uint64_t periods = kUnbounded;
  skip.of_residents.assign(members_.size(), std::vector<uint64_t>(launches()));
  for (size_t m = 0; m < members_.size(); ++m) {
    for (size_t l = 0; l < launches(); ++l) {
      const uint64_t of_residents = sampled_[m].most_of_residents(l, skip.wanted[m][l]);
      skip.of_residents[m][l] = of_residents;
      periods = std::min(periods, std::max(of_residents, sampled_[m].most_of_ctas(l, skip.wanted[m][l])));
      const Cycle ready = members_[m].sm->state().progress[l].ready;
      if (ready != kNever && ready >= now) limit = std::min(limit, ready);
    }
  }
  return limit == kNever ? periods : std::min(periods, limit > now ? (limit - now) / skip.window : 0);
}

// CTAs end and others take their place.
bool ChipSampler::by_ctas(const Skip& skip, size_t member, size_t launch, uint64_t periods) const {
  return periods > skip.of_residents[member][launch];
}

SamplingGate ChipSampler::plan(size_t first, Cycle limit, Skip& skip) {
  set_wanted(first, skip);
  const uint64_t left = most_periods(skip, kNever);
  if (left == 0 || left == kUnbounded) return SamplingGate::kNothingLeftToTake;
  skip.periods = std::min(left, most_periods(skip, limit));
  if (skip.periods == 0) return SamplingGate::kNothingLeftToTake;
  // What may not be taken at once may not be taken by pieces either, which all rest on the same belief.
  for (const uint64_t each : {left, skip.periods}) {
    const SamplingGate gate = gate_of_rates(skip, each);
    if (gate != SamplingGate::kOpen) return gate;
  }
  return gate_of_pieces(skip);
}

// ---- gates

// A launch's cycles when `skipped` more have passed.
double ChipSampler::cycles_after(Cycle skipped, size_t launch) const {
  Cycle start = samples_.back().at;
  for (const Member& member : members_) {
    const LaunchProgress& progress = member.sm->state().progress[launch];
    if (progress.placed > 0) start = std::min(start, progress.start);
  }
  return static_cast<double>(samples_.back().at - start + skipped);
}

// What the rates leave open may come to half of the error, over all skips of a launch together. The rest is for what cannot be
// taken in whole pieces.
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

// Stores wait for DRAM from the cycle on in which L2 has no more room for what is to be written back. If what waits has become
// more, the least in the window's second half against that in its first, it has to find room until the skip's end. A skip leaves
// it as it is, so those before count as well.
bool ChipSampler::writes_fill_l2(size_t first, Cycle skipped) const {
  const auto half = static_cast<std::ptrdiff_t>((samples_.size() - first) / 2);
  const auto least = [](auto from, auto to) { return std::ranges::min_element(from, to, {}, &Sample::dirty_share)->dirty_share; };
  const auto from = samples_.begin() + static_cast<std::ptrdiff_t>(first);
  const double before = least(from, from + half);
  const double since = least(from + half, samples_.end());
  const auto cycles = static_cast<double>(samples_.back().at - samples_[first].at) / 2;
  const bool room = since - before < kFilling && since + (since - before) * static_cast<double>(skipped_ + skipped) / cycles <= 1;
  return !room;
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

// How much longer or shorter the CTAs that are to be taken take, at most, than those that have been placed in the window did for as
// many instructions: as long as they do, where instructions take the time, and where bytes do, in proportion to these.
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
  if (writes_fill_l2(skip.first, skipped)) return SamplingGate::kWritesFillL2;
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

// Cycles that the launch is off, at most, because it gives whole pieces only: where CTAs are taken, a trip if they have loops.
double ChipSampler::off(const Skip& skip, size_t launch) {
  uint64_t trip = 0;
  for (size_t m = 0; m < members_.size(); ++m) {
    if (by_ctas(skip, m, launch, skip.periods)) trip = std::max(trip, sampled_[m].longest_trip(launch));
  }
  double most = 0;
  for (size_t m = 0; m < members_.size(); ++m) {
    const SampledSm::Wanted& wanted = skip.wanted[m][launch];
    if (wanted.instructions == 0) continue;
    const uint64_t piece = trip > 0 ? trip : sampled_[m].longest_cta(launch);
    const double windows = by_ctas(skip, m, launch, skip.periods)
                               ? static_cast<double>(piece) / static_cast<double>(wanted.instructions)
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

// ---- taking

std::vector<SampledSm::Taken> ChipSampler::take(const Skip& skip) {
  for (size_t l = 0; l < launches(); ++l) {
    spent_on_pieces_[l] += off(skip, l);
    if (progresses(skip.first, l)) spent_[l] += uncertainty(skip, l, skip.periods) * static_cast<double>(skip.cycles());
  }
  skipped_ += skip.cycles();
  std::vector<SampledSm::Taken> taken;
  for (size_t m = 0; m < members_.size(); ++m) {
    std::vector<uint64_t>& owed = owed_[members_[m].index];
    owed.resize(launches());
    taken.push_back(
        sampled_[m].take(samples_[skip.first].of_member[m], samples_.back().of_member[m], skip.periods, skip.wanted[m], owed));
    for (size_t l = 0; l < launches(); ++l) {
      if (!by_ctas(skip, m, l, skip.periods)) continue;
      owed[l] += skip.periods * skip.wanted[m][l].instructions;
      owed[l] -= std::min(owed[l], taken.back().instructions[l]);
    }
  }
  restart();
  return taken;
}

}  // namespace warpfold::sim
