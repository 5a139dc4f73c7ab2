#include "sim/fold/folder.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "sim/fold/link.h"

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

// Instructions without an exact recurrence, of `work` in all, after which a run goes on by rates. What is skipped exactly is
// skipped without an error; who allows for a larger one waits less long for it.
uint64_t patience_for(double error, uint64_t work) {
  const uint64_t haste = error < kCoarseError ? 1 : 8;
  constexpr uint64_t kLeast = 300'000;
  constexpr uint64_t kMost = 1'000'000;
  return std::clamp(work / 16, kLeast, kMost) / haste;
}

class FieldOmitter : public KeyFilter {
 public:
  explicit FieldOmitter(const std::string& field) : field_(field) {}
  bool keeps(const char* name, uint64_t /*word*/) override { return name != field_; }

 private:
  const std::string& field_;
};

}  // namespace

Folder::Folder(const FoldOptions& options, Sm& sm, Paths* paths)
    : options_(options), sm_(&sm), states_(2 * kStates), hashes_(2 * kStates), paths_(paths) {
  if (paths_ != nullptr) path_ = paths_->begin();
  if (options.mode != FoldMode::kAuto) return;
  extrapolator_.emplace(sm, options.error);
  patience_ = options.patience > 0 ? options.patience : patience_for(options.error, extrapolator_->all_work());
  impatient_at_ = patience_;
}

Folder::Folder(const Folder& other, Sm& sm) : Folder(other) {
  sm_ = &sm;
  if (extrapolator_) extrapolator_->belong_to(sm);
  if (paths_ != nullptr) path_ = paths_->begin();
  pause_.reset();
}

void Folder::carry_over(const Folder& other) {
  periods_ = other.periods_;
  bounded_periods_ = other.bounded_periods_;
  skipped_ = other.skipped_;
  last_instructions_ = sm_->instructions();
  impatient_at_ = last_instructions_ + patience_;
  paths_ = other.paths_;
  if (paths_ != nullptr) path_ = paths_->begin();
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

void Folder::take(Sm& sm, Cycle now, Snapshot& into) {
  FieldOmitter omitter(options_.omitted_field);
  into.make_room(states_[last_taken_]);
  StateVisitor visitor(into, now, options_.omitted_field.empty() ? nullptr : &omitter);
  sm.visit(visitor);
  into.instructions = sm.instructions();
}

void Folder::forget(size_t state) {
  const auto [from, to] = by_hash_.equal_range(hashes_[state]);
  const auto entry = std::find_if(from, to, [&](const auto& each) { return each.second == state; });
  if (entry != to) by_hash_.erase(entry);
}

void Folder::loop_ended(Sm& sm, Cycle now, Cycle limit) {
  const uint64_t print = sm.fingerprint();
  if (passes(print, sm.instructions()) && fold_exactly(sm, now, limit, options_.waypoints > 0 || (print >> 32 & kWaypoints) == 0))
    return;
  if (paused()) return;
  // What is measured while waiting is ready when the waiting ends.
  if (!extrapolator_) return;
  if (sm.instructions() + patience_ / 2 >= impatient_at_) {
    extrapolate(now, limit);
  } else {
    extrapolator_->look_away();
  }
}

void Folder::extrapolate(Cycle now, Cycle limit) {
  if (!extrapolator_->watch(now)) return;
  if (sm_->instructions() < impatient_at_) return;
  const Extrapolator::Jump jump = extrapolator_->plan(limit);
  if (jump.skip.periods == 0) return;
  if (!sm_->may_jump()) return sm_->end_sharing();
  extrapolator_->make(jump);
  if (paths_ != nullptr) path_ = paths_->begin();
  Period& period = bounded_periods_[jump.period];
  period.instructions = jump.instructions / jump.skip.periods;
  period.repeats += jump.skip.periods;
  skipped_ += jump.instructions;
  last_instructions_ = sm_->instructions();
  burst_ = kFirstKeys;
  impatient_at_ = 0;  // what follows will hardly recur either
}

// The place for a state: of the oldest in its ring.
size_t Folder::Ring::next() {
  const size_t place = first + at;
  at = (at + 1) % kStates;
  return place;
}

bool Folder::fold_exactly(Sm& sm, Cycle now, Cycle limit, bool waypoint) {
  take(sm, now, scratch_);
  key_cost_ = kInstructionsPerWord * (scratch_.key.size() + scratch_.classes.size());
  const uint64_t hash = hash_of(scratch_.key);
  // Keys are compared whole. Of most states only the hash is still known when they come back: then they are kept for the next time.
  if (seen_.size() == kMostHashes) seen_.clear();
  const bool seen_before = !seen_.insert(hash).second;
  const size_t place = (seen_before ? recurring_ : recent_).next();
  forget(place);
  std::swap(states_[place], scratch_);
  last_taken_ = place;
  hashes_[place] = hash;
  Snapshot& state = states_[place];
  bool skipped_any = false;
  std::vector<const Snapshot*> before;
  const auto [from, to] = by_hash_.equal_range(hash);
  for (auto entry = from; entry != to; ++entry) before.push_back(&states_[entry->second]);
  // Where it left copies it remembers longer.
  if (waypoint && paths_ != nullptr) std::ranges::copy(paths_->on_path(path_, hash), std::back_inserter(before));
  for (const Snapshot* each : before) {
    const Cycle skipped = skip(sm, *each, state, limit);
    if (skipped == 0) continue;
    // The same state, later: what counts has moved.
    take(sm, now + skipped, state);
    last_instructions_ = state.instructions;
    burst_ = kFirstKeys;
    skipped_any = true;
    break;
  }
  by_hash_.emplace(hash, place);
  if (waypoint && !skipped_any && paths_ != nullptr) go_along(sm, state, hash, limit);
  return skipped_any;
}

// Where others have been, or it has itself: as they went on. Else they may.
void Folder::go_along(Sm& sm, const Snapshot& state, uint64_t hash, Cycle limit) {
  if (sm.stopped_at_launch_end()) return;  // others may have waited for it
  if (std::exchange(paths_cleared_, paths_->cleared()) != paths_->cleared()) shortcuts_left_ = kMostShortcuts;
  // What has been measured of the rates is given up for it.
  const uint64_t measured = extrapolator_ ? extrapolator_->measured() : 0;
  const uint64_t least = std::max(paths_->worthwhile(), measured / kWorthMeasuring);
  const auto shortcut = shortcuts_left_ > 0 ? paths_->furthest(sm, state, hash, limit) : std::nullopt;
  if (shortcut && shortcut->instructions >= least) {
    pause_ = {state.at, limit};
    sm.pause();
  } else if (paths_->wants(path_, state.instructions)) {
    path_ = paths_->add(path_, state, hash, sm);
  }
}

std::optional<Shortcut> Folder::shortcut() {
  if (!pause_) return std::nullopt;
  const Pause pause = *std::exchange(pause_, std::nullopt);
  take(*sm_, pause.now, scratch_);
  return paths_->furthest(*sm_, scratch_, hash_of(scratch_.key), pause.limit);
}

// The states it has been in have other names for its warps.
void Folder::went_along(Sm& sm, uint64_t instructions) {
  sm_ = &sm;
  --shortcuts_left_;
  by_hash_.clear();
  path_ = paths_->begin();
  last_instructions_ = sm.instructions();
  if (!extrapolator_) return;
  extrapolator_->belong_to(sm);
  extrapolator_->restart();
  impatient_at_ = std::min(impatient_at_ + instructions, last_instructions_ + patience_);
}

// Returns the cycles skipped; 0: not one period may be.
Cycle Folder::skip(Sm& sm, const Snapshot& before, const Snapshot& after, Cycle limit) {
  std::vector<const std::vector<traces::CtaRun>*> ctas;
  for (const SmLaunch& launch : sm.launches()) ctas.push_back(&launch.ctas);
  const FastForward found = link(before, after, ctas, limit);
  // Most keys that come back have no link: what is left of loops is a few words, a key some thousand.
  if (found.periods == 0 || before.key != after.key || before.classes != after.classes) return 0;
  sm.move_on(found, true);
  if (extrapolator_) extrapolator_->moved_on(found);
  Period& period = periods_[after.at - before.at];
  period.instructions = after.instructions - before.instructions;
  period.repeats += found.periods;
  const uint64_t instructions = found.periods * period.instructions;
  skipped_ += instructions;
  // Patience grows by what has been skipped: what recurs now and then for a moment shall not keep a run from going on by rates.
  impatient_at_ = std::min(impatient_at_ + 2 * instructions, after.instructions + instructions + patience_);
  return found.cycles;
}

}  // namespace warpfold::sim
