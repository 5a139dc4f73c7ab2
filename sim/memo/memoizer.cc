#include "sim/memo/memoizer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/memo/recurrence.h"
#include "sim/sm/sm_snapshot.h"

namespace warpfold::sim {
namespace {

// Hashes words in four independent chains, which a processor computes in parallel.
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

Memoizer::Memoizer(const FoldOptions& options, Sm& sm, SkipCheck* check)
    : options_(options), sm_(&sm), states_(2 * kStates), hashes_(2 * kStates), check_(check) {}

Memoizer::Memoizer(const Memoizer& other, Sm& sm) : Memoizer(other) { sm_ = &sm; }

Memoizer::Memoizer(const FoldOptions& options, Sm& sm, const Memoizer& other) : Memoizer(options, sm, other.check_) {
  periods_ = other.periods_;
  skipped_ = other.skipped_;
  last_instructions_ = sm.instructions();
}

// Returns true if the filter lets the fingerprint pass. The filter widens if there is credit for many keys, and narrows
// if there is credit for none.
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

// Returns the place of the ring's oldest state, for the next state.
size_t Memoizer::Ring::next() {
  const size_t place = first + at;
  at = (at + 1) % kStates;
  return place;
}

// Moves scratch_ into a ring and returns its place. When a state comes back, most often only its hash is still known.
// Such a state goes into a second ring, where it is kept longer, for its next return.
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

std::optional<Memoizer::FastForwarded> Memoizer::loop_ended(Cycle now, Cycle limit) {
  if (!passes(fingerprint(*sm_), sm_->instructions())) return std::nullopt;
  take_snapshot(now, scratch_);
  key_cost_ = kInstructionsPerWord * (scratch_.key.size() + scratch_.classes.size());
  const uint64_t hash = hash_of(scratch_.key);
  const size_t place = keep_snapshot(hash);
  Snapshot& state = states_[place];
  std::optional<FastForwarded> done;
  const auto [from, to] = by_hash_.equal_range(hash);
  for (auto entry = from; entry != to && !done; ++entry) done = fast_forward(states_[entry->second], state, limit);
  if (done) {
    // Take the snapshot anew: after the skip the state has the same key, but other counts, trips and times.
    take_snapshot(now + done->by.cycles, state);
    last_instructions_ = state.instructions;
    burst_ = kFirstKeys;
  }
  by_hash_.emplace(hash, place);
  return done;
}

void Memoizer::work_taken() {
  last_instructions_ = sm_->instructions();
  burst_ = kFirstKeys;
}

void Memoizer::forget_states() {
  by_hash_.clear();
  work_taken();
}

// Skips all periods that may follow `after`. Returns none if there is no such period.
std::optional<Memoizer::FastForwarded> Memoizer::fast_forward(const Snapshot& before, const Snapshot& after, Cycle limit) {
  if (!options_.enables(Mechanism::kRecurrence)) return std::nullopt;
  std::vector<const CtaList*> ctas;
  for (const SmLaunch& launch : sm_->state().launches) ctas.push_back(&launch.ctas);
  // If the SM has twins, keep one period: they diverge on a last trip, which lies in the last period that may follow.
  FastForward found = recurrence(before, after, ctas, limit, sm_->control().has_twins ? 1 : 0);
  // Compare keys last. Most states whose hash is known are no recurrence, and trips are a few words, a key some
  // thousand.
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
