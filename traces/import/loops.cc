#include <algorithm>
#include <bit>

#include "traces/import/follower.h"

namespace warpfold::sass {
namespace {

constexpr size_t kLongestPeriod = 16;  // passes per group: twice the stages of a ring, for the parity of its barriers
constexpr uint64_t kWorthFolding = 4;  // groups; fewer are followed one by one

uint8_t bit_of(int variable) { return static_cast<uint8_t>(1U << variable); }

// Returns a word as a function of the number of groups. A lane is linear if it moved by equal amounts between the last
// two pairs of groups, and by the amount of the first lane of `mask`.
Word as_function(const Word& two_before, const Word& before, const Word& now, int variable, uint32_t mask) {
  const auto v = static_cast<size_t>(variable);
  Word word = now;
  if (now.unknown == kAllLanes) return word;
  const bool alike = two_before.unknown == now.unknown && before.unknown == now.unknown && two_before.slope == now.slope &&
                     before.slope == now.slope && before.varying == now.varying;
  if (!alike) {
    word.varying[v] = ~now.unknown;
    return word;
  }
  const uint32_t known = ~now.unknown;
  const auto first = static_cast<size_t>(std::countr_zero((known & mask) != 0 ? known & mask : known));
  const uint32_t step = now.lane[first] - before.lane[first];
  for (int lane = 0; lane < kLanes; ++lane) {
    const bool linear = now.lane[lane] - before.lane[lane] == step && before.lane[lane] - two_before.lane[lane] == step;
    if (!linear) word.varying[v] |= known & 1U << lane;
  }
  word.slope[v] = step;
  return word;
}

Bits as_function(const Bits& two_before, const Bits& before, const Bits& now, int variable, uint32_t /*mask*/) {
  Bits bits = now;
  bits.varying[static_cast<size_t>(variable)] |= (two_before.lanes ^ now.lanes) | (before.lanes ^ now.lanes) |
                                                 (two_before.unknown ^ now.unknown) | (before.unknown ^ now.unknown);
  return bits;
}

// Returns the lanes that differ in any variable.
uint32_t differing(const LaneSets& a, const LaneSets& b) {
  uint32_t lanes = 0;
  for (size_t v = 0; v < a.size(); ++v) lanes |= a[v] ^ b[v];
  return lanes;
}

// Returns the lanes in which the group's result differs from the function.
uint32_t elsewhere(const Word& start, const Word& end, size_t variable) {
  if (end.slope != start.slope) return kAllLanes;
  uint32_t lanes = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (end.lane[lane] != start.lane[lane] + start.slope[variable]) lanes |= 1U << lane;
  }
  return lanes;
}

uint32_t elsewhere(const Bits& start, const Bits& end, size_t /*variable*/) { return start.lanes ^ end.lanes; }

// True if the group's result equals the function, in all lanes for which the function makes a claim. Otherwise weakens
// the function. Limits `groups` to the number for which the result holds.
template <typename Value>
bool agrees(Value& start, const Value& end, int variable, uint64_t& groups) {
  const auto v = static_cast<size_t>(variable);
  const uint32_t claimed = ~start.varying[v] & ~start.unknown;
  const uint32_t lost = end.unknown & ~start.unknown;
  if (lost != 0) {
    start.unknown |= lost;
    start.origin = end.origin;
  }
  if (claimed == 0) return lost == 0;
  uint32_t wrong = claimed & ~lost;
  if (end.limit[v] >= kWorthFolding) wrong &= elsewhere(start, end, v) | differing(start.varying, end.varying);
  if (wrong != 0) {
    start.varying[v] |= wrong;
    return false;
  }
  groups = std::min<uint64_t>(groups, end.limit[v]);
  // The state before the next group holds for no more CTAs than the state after this one.
  Extents limit = smaller(start.limit, end.limit);
  limit[v] = start.limit[v];
  const bool settled = limit == start.limit;
  start.limit = limit;
  return settled && lost == 0;
}

template <typename Value>
void lose(Value& value, size_t variable, int loop, uint32_t written) {
  const uint32_t lost = value.varying[variable] & written & ~value.unknown;
  if (lost != 0) value.origin = kLost - loop;
  value.unknown |= lost;
  value.varying[variable] = 0;
  value.limit[variable] = kUnbounded;
}

// Moves a word past `groups` groups. Lanes that moved linearly are known. Of the other lanes, those in `written` become
// unknown; no pass writes the remaining ones.
void advance(Word& word, int variable, uint64_t groups, int loop, uint32_t written) {
  const auto v = static_cast<size_t>(variable);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((word.varying[v] >> lane & 1) == 0) word.lane[lane] += static_cast<uint32_t>(word.slope[v] * groups);
  }
  lose(word, v, loop, written);
  word.slope[v] = 0;
}

void advance(Bits& bits, int variable, uint64_t /*groups*/, int loop, uint32_t written) {
  lose(bits, static_cast<size_t>(variable), loop, written);
}

// Calls `each` with the values at the same place of all states, and with the lanes that a pass by the lanes of `mask`
// writes.
template <typename Each, typename... States>
void for_each_value(Each each, uint32_t mask, WarpState& state, States&... others) {
  for (size_t i = 0; i < state.registers.size(); ++i) each(mask, state.registers[i], others.registers[i]...);
  for (size_t i = 0; i < state.uniform.size(); ++i) each(kAllLanes, state.uniform[i], others.uniform[i]...);
  for (size_t i = 0; i < state.predicates.size(); ++i) each(mask, state.predicates[i], others.predicates[i]...);
  for (size_t i = 0; i < state.uniform_predicates.size(); ++i)
    each(kAllLanes, state.uniform_predicates[i], others.uniform_predicates[i]...);
  for (auto& [address, word] : state.local) each(mask, word, others.local.at(address)...);
}

bool same_places(const WarpState& a, const WarpState& b) {
  return a.executions == b.executions && a.cluster_phase == b.cluster_phase &&
         std::ranges::equal(a.local, b.local, {}, &std::pair<const uint32_t, Word>::first, &std::pair<const uint32_t, Word>::first);
}

}  // namespace

Follower::Arrivals Follower::run_loop(int loop, uint32_t mask, Path& path) {
  const int header = flow_.loops[static_cast<size_t>(loop)].header;
  Arrivals left;
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
    for (const auto& [to, arrived] : lanes.left) left[to].add(arrived);
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
  const uint32_t written = mask | ~warp_.alive;
  for_each_value(
      [&](uint32_t lanes, auto& value, const auto& one, const auto& two) { value = as_function(one, two, value, variable, lanes); },
      written, start, two_before, before);
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
  constexpr int kMostRounds = 12;  // each round weakens some functions
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
    for_each_value(
        [&](uint32_t /*lanes*/, auto& value, const auto& end) { settled &= agrees(value, end, variable, result.groups); }, written,
        start, warp_.state);
  }
  --folding_;
  if (!settled || !repeats) {
    restore();
    return false;
  }
  // No decision in the group depends on the number of groups.
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
  for_each_value([&](uint32_t lanes, auto& value) { advance(value, variable, result.groups, loop, lanes); }, written, result.after);
  return true;
}

}  // namespace warpfold::sass
