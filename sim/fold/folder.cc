#include "sim/fold/folder.h"

#include <algorithm>
#include <bit>

#include "sim/fold/link.h"

namespace warpfold::sim {
namespace {

uint64_t hash_of(const std::vector<uint64_t>& words) {
  uint64_t hash = words.size();
  for (const uint64_t word : words) hash = (std::rotl(hash, 23) ^ word) * 0x9e3779b97f4a7c15ULL;
  return hash;
}

}  // namespace

Folder::Folder(const FoldOptions& options, Sm& sm) : options_(options), sm_(sm) {
  if (options.mode != FoldMode::kAuto) return;
  extrapolator_ = std::make_unique<Extrapolator>(sm, options.error);
  constexpr uint64_t kLeastPatience = 300'000;
  constexpr uint64_t kMostPatience = 1'000'000;
  patience_ = options.patience > 0 ? options.patience : std::clamp(extrapolator_->all_work() / 16, kLeastPatience, kMostPatience);
  impatient_at_ = patience_;
}

// The filter widens while there is credit for many keys and narrows when there is none.
bool Folder::passes(uint64_t print, uint64_t instructions) {
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

void Folder::take(Sm& sm, Cycle now, SavedState& into) {
  StateVisitor visitor(into, now, options_.omitted_field.empty() ? nullptr : &options_.omitted_field);
  sm.visit(visitor);
  into.instructions = sm.instructions();
}

void Folder::forget(size_t state) {
  const auto [from, to] = by_hash_.equal_range(hashes_[state]);
  const auto entry = std::find_if(from, to, [&](const auto& each) { return each.second == state; });
  if (entry != to) by_hash_.erase(entry);
}

void Folder::loop_ended(Sm& sm, Cycle now, Cycle limit) {
  if (passes(sm.fingerprint(), sm.instructions()) && fold_exactly(sm, now, limit)) {
    impatient_at_ = sm.instructions() + patience_;
    if (extrapolator_) extrapolator_->restart();
    return;
  }
  // What is measured while waiting is ready when the waiting ends.
  if (extrapolator_ && sm.instructions() + patience_ / 2 >= impatient_at_) extrapolate(now, limit);
}

void Folder::extrapolate(Cycle now, Cycle limit) {
  if (!extrapolator_->watch(now)) return;
  if (sm_.instructions() < impatient_at_) return;
  const Extrapolator::Jump jump = extrapolator_->plan(limit);
  if (jump.skip.periods == 0) return;
  extrapolator_->make(jump);
  Period& period = bounded_periods_[jump.period];
  period.instructions = jump.instructions / jump.skip.periods;
  period.repeats += jump.skip.periods;
  skipped_ += jump.instructions;
  last_instructions_ = sm_.instructions();
  burst_ = kFirstKeys;
  impatient_at_ = 0;  // what follows will hardly recur either
}

bool Folder::fold_exactly(Sm& sm, Cycle now, Cycle limit) {
  if (states_.size() < kStates) {
    next_ = states_.size();
    states_.emplace_back();
    hashes_.push_back(0);
  } else {
    next_ = (next_ + 1) % kStates;
    forget(next_);
  }
  SavedState& state = states_[next_];
  take(sm, now, state);
  key_cost_ = kInstructionsPerWord * state.key.size();
  hashes_[next_] = hash_of(state.key);
  bool skipped_any = false;
  const auto [from, to] = by_hash_.equal_range(hashes_[next_]);
  for (auto entry = from; entry != to; ++entry) {
    const SavedState& before = states_[entry->second];
    if (before.key != state.key) continue;
    const Cycle skipped = skip(sm, before, state, limit);
    if (skipped == 0) continue;
    // The same state, later: what counts has moved.
    take(sm, now + skipped, state);
    last_instructions_ = state.instructions;
    burst_ = kFirstKeys;
    skipped_any = true;
    break;
  }
  by_hash_.emplace(hashes_[next_], next_);
  return skipped_any;
}

// Returns the cycles skipped; 0: not one period may be.
Cycle Folder::skip(Sm& sm, const SavedState& before, const SavedState& after, Cycle limit) {
  std::vector<const std::vector<traces::CtaRun>*> ctas;
  for (const SmLaunch& launch : sm.launches()) ctas.push_back(&launch.ctas);
  const Skip found = link(before, after, ctas, limit);
  if (found.periods == 0) return 0;
  StateVisitor visitor(found);
  sm.visit(visitor);
  Period& period = periods_[after.at - before.at];
  period.instructions = after.instructions - before.instructions;
  period.repeats += found.periods;
  skipped_ += found.periods * period.instructions;
  return found.cycles;
}

}  // namespace warpfold::sim
