#include "traces/import/warp.h"

#include <bit>

#include "configs/escape/quoted.h"
#include "traces/import/arithmetic.h"

namespace warpfold::sass {
namespace {

using Kind = Source::Kind;

const Word kZero{};

bool of_register(const Source& source) { return source.kind == Kind::kRegister || source.kind == Kind::kUniform; }

}  // namespace

Narrow Narrow::of_modifiers(const Op& op) {
  if (op.has("U8") || op.has("S8")) return {1, op.has("S8")};
  if (op.has("U16") || op.has("S16")) return {2, op.has("S16")};
  return {};
}

uint32_t Narrow::of(uint32_t word) const {
  const uint32_t above = 32 - 8 * bytes;
  return is_signed ? static_cast<uint32_t>(static_cast<int32_t>(word << above) >> above) : word << above >> above;
}

Warp::Warp(const LaunchFacts& facts, std::array<uint32_t, 3> place, uint32_t warp, int registers, int uniform_registers)
    : launch(facts), cta(place), index(warp) {
  state.registers.assign(static_cast<size_t>(registers), Word::nothing(-1));
  state.uniform.assign(static_cast<size_t>(uniform_registers), Word::nothing(-1));
  state.predicates.fill(Bits::nothing(-1));
  state.uniform_predicates.fill(Bits::nothing(-1));
}

const Word& Warp::word(const Source& source, uint32_t further) const {
  if (source.index == isa::kZeroRegister) return kZero;
  const size_t number = size_t{source.index} + further;
  if (source.kind == Kind::kUniform) return number < state.uniform.size() ? state.uniform[number] : kZero;
  return number < state.registers.size() ? state.registers[number] : kZero;
}

Word Warp::read(const Source& source, const Op& op) const { return read_next(source, op, 0); }

Word Warp::read_next(const Source& source, const Op& op, uint32_t further) const {
  if (source.kind == Kind::kImmediate) {
    // The sign of an immediate extends into the upper word of a 64-bit operand.
    return Word::of(further == 0 ? source.immediate : 0 - (source.immediate >> 31));
  }
  const auto plain = [&](uint32_t which) {
    return source.kind == Kind::kConstant ? constant(source, op, which)
           : of_register(source)          ? word(source, which)
                                          : Word::nothing(op.index);
  };
  Word value = plain(further);
  if (source.negated && further == 0) value = negated(value);
  // -(high, low) = (~high + (low == 0), -low)
  if (source.negated && further > 0)
    value = with_carry(inverted(value), compared(plain(further - 1), Word::of(0), Relation::kEqual, false, extents));
  if (source.inverted) value = inverted(value);
  return value;
}

Word Warp::constant_offset(const Source& source, uint32_t further) const {
  Word offset = Word::of(source.immediate + 4 * further);
  if (source.index != isa::kZeroRegister && static_cast<size_t>(source.index) < state.registers.size()) {
    offset = sum(offset, state.registers[source.index]);
  }
  if (source.uniform != isa::kZeroRegister && source.uniform < state.uniform.size()) {
    offset = sum(offset, state.uniform[source.uniform]);
  }
  return offset;
}

Word Warp::constant(const Source& source, const Op& op, uint32_t further, Narrow narrow) const {
  const Word offset = constant_offset(source, further);
  Word result = tainted({&offset});
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((result.unknown >> lane & 1) != 0) continue;
    const uint32_t part = narrow.bytes == 4 ? 0 : offset.lane[lane] % 4;
    const uint32_t at = offset.lane[lane] - part;
    const auto found = at < kBankBytes ? launch.constants.find(source.bank * kBankBytes + at) : launch.constants.end();
    if (found == launch.constants.end()) {
      result.unknown |= 1U << lane;
      result.origin = op.index;
      continue;
    }
    if (found->second.inverse >= 0) {
      result.unknown |= 1U << lane;
      result.origin = kInverse - found->second.inverse;
    }
    result.lane[lane] = narrow.of(found->second.value >> 8 * part);
    if (found->second.array < 0 || narrow.bytes < 4) continue;
    result.array = found->second.array;
    result.pointing |= 1U << lane;
  }
  return result;
}

Bits Warp::read_bits(const Source& source) const {
  Bits bits = Bits::of(true);
  if (source.index < isa::kTruePredicate) {
    bits = source.kind == Kind::kUniformPredicate ? state.uniform_predicates[source.index] : state.predicates[source.index];
  }
  if (source.inverted) bits.lanes = ~bits.lanes;
  return bits;
}

void Warp::write(const Source& destination, const Word& value, uint32_t mask, uint32_t further) {
  if (destination.index == isa::kZeroRegister || !of_register(destination)) return;
  if (mask != 0) mask |= ~alive;  // the registers of ended lanes do not matter
  const size_t number = size_t{destination.index} + further;
  if (destination.kind == Kind::kUniform) {
    if (number < state.uniform.size()) merge(state.uniform[number], value, mask != 0 ? kAllLanes : 0);
  } else if (number < state.registers.size()) {
    merge(state.registers[number], value, mask);
  }
}

void Warp::write(const Source& destination, const Bits& value, uint32_t mask) {
  if (destination.index >= isa::kTruePredicate) return;
  if (mask != 0) mask |= ~alive;
  if (destination.kind == Kind::kUniformPredicate) {
    merge(state.uniform_predicates[destination.index], value, mask != 0 ? kAllLanes : 0);
  } else if (destination.kind == Kind::kPredicate) {
    merge(state.predicates[destination.index], value, mask);
  }
}

Warp::Address Warp::address(const Source& source) const {
  Address address{Word::of(source.immediate), Word::of(0 - (source.immediate >> 31))};
  const auto add = [&](const Word& low, const Word& high) {
    const Carried added = add_carrying(address.low, low, Bits::of(false), extents);
    address.high = with_carry(sum(address.high, high), added.carry);
    address.low = added.sum;
  };
  const bool has_register = source.index != isa::kZeroRegister;
  const auto at = [](const std::vector<Word>& words, size_t number) { return number < words.size() ? words[number] : Word{}; };
  if (has_register) {
    const Word low = at(state.registers, source.index);
    const Word high = source.wide ? at(state.registers, source.index + 1U) : Word{};
    add(source.scale > 1 ? scaled(low, source.scale) : low, high);
  }
  if (source.uniform < state.uniform.size()) {
    const bool pair = source.wide || (has_register && source.unsigned_index) || source.text.find("UR") < source.text.find(".64");
    const bool wide = pair && ((source.wide && !has_register) || source.text.find(".64") != std::string_view::npos);
    add(state.uniform[source.uniform],
        wide && source.uniform + 1U < state.uniform.size() ? state.uniform[source.uniform + 1U] : Word{});
  }
  return address;
}

Bits Warp::guard_bits(const Op& op) const {
  const isa::Guard& guard = op.instruction->guard;
  if (!guard.present) return Bits::of(true);
  Source source;
  source.kind = guard.uniform ? Kind::kUniformPredicate : Kind::kPredicate;
  source.index = guard.predicate;
  source.inverted = guard.negated;
  return read_bits(source);
}

uint32_t Warp::decide(const Bits& bits, uint32_t mask, const Op& op) {
  if ((bits.unknown & mask) != 0) {
    const AnswerFacts* answer = launch.answer(op.line, AnswerFacts::Kind::kTaken);
    if (answer == nullptr && op.slow != Op::Slow::kNone) return without_slow_path(bits, mask, op);
    if (answer == nullptr) return both_ways(bits, mask, op);
    // Taken executions are evenly spread: with 1 of 4 taken, the last of each four.
    uint32_t& count = state.executions[op.index];
    const uint64_t taken = static_cast<uint64_t>(answer->value);
    const bool now = (count + 1) * taken / answer->of > count * taken / answer->of;
    count = (count + 1) % answer->of;
    return mask & (now ? bits.lanes | bits.unknown : bits.lanes & ~bits.unknown);
  }
  const auto varies = static_cast<uint8_t>(variables_of(bits.varying, mask) & ~sampled);
  if (varies != 0) throw NotLinear{varies};
  const Extents before = extents;
  extents = smaller(extents, bits.limit);
  for (size_t v = 0; v < kCtaVariables; ++v) {
    if ((sampled >> v & 1) != 0) extents[v] = before[v];
  }
  return bits.lanes & mask;
}

bool Warp::asks(const Question& question) const {
  if (survey == nullptr || question.origin <= kLost) return false;
  survey->push_back(question);
  return true;
}

uint32_t Warp::without_slow_path(const Bits& bits, uint32_t mask, const Op& op) const {
  const bool taken = op.slow == Op::Slow::kFallThrough;
  assumed.try_emplace(op.line, escape::unquoted(op.instruction->mnemonic) + ": the slow path of the compiler's (" +
                                   std::string(op.slow_reason) + ") is not taken");
  return mask & (taken ? bits.lanes | bits.unknown : bits.lanes & ~bits.unknown);
}

// Lanes with an unknown decision split in half; a single lane alternates. This makes loops end.
uint32_t Warp::both_ways(const Bits& bits, uint32_t mask, const Op& op) {
  if (!asks({op.index, bits.origin, Question::Kind::kTaken})) throw UnknownValue{op.index, bits.origin};
  const uint32_t open = bits.unknown & mask;
  uint32_t half = open;
  for (int lanes = std::popcount(open) / 2; lanes > 0; --lanes) half &= half - 1;
  uint32_t& count = state.executions[op.index];
  if (half == open) half = count == 0 ? open : 0;
  count ^= 1;
  return (bits.lanes & mask & ~open) | half;
}

uint32_t Warp::guarded(const Op& op, uint32_t mask) {
  return op.instruction->guard.present ? decide(guard_bits(op), mask, op) : mask;
}

Word Warp::thread_index(int dimension) const {
  Word word;
  const std::array<uint32_t, 3>& block = launch.block;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t thread = index * kLanes + lane;
    word.lane[lane] = dimension == 0   ? thread % block[0]
                      : dimension == 1 ? thread / block[0] % block[1]
                                       : thread / block[0] / block[1];
  }
  return word;
}

// PTX ISA, %cluster_ctarank.
uint32_t Warp::rank() const {
  uint32_t rank = 0;
  for (size_t d = 3; d-- > 0;) rank = rank * launch.cluster[d] + cta[d] % launch.cluster[d];
  return rank;
}

// A CTA that is alone in its box has a constant index.
Word Warp::cta_index(int dimension) const {
  const auto d = static_cast<size_t>(dimension);
  Word word = Word::of(cta[d]);
  if (extents[d] > 1) word.slope[d] = launch.cluster[d];
  return word;
}

Word Warp::cluster_index(int dimension) const {
  const auto d = static_cast<size_t>(dimension);
  Word word = Word::of(cta[d] / launch.cluster[d]);
  if (extents[d] > 1) word.slope[d] = 1;
  return word;
}

Word Warp::lane_index() const {
  Word word;
  for (uint32_t lane = 0; lane < kLanes; ++lane) word.lane[lane] = lane;
  return word;
}

}  // namespace warpfold::sass
