#include <algorithm>

#include "traces/import/follower.h"

namespace warpfold::sass {
namespace {

constexpr size_t kLongestPeriod = 16;  // passes of a group: stages of a ring, twice, for the parity of its barriers
constexpr uint64_t kWorthFolding = 4;  // groups; fewer are followed

uint8_t bit_of(int variable) { return static_cast<uint8_t>(1U << variable); }

// What a word becomes as a function of the number of groups: it moves as it did between the last two groups, or not linearly.
Word as_function(const Word& two_before, const Word& before, const Word& now, int variable) {
  Word word = now;
  if (now.unknown == kAllLanes) return word;
  const bool alike = two_before.unknown == now.unknown && before.unknown == now.unknown && two_before.slope == now.slope &&
                     before.slope == now.slope && before.varies == now.varies;
  uint32_t step = 0;
  bool found = false;
  bool linear = alike;
  for (int lane = 0; lane < kLanes && linear; ++lane) {
    if ((now.unknown >> lane & 1) != 0) continue;
    const uint32_t last = now.lane[lane] - before.lane[lane];
    if (!found) step = last;
    found = true;
    linear = last == step && before.lane[lane] - two_before.lane[lane] == step;
  }
  if (linear) {
    word.slope[static_cast<size_t>(variable)] = step;
  } else {
    word.varies |= bit_of(variable);
  }
  return word;
}

Bits as_function(const Bits& two_before, const Bits& before, const Bits& now, int variable) {
  Bits bits = now;
  const bool same = two_before.lanes == now.lanes && before.lanes == now.lanes && two_before.unknown == now.unknown &&
                    before.unknown == now.unknown;
  if (!same) bits.varies |= bit_of(variable);
  return bits;
}

// Whether the group left the word where the function says; else weakens the function. `groups` is bounded by how long it holds.
bool agrees(Word& start, const Word& end, int variable, uint64_t& groups) {
  const auto v = static_cast<size_t>(variable);
  if ((start.varies & bit_of(variable)) != 0 || start.unknown == kAllLanes) {
    // Nothing is claimed of it, but that it is not unknown where it does not become so.
    if ((end.unknown & ~start.unknown) == 0) return true;
    start.unknown |= end.unknown;
    start.origin = end.origin;
    return false;
  }
  bool same = end.slope == start.slope && end.unknown == start.unknown && end.varies == start.varies;
  for (int lane = 0; lane < kLanes && same; ++lane) {
    same = (end.unknown >> lane & 1) != 0 || end.lane[lane] == start.lane[lane] + start.slope[v];
  }
  if (same && end.limit[v] >= kWorthFolding) {
    groups = std::min<uint64_t>(groups, end.limit[v]);
    // What the next group begins with holds for no more CTAs than what this one left.
    Extents limit = smaller(start.limit, end.limit);
    limit[v] = start.limit[v];
    const bool settled = limit == start.limit;
    start.limit = limit;
    return settled;
  }
  if ((end.unknown & ~start.unknown) != 0) {
    start.unknown |= end.unknown;
    start.origin = end.origin;
  }
  start.varies |= bit_of(variable);
  start.slope[v] = 0;
  return false;
}

bool agrees(Bits& start, const Bits& end, int variable, uint64_t& groups) {
  const auto v = static_cast<size_t>(variable);
  if ((start.varies & bit_of(variable)) != 0 || start.unknown == kAllLanes) {
    if ((end.unknown & ~start.unknown) == 0) return true;
    start.unknown |= end.unknown;
    start.origin = end.origin;
    return false;
  }
  if (end.lanes == start.lanes && end.unknown == start.unknown && end.varies == start.varies && end.limit[v] >= kWorthFolding) {
    groups = std::min<uint64_t>(groups, end.limit[v]);
    return true;
  }
  if ((end.unknown & ~start.unknown) != 0) {
    start.unknown |= end.unknown;
    start.origin = end.origin;
  }
  start.varies |= bit_of(variable);
  return false;
}

// Behind `groups` groups: what moved linearly is known, what moved otherwise is lost.
void advance(Word& word, int variable, uint64_t groups, int loop) {
  const auto v = static_cast<size_t>(variable);
  if ((word.varies & bit_of(variable)) != 0) {
    word = Word::nothing(kLost - loop);
    return;
  }
  for (uint32_t& lane : word.lane) lane += static_cast<uint32_t>(word.slope[v] * groups);
  word.slope[v] = 0;
  word.limit[v] = kUnbounded;
}

void advance(Bits& bits, int variable, uint64_t /*groups*/, int loop) {
  if ((bits.varies & bit_of(variable)) != 0) bits = Bits::nothing(kLost - loop);
  bits.limit[static_cast<size_t>(variable)] = kUnbounded;
}

// Calls `each` for every pair, or triple, of values that stand at the same place of the states.
template <typename Each, typename... States>
void for_each_value(Each each, WarpState& state, States&... others) {
  for (size_t i = 0; i < state.registers.size(); ++i) each(state.registers[i], others.registers[i]...);
  for (size_t i = 0; i < state.uniform.size(); ++i) each(state.uniform[i], others.uniform[i]...);
  for (size_t i = 0; i < state.predicates.size(); ++i) each(state.predicates[i], others.predicates[i]...);
  for (size_t i = 0; i < state.uniform_predicates.size(); ++i) each(state.uniform_predicates[i], others.uniform_predicates[i]...);
  for (auto& [address, word] : state.local) each(word, others.local.at(address)...);
}

bool same_places(const WarpState& a, const WarpState& b) {
  return a.executions == b.executions && a.cluster_phase == b.cluster_phase &&
         std::ranges::equal(a.local, b.local, {}, &std::pair<const uint32_t, Word>::first, &std::pair<const uint32_t, Word>::first);
}

}  // namespace

std::map<int, uint32_t> Follower::run_loop(int loop, uint32_t mask, Path& path) {
  const int header = flow_.loops[static_cast<size_t>(loop)].header;
  std::map<int, uint32_t> left;
  std::deque<Snapshot> history;  // before each of the last passes
  uint64_t passes = 0;
  uint64_t since = 0;  // passes since the last fold
  uint64_t next_try = 3;
  const bool may_fold = folding_ < kLoopVariables && !literal_.contains(loop);
  while (mask != 0) {
    if (may_fold && since >= next_try) {
      if (try_fold(loop, mask, history, path)) {
        history.clear();
        since = 0;
        next_try = 3;
      } else {
        next_try = 2 * since;
      }
    }
    if (may_fold && next_try - since <= 2 * kLongestPeriod) history.push_back({warp_.state, mask});
    if (history.size() > 2 * kLongestPeriod) history.pop_front();
    if (++passes > limits_.passes) throw EndlessLoop{flow_.blocks[static_cast<size_t>(header)].first};
    ++since;
    Path body;
    const Lanes lanes = run_region(loop, header, mask, body);
    add_loop(path, std::move(body), 1);
    for (const auto& [to, lanes_there] : lanes.left) left[to] |= lanes_there;
    mask = lanes.back & warp_.alive;
  }
  return left;
}

bool Follower::try_fold(int loop, uint32_t mask, const std::deque<Snapshot>& history, Path& path) {
  Fold best;
  const size_t now = history.size();
  for (size_t period = 1; period <= kLongestPeriod && 2 * period <= now; ++period) {
    const auto& before = history[now - period];
    const auto& two_before = history[now - 2 * period];
    const bool steady = std::all_of(history.end() - static_cast<std::ptrdiff_t>(2 * period), history.end(),
                                    [mask](const Snapshot& snapshot) { return snapshot.mask == mask; });
    if (!steady) break;
    Fold one;
    if (!fold(loop, mask, two_before.state, before.state, period, one)) continue;
    if (one.groups * period > best.groups * std::max<size_t>(1, best.bodies.size())) best = std::move(one);
    if (best.groups >= 4 * kWorthFolding) break;
  }
  if (best.groups < kWorthFolding) return false;
  warp_.state = std::move(best.after);
  warp_.extents = best.extents;
  issued_ += best.steps * best.groups;
  touches_.insert(touches_.end(), std::make_move_iterator(best.touches.begin()), std::make_move_iterator(best.touches.end()));
  const bool equal = std::ranges::all_of(best.bodies, [&](const Path& body) { return body == best.bodies.front(); });
  if (equal) {
    add_loop(path, std::move(best.bodies.front()), best.groups * best.bodies.size());
  } else {
    Path group;
    for (Path& body : best.bodies) {
      for (PathNode& node : body) {
        if (auto* steps = std::get_if<std::vector<Step>>(&node)) {
          for (const Step& step : *steps) add_step(group, step);
        } else {
          group.push_back(std::move(node));
        }
      }
    }
    add_loop(path, std::move(group), best.groups);
  }
  return true;
}

bool Follower::fold(int loop, uint32_t mask, const WarpState& two_before, const WarpState& before, size_t period, Fold& result) {
  const int variable = kCtaVariables + folding_;
  const auto v = static_cast<size_t>(variable);
  const WarpState now = warp_.state;
  if (!same_places(two_before, now) || !same_places(before, now)) return false;
  const Extents extents = warp_.extents;
  const size_t touched = touches_.size();
  const uint32_t alive = warp_.alive;
  const uint64_t issued = issued_;
  WarpState start = now;
  for_each_value([&](auto& value, const auto& one, const auto& two) { value = as_function(one, two, value, variable); }, start,
                 two_before, before);
  const auto restore = [&] {
    warp_.state = now;
    warp_.extents = extents;
    touches_.resize(touched);
    warp_.alive = alive;
    issued_ = issued;
  };
  ++folding_;
  bool settled = false;
  bool repeats = true;
  constexpr int kMostRounds = 12;  // each weakens some functions
  for (int round = 0; round < kMostRounds && !settled && repeats; ++round) {
    restore();
    warp_.state = start;
    warp_.extents[v] = kUnbounded;
    result.bodies.clear();
    try {
      for (size_t pass = 0; pass < period && repeats; ++pass) {
        Path body;
        const Lanes lanes = run_region(loop, flow_.loops[static_cast<size_t>(loop)].header, mask, body);
        repeats = lanes.back == mask && lanes.left.empty();
        result.bodies.push_back(std::move(body));
      }
    } catch (const NotLinear& decision) {
      if ((decision.variables & bit_of(variable)) == 0) {
        --folding_;
        restore();
        throw;
      }
      repeats = false;
    }
    if (!repeats || !same_places(start, warp_.state)) {
      repeats = false;
      break;
    }
    result.groups = warp_.extents[v];
    settled = true;
    for_each_value([&](auto& value, const auto& end) { settled &= agrees(value, end, variable, result.groups); }, start,
                   warp_.state);
  }
  --folding_;
  if (!settled || !repeats) {
    restore();
    return false;
  }
  // No decision in the group hangs on how often it ran.
  if (result.groups >= kUnbounded)
    throw EndlessLoop{flow_.blocks[static_cast<size_t>(flow_.loops[static_cast<size_t>(loop)].header)].first};
  result.extents = warp_.extents;
  result.extents[v] = kUnbounded;
  result.steps = issued_ - issued;
  for (size_t i = touched; i < touches_.size(); ++i) {
    Touch touch = touches_[i];
    touch.strides.push_back({touch.slope[v], result.groups, (touch.varies & bit_of(variable)) != 0, result.steps});
    touch.slope[v] = 0;
    result.touches.push_back(std::move(touch));
  }
  restore();
  result.after = start;
  for_each_value([&](auto& value) { advance(value, variable, result.groups, loop); }, result.after);
  return true;
}

}  // namespace warpfold::sass
