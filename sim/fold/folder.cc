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

class FieldOmitter : public KeyProbe {
 public:
  explicit FieldOmitter(const std::string& field) : field_(field) {}
  bool keeps(const char* name, uint64_t /*word*/) override { return name != field_; }

 private:
  const std::string& field_;
};

}  // namespace

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
  FieldOmitter omitter(omitted_field_);
  StateVisitor visitor(into, now, omitted_field_.empty() ? nullptr : &omitter);
  sm.visit(visitor);
  into.instructions = sm.instructions();
}

void Folder::forget(size_t state) {
  const auto [from, to] = by_hash_.equal_range(hashes_[state]);
  const auto entry = std::find_if(from, to, [&](const auto& each) { return each.second == state; });
  if (entry != to) by_hash_.erase(entry);
}

void Folder::loop_ended(Sm& sm, Cycle now, Cycle limit) {
  if (!passes(sm.fingerprint(), sm.instructions())) return;
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
    break;
  }
  by_hash_.emplace(hashes_[next_], next_);
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
