#include "traces/import/follower.h"

#include <algorithm>
#include <bit>

#include "configs/escape/quoted.h"
#include "traces/import/effects.h"
#include "traces/import/execute.h"
#include "traces/import/mbarriers.h"

namespace warpfold::sass {
namespace {

constexpr size_t kMostTouches = 200'000;

bool decides_memory(const Op& op) {
  const isa::Behaviour behaviour = op.behaviour;
  return behaviour == isa::Behaviour::kLoadGlobal || behaviour == isa::Behaviour::kStoreGlobal ||
         behaviour == isa::Behaviour::kCopyAsync || behaviour == isa::Behaviour::kBarrierSync ||
         behaviour == isa::Behaviour::kBarrierArrive || behaviour == isa::Behaviour::kBulkLoad ||
         behaviour == isa::Behaviour::kBulkStore || uses_mbarrier(op);
}

// Returns one of the answer's values, selected by 32 random bits.
uint32_t drawn_number(const AnswerFacts& answer, uint32_t bits) {
  const auto below = [bits](uint64_t count) { return static_cast<uint32_t>(bits * count >> 32); };
  uint32_t which = 0;
  if (answer.likely.empty()) {
    which = below(static_cast<uint32_t>(answer.value));
  } else {
    const auto first = answer.likely.begin();
    which = static_cast<uint32_t>(std::ranges::upper_bound(answer.likely, below(answer.likely.back())) - first);
  }
  return answer.numbers.empty() ? which : answer.numbers[which];
}

// Returns a value for each lane. Bits are mixed as in Steele, Lea and Flood's SplitMix (OOPSLA 2014).
Word drawn_numbers(int place, uint32_t warp, const AnswerFacts& answer) {
  Word word;
  word.drawn = true;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    uint64_t bits = (uint64_t{static_cast<uint32_t>(place)} << 32 | (warp * kLanes + lane)) * 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    bits ^= bits >> 31;
    word.lane[lane] = drawn_number(answer, static_cast<uint32_t>(bits >> 32));
  }
  return word;
}

}  // namespace

Path Follower::follow(uint32_t mask) {
  Path path;
  warp_.alive = mask;
  run_region(-1, 0, mask, path);
  return path;
}

Follower::Lanes Follower::run_region(int loop, int entry, uint32_t mask, Path& path) {
  Lanes lanes;
  Arrivals pending{{flow_.blocks[static_cast<size_t>(entry)].rank, {mask, 1}}};  // by rank
  std::map<int, int> at_rank{{pending.begin()->first, entry}};
  const auto arrive = [&](int block, const Arrival& who) {
    if (who.lanes == 0) return;
    const bool inside = loop < 0 || flow_.loops[static_cast<size_t>(loop)].members[static_cast<size_t>(block)];
    if (loop >= 0 && block == flow_.loops[static_cast<size_t>(loop)].header) {
      lanes.back |= who.lanes;
    } else if (!inside) {
      lanes.left[block].add(who);
    } else {
      const int rank = flow_.blocks[static_cast<size_t>(block)].rank;
      pending[rank].add(who);
      at_rank[rank] = block;
    }
  };
  bool first = true;
  while (!pending.empty()) {
    const auto [rank, who] = *pending.begin();
    pending.erase(pending.begin());
    const int block = at_rank.at(rank);
    const int inner = flow_.loop_at(block);
    Arrivals next;
    if (inner >= 0 && !(first && inner == loop)) {
      next = run_loop(inner, who.lanes, path);
    } else {
      run_block(flow_.blocks[static_cast<size_t>(block)], who, path, next);
    }
    first = false;
    for (const auto& [to, arrived] : next) arrive(to, {arrived.lanes & warp_.alive, arrived.groups});
  }
  return lanes;
}

void Follower::run_block(const FlowBlock& block, const Arrival& arrived, Path& path, Arrivals& next) {
  const uint32_t mask = arrived.lanes;
  if (const Op& first = ops_[static_cast<size_t>(block.first)]; first.instruction->mnemonic.starts_with("BSYNC")) {
    for (uint32_t group = 1; group < arrived.groups; ++group) execute(first, mask, path);
  }
  for (int i = block.first; i < block.end; ++i) {
    const Op& op = ops_[static_cast<size_t>(i)];
    if (++executed_ > limits_.instructions) throw EndlessLoop{i};
    if (op.unreadable != nullptr) throw Unreadable{i};
    if (i + 1 == block.end && (op.behaviour == isa::Behaviour::kBranch || op.behaviour == isa::Behaviour::kExit)) {
      return finish_block(op, block, mask, path, next);
    }
    if (op.instruction->mnemonic == "WARPSYNC.EXCLUSIVE") {
      i = run_in_turn(i, block.end, mask, path);
    } else {
      execute(op, mask, path);
    }
  }
  next[flow_.block_at[static_cast<size_t>(block.end)]].add({mask, 1});
}

// WARPSYNC.EXCLUSIVE R: lanes with the same mask in R run alone up to the next BSYNC, one group after another. Returns
// the last instruction that they run in this way.
int Follower::run_in_turn(int warpsync, int end, uint32_t mask, Path& path) {
  const Op& op = ops_[static_cast<size_t>(warpsync)];
  const Word of_lanes = op.sources.empty() ? Word::of(kAllLanes) : warp_.read(op.sources.front(), op);
  if ((of_lanes.unknown & mask) != 0) throw UnknownValue{warpsync, of_lanes.origin};
  std::map<uint32_t, uint32_t> groups;  // lanes by their masks
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1) != 0) groups[of_lanes.lane[lane]] |= 1U << lane;
  }
  int last = warpsync;
  while (last < end && !ops_[static_cast<size_t>(last)].instruction->mnemonic.starts_with("BSYNC")) ++last;
  if (last == end) {
    if (groups.size() > 1) throw NotFollowed{warpsync, "lanes run in turn across a branch; compile without it, or record a trace"};
    last = warpsync;
  }
  for (const auto& [unused, lanes] : groups) {
    for (int i = warpsync; i <= last; ++i) execute(ops_[static_cast<size_t>(i)], lanes, path);
  }
  return last;
}

// Executes the branch or EXIT at the end of a block. BRA P0, L, with a predicate as an operand, jumps if both P0 and
// the guard are true.
void Follower::finish_block(const Op& op, const FlowBlock& block, uint32_t mask, Path& path, Arrivals& next) {
  uint32_t taken = op.has("DIV") ? 0 : warp_.guarded(op, mask);
  for (const Source& source : op.sources) {
    if (op.behaviour == isa::Behaviour::kBranch && !op.has("DIV") && is_predicate(source))
      taken &= warp_.decide(warp_.read_bits(source), taken, op);
  }
  if (op.behaviour == isa::Behaviour::kExit) {
    warp_.alive &= ~taken;
    issue({.op = op.index, .off = warp_.alive != 0, .ends = warp_.alive == 0, .effect = {}}, path);
  } else {
    issue({.op = op.index, .off = false, .ends = false, .effect = {}}, path);
    if (taken != 0 && op.too_deep) {
      throw NotFollowed{
          op.index, "a recursion deeper than the importer follows; if its depth hangs on data, answer at the branch that ends it"};
    }
    if (!op.indirect.empty()) {
      jump_by_register(op, taken, next);
    } else if (taken != 0 && op.target < 0) {
      throw NotFollowed{op.index, "the listing does not have the code of " + escape::unquoted(op.callee) +
                                      ", which is called here; link it in and disassemble all, or compile without it"};
    }
    if (taken != 0 && op.indirect.empty()) next[flow_.block_at[static_cast<size_t>(op.target)]].add({taken, 1});
  }
  if ((mask & ~taken) != 0) next[flow_.block_at[static_cast<size_t>(block.end)]].add({mask & ~taken, 1});
}

// BRX: each lane jumps to the target in its register.
void Follower::jump_by_register(const Op& op, uint32_t mask, Arrivals& next) {
  const Word to = warp_.read(op.sources.front(), op);
  const bool asked = (to.unknown & mask) != 0;
  if (asked && !warp_.asks({op.index, to.origin, Question::Kind::kTarget})) throw UnknownValue{op.index, to.origin};
  if (const auto varies = static_cast<uint8_t>(to.depends(mask) & ~warp_.sampled); varies != 0) throw NotLinear{varies};
  std::map<int, uint32_t> lanes_to;  // by position
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    auto target = op.indirect.begin() + static_cast<std::ptrdiff_t>(lane % op.indirect.size());  // a survey takes every direction
    if ((to.unknown >> lane & 1) == 0)
      target = std::ranges::find(op.indirect, to.lane[lane] + op.addend, &Op::IndirectTarget::offset);
    if (target == op.indirect.end()) throw NotFollowed{op.index, "its target is none of those that the listing names"};
    lanes_to[target->position] |= 1U << lane;
  }
  for (const auto& [position, lanes] : lanes_to) next[flow_.block_at[static_cast<size_t>(position)]].add({lanes, 1});
}

// Marks the results of an instruction as unknown, because its guard is unknown.
void Follower::forget_results(const Op& op, const Bits& guard, uint32_t mask) {
  for (const Source& destination : op.destinations) {
    if (is_predicate(destination)) {
      warp_.write(destination, Bits::nothing(guard.origin), mask);
    } else {
      for (uint32_t i = 0; i < destination_words(op); ++i) warp_.write(destination, Word::nothing(guard.origin), mask, i);
    }
  }
}

// Marks the results as varying with the variables of the guard, whether the instruction is executed or not.
void Follower::vary_results(const Op& op, const LaneSets& varying, uint32_t mask) {
  for (const Source& destination : op.destinations) {
    if (is_predicate(destination)) {
      Bits bits = warp_.read_bits(destination);
      bits.varying = united(bits.varying, varying);
      warp_.write(destination, bits, mask);
      continue;
    }
    for (uint32_t i = 0; i < destination_words(op); ++i) {
      Word word = warp_.read_next(destination, op, i);
      word.varying = united(word.varying, varying);
      warp_.write(destination, word, mask, i);
    }
  }
}

void Follower::execute(const Op& op, uint32_t mask, Path& path) {
  const Bits guard = warp_.guard_bits(op);
  const bool alone = !decides_memory(op) && !warp_.launch.answers.contains(op.line);
  // An instruction that only computes needs no decision.
  if (alone && (guard.unknown & mask) != 0) {
    if (is_shared_access(op) && !warp_.asks({op.index, guard.origin, Question::Kind::kTaken}))
      throw UnknownValue{op.index, guard.origin};
    forget_results(op, guard, mask);
    issue({.op = op.index, .off = false, .ends = false, .effect = effect_of(warp_, op, mask, nullptr)}, path);
    return;
  }
  const bool open = alone && variables_of(guard.varying, mask) != 0;
  const uint32_t active = open ? guard.lanes & mask : warp_.guarded(op, mask);
  const size_t touched = touches_.size();
  std::vector<Touch>* touches = touched < kMostTouches ? &touches_ : nullptr;
  Step step{.op = op.index, .off = active == 0 && !open, .ends = false, .effect = effect_of(warp_, op, active, touches)};
  if (active != 0) step.mbarrier = mbarrier_use(warp_, op, active);
  for (size_t i = touched; i < touches_.size(); ++i) touches_[i].step = issued_;
  issue(step, path);
  if (active != 0) compute(op, active);
  if (open) vary_results(op, guard.varying, mask);
}

void Follower::issue(const Step& step, Path& path) {
  add_step(path, step);
  ++issued_;
}

void Follower::compute(const Op& op, uint32_t active) {
  if (const AnswerFacts* answer = warp_.launch.answer(op.line, AnswerFacts::Kind::kValue); answer != nullptr) {
    const auto value = static_cast<uint64_t>(answer->value);
    for (uint32_t i = 0; i < destination_words(op) && !op.destinations.empty(); ++i) {
      warp_.write(op.destinations.front(), Word::of(static_cast<uint32_t>(i == 0 ? value : i == 1 ? value >> 32 : 0)), active, i);
    }
    return;
  }
  if (const AnswerFacts* answer = warp_.launch.answer(op.line, AnswerFacts::Kind::kUniform); answer != nullptr) {
    const uint32_t words = op.destinations.empty() ? 0 : destination_words(op);
    if (!answer->likely.empty() || !answer->numbers.empty()) {
      warp_.assumed.try_emplace(op.line, escape::unquoted(op.instruction->mnemonic) +
                                             ": of addresses that hang on the numbers drawn, all are taken to be equally likely");
    }
    for (uint32_t i = 0; i < words; ++i) {
      const bool upper = words == 2 && i == 1;
      const Word drawn = drawn_numbers(op.line * 4 + static_cast<int>(i), warp_.index, *answer);
      warp_.write(op.destinations.front(), upper ? Word::of(0) : drawn, active, i);
    }
    return;
  }
  if (op.execute != nullptr) return op.execute(warp_, op, active);
  Bits nothing = Bits::nothing(op.index);
  forget_results(op, nothing, active);
}

}  // namespace warpfold::sass
