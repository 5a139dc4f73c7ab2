#include "sim/memo/memoizer.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "sim/memo/recurrence.h"
#include "sim/sm/sm_snapshot.h"

namespace warpfold::sim {
namespace {

// Four chains, which a processor follows at once.
uint64_t hash_of(const std::vector<uint64_t>& words) {
  constexpr size_t kChains = 4;
  const auto join = [](uint64_t hash, uint64_t word) { return (std::rotl(hash, 23) ^ word) * 0x9e3779b97f4a7c15ULL; };
  std::array<uint64_t, kChains> hashes = {words.size()};
  size_t i = 0;
  for (; i + kChains <= words.size(); i += kChains) {
    for (size_t chain = 0; chain < kChains; ++chain) hashes[chain] = join(hashes[chain], words[i + chain]);
  }
  for (; i < words.size(); ++i) hashes[0] = join(hashes[0], words[i]);
  return join(join(join(hashes[0], hashes[1]), hashes[2]), hashes[3]);
}

}  // namespace

Memoizer::Memoizer(const FoldOptions& options, Sm& sm, TrajectoryCache* trajectories, SkipCheck* check)
    : options_(options), sm_(&sm), states_(2 * kStates), hashes_(2 * kStates), trajectories_(trajectories), check_(check) {
  if (trajectories_ != nullptr) trajectory_ = trajectories_->begin();
}

Memoizer::Memoizer(const Memoizer& other, Sm& sm) : Memoizer(other) {
  sm_ = &sm;
  if (trajectories_ != nullptr) trajectory_ = trajectories_->begin();
  pause_.reset();
}

Memoizer::Memoizer(const FoldOptions& options, Sm& sm, const Memoizer& other)
    : Memoizer(options, sm, other.trajectories_, other.check_) {
  periods_ = other.periods_;
  skipped_ = other.skipped_;
  last_instructions_ = sm.instructions();
}

// The filter widens while there is credit for many keys and narrows when there is none.
bool Memoizer::passes(uint64_t print, uint64_t instructions) {
  credit_ += instructions - last_instructions_;
  last_instructions_ = instructions;
  if (burst_ > 0) {
    --burst_;
    return true;
  }
  constexpr uint64_t kMany = 64;
  if (credit_ > kMany * key_cost_) {
    filter_ >>= 1;
    credit_ = kMany * key_cost_ / 2;
  }
  if ((print >> 32 & filter_) != 0) return false;
  if (credit_ < key_cost_) {
    filter_ = filter_ << 1 | 1;
    return false;
  }
  credit_ -= key_cost_;
  return true;
}

void Memoizer::take_snapshot(Cycle now, Snapshot& into) {
  FieldOmitter omitter(options_.omitted_field);
  into.make_room(states_[last_taken_]);
  StateVisitor visitor(into, now, options_.omitted_field.empty() ? nullptr : &omitter);
  sm_->visit(visitor);
  into.instructions = sm_->instructions();
}

void Memoizer::forget(size_t state) {
  const auto [from, to] = by_hash_.equal_range(hashes_[state]);
  const auto entry = std::find_if(from, to, [&](const auto& each) { return each.second == state; });
  if (entry != to) by_hash_.erase(entry);
}

// The place for a state: of the oldest in its ring.
size_t Memoizer::Ring::next() {
  const size_t place = first + at;
  at = (at + 1) % kStates;
  return place;
}

// Moves scratch_ to where it is kept. Of most states only the hash is still known when they come back: then they are kept in a ring
// of their own for the next time.
size_t Memoizer::keep_snapshot(uint64_t hash) {
  if (seen_.size() == kMostHashes) seen_.clear();
  const bool seen_before = !seen_.insert(hash).second;
  const size_t place = (seen_before ? recurring_ : recent_).next();
  forget(place);
  std::swap(states_[place], scratch_);
  last_taken_ = place;
  hashes_[place] = hash;
  return place;
}

std::optional<Memoizer::FastForwarded> Memoizer::loop_ended(Cycle now, Cycle limit, uint64_t measured) {
  const uint64_t print = fingerprint(*sm_);
  if (!passes(print, sm_->instructions())) return std::nullopt;
  const bool checkpoint = options_.checkpoint_spacing > 0 || (print >> 32 & kCheckpoints) == 0;
  return look(now, limit, checkpoint, measured);
}

// `checkpoint`: trajectories are looked up and kept here.
std::optional<Memoizer::FastForwarded> Memoizer::look(Cycle now, Cycle limit, bool checkpoint, uint64_t measured) {
  take_snapshot(now, scratch_);
  key_cost_ = kInstructionsPerWord * (scratch_.key.size() + scratch_.classes.size());
  const uint64_t hash = hash_of(scratch_.key);
  const size_t place = keep_snapshot(hash);
  Snapshot& state = states_[place];
  std::vector<const Snapshot*> before;
  const auto [from, to] = by_hash_.equal_range(hash);
  for (auto entry = from; entry != to; ++entry) before.push_back(&states_[entry->second]);
  // Checkpoints are remembered for longer.
  if (checkpoint && trajectories_ != nullptr)
    std::ranges::copy(trajectories_->on_trajectory(trajectory_, hash), std::back_inserter(before));
  std::optional<FastForwarded> done;
  for (const Snapshot* each : before) {
    done = fast_forward(*each, state, limit);
    if (!done) continue;
    // The same state, later: what counts has moved.
    take_snapshot(now + done->by.cycles, state);
    last_instructions_ = state.instructions;
    burst_ = kFirstKeys;
    break;
  }
  by_hash_.emplace(hash, place);
  if (checkpoint && !done && trajectories_ != nullptr) look_up_trajectories(state, hash, limit, measured);
  return done;
}

// Pauses at a memo hit; else the SM's own trajectory gets a checkpoint.
void Memoizer::look_up_trajectories(const Snapshot& state, uint64_t hash, Cycle limit, uint64_t measured) {
  if (sm_->control().launch_ended) return;  // a launch of another SM may wait for this end
  // Classes that share the SM diverge where a replay has them diverge, since from there on they meet each other in L2 and DRAM.
  if (std::exchange(trajectories_cleared_, trajectories_->cleared()) != trajectories_->cleared()) memo_hits_left_ = kMostMemoHits;
  const uint64_t least = std::max(trajectories_->worthwhile(), measured / kWorthMeasuring);
  const bool follows = !sm_->control().shared && memo_hits_left_ > 0;
  const auto hit = follows ? trajectories_->furthest(*sm_, state, hash, limit) : std::nullopt;
  if (hit && hit->instructions >= least) {
    pause_ = {state.at, limit};
    sm_->control().paused = true;
  } else if (trajectories_->wants(trajectory_, state.instructions)) {
    trajectory_ = trajectories_->add(trajectory_, state, hash, *sm_);
  }
}

std::optional<MemoHit> Memoizer::memo_hit() {
  if (!pause_) return std::nullopt;
  const Pause pause = *std::exchange(pause_, std::nullopt);
  take_snapshot(pause.now, scratch_);
  return trajectories_->furthest(*sm_, scratch_, hash_of(scratch_.key), pause.limit);
}

// The states passed so far name warps otherwise.
void Memoizer::followed_memo_hit() {
  --memo_hits_left_;
  by_hash_.clear();
  trajectory_ = trajectories_->begin();
  last_instructions_ = sm_->instructions();
}

void Memoizer::state_replaced() {
  if (trajectories_ != nullptr) trajectory_ = trajectories_->begin();
  last_instructions_ = sm_->instructions();
  burst_ = kFirstKeys;
}

void Memoizer::disturbed() {
  by_hash_.clear();
  state_replaced();
}

// None where not one period may follow.
std::optional<Memoizer::FastForwarded> Memoizer::fast_forward(const Snapshot& before, const Snapshot& after, Cycle limit) {
  if (!options_.enables(Mechanism::kRecurrence)) return std::nullopt;
  std::vector<const CtaList*> ctas;
  for (const SmLaunch& launch : sm_->state().launches) ctas.push_back(&launch.ctas);
  // SM classes that share the SM diverge on a last trip or CTA, which lies inside the last period that may follow.
  FastForward found = recurrence(before, after, ctas, limit, sm_->control().shared ? 1 : 0);
  // Most keys that come back do not recur: what is left of loops is a few words, a key some thousand.
  if (found.periods == 0 || before.key != after.key || before.classes != after.classes) return std::nullopt;
  if (check_ != nullptr) check_->recurrence(*sm_, before, after, ctas);
  move_on(*sm_, found, true);
  Period& period = periods_[after.at - before.at];
  period.instructions = after.instructions - before.instructions;
  period.repeats += found.periods;
  const uint64_t instructions = found.periods * period.instructions;
  skipped_ += instructions;
  return FastForwarded{std::move(found), instructions};
}

}  // namespace warpfold::sim
