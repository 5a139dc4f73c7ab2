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

constexpr size_t kMostSamples = 32;     // number at which every second sample is dropped: batches get twice as long
constexpr Cycle kShortestBatch = 1024;  // cycles

__extension__ using Wide = unsigned __int128;

}  // namespace

// ---- measuring

// A window begins at a sample that has the counts of all SMs. Counts are large, so only every second sample keeps them.
bool ChipSampler::may_begin_window(size_t sample) { return sample % 2 == 1; }

void ChipSampler::forget_counts(Sample& sample) {
  for (SmSample& of_member : sample.of_member) {
    std::vector<uint64_t>().swap(of_member.state.counts);
    std::vector<uint64_t>().swap(of_member.state.charges);
  }
}

// Takes owed work from residents that have enough trips for it. Returns true if it took any: earlier samples then no
// longer hold.
bool ChipSampler::take_owed() {
  bool any = false;
  for (size_t m = 0; m < members_.size(); ++m) {
    std::vector<uint64_t>& owed = owed_[members_[m].index];
    if (std::ranges::all_of(owed, [](uint64_t each) { return each == 0; })) continue;
    const std::vector<uint64_t> taken = sampled_[m].take_owed(owed);
    for (size_t l = 0; l < taken.size(); ++l) {
      owed[l] -= taken[l];
      owed_taken_[members_[m].index] += taken[l];
      any |= taken[l] > 0;
    }
  }
  return any;
}

// Takes a sample if one is due. Returns true if it did.
bool ChipSampler::observe(Cycle now, const std::vector<Member>& members, double dirty_share) {
  const auto same = [](const Member& one, const Member& other) {
    return one.index == other.index && one.sm == other.sm && one.sms == other.sms;
  };
  const bool others = !std::ranges::equal(members, members_, same);
  if (others) {
    samples_.clear();
    members_ = members;
    sampled_.clear();
    for (const Member& member : members) {
      make_room(member.index);
      sampled_.emplace_back(*member.sm);
    }
  }
  for (SampledSm& each : sampled_) each.watch(now);
  if (!samples_.empty() && now < samples_.back().at + batch_) return false;
  if (take_owed()) samples_.clear();
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

// Returns the batches of instructions that a group's SMs have issued of a launch, from sample `first` on.
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

void ChipSampler::make_room(size_t index) {
  if (index < owed_.size()) return;
  owed_.resize(index + 1);
  owed_taken_.resize(index + 1);
}

void ChipSampler::add_split_member(size_t member, const Member& copy) {
  members_[member].sms -= copy.sms;
  members_.push_back(copy);
  sampled_.push_back(sampled_[member].copy_for(*copy.sm));
  phase_.push_back(phase_[member]);
  make_room(copy.index);
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

std::optional<ChipSampler::Skip> ChipSampler::look(Cycle now, Cycle limit, const std::vector<Member>& members, double dirty_share) {
  return observe(now, members, dirty_share) ? longest(limit) : std::nullopt;
}

// Tries all windows that begin after the first quarter of the samples, which is warm-up. A shorter window may leave a
// smaller remainder at the end of the phase.
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

// Groups members that do the same, which are taken to have the same rates. Such SMs are in the same phase, and their
// CTAs have the same mean work: those placed in the window, and those left. `by_residents`: their residents have stayed
// the same through the window, and they have as many of each launch, with trips of the same work.
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

// Sums trips, and the time that they took, of one resident on each of the group's SMs: from the last end of a trip
// before sample `from` to the last one before sample `to`.
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

// Returns the number of windows for which all launches have work left, up to `limit` and to the next known release.
uint64_t ChipSampler::most_windows(Skip& skip, Cycle limit) {
  const Cycle now = samples_.back().at;
  uint64_t windows = kUnbounded;
  skip.of_residents.assign(members_.size(), std::vector<uint64_t>(launches()));
  for (size_t m = 0; m < members_.size(); ++m) {
    for (size_t l = 0; l < launches(); ++l) {
      const uint64_t of_residents = sampled_[m].most_of_residents(l, skip.wanted[m][l]);
      skip.of_residents[m][l] = of_residents;
      windows = std::min(windows, std::max(of_residents, sampled_[m].most_of_ctas(l, skip.wanted[m][l])));
      const Cycle ready = members_[m].sm->state().progress[l].ready;
      if (ready != kNever && ready >= now) limit = std::min(limit, ready);
    }
  }
  return limit == kNever ? windows : std::min(windows, limit > now ? (limit - now) / skip.window : 0);
}

// True if the launch's work is taken as CTAs, because its residents have too few trips left.
bool ChipSampler::takes_ctas(const Skip& skip, size_t member, size_t launch, uint64_t windows) const {
  return windows > skip.of_residents[member][launch];
}

SamplingGate ChipSampler::plan(size_t first, Cycle limit, Skip& skip) {
  set_wanted(first, skip);
  const uint64_t left = most_windows(skip, kNever);
  if (left == 0 || left == kUnbounded) return SamplingGate::kNothingLeftToTake;
  skip.windows = std::min(left, most_windows(skip, limit));
  if (skip.windows == 0) return SamplingGate::kNothingLeftToTake;
  // Ask the gates for all the work left too: each part of it would rest on the same measured rates.
  for (const uint64_t each : {left, skip.windows}) {
    const SamplingGate gate = gate_of_rates(skip, each);
    if (gate != SamplingGate::kOpen) return gate;
  }
  return gate_of_pieces(skip);
}

// ---- taking

std::vector<SampledSm::Taken> ChipSampler::take(const Skip& skip) {
  for (size_t l = 0; l < launches(); ++l) {
    spent_on_pieces_[l] += rounding_error(skip, l);
    if (progresses(skip.first, l)) spent_[l] += uncertainty(skip, l, skip.windows) * static_cast<double>(skip.cycles());
  }
  skipped_ += skip.cycles();
  std::vector<SampledSm::Taken> taken;
  for (size_t m = 0; m < members_.size(); ++m) {
    std::vector<uint64_t>& owed = owed_[members_[m].index];
    owed.resize(launches());
    taken.push_back(
        sampled_[m].take(samples_[skip.first].of_member[m], samples_.back().of_member[m], skip.windows, skip.wanted[m], owed));
    for (size_t l = 0; l < launches(); ++l) {
      if (!takes_ctas(skip, m, l, skip.windows)) continue;
      owed[l] += skip.windows * skip.wanted[m][l].instructions;
      owed[l] -= std::min(owed[l], taken.back().instructions[l]);
    }
  }
  restart();
  return taken;
}

}  // namespace warpfold::sim
