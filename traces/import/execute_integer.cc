#include <algorithm>
#include <bit>

#include "traces/import/execute.h"

// Integer arithmetic. Semantics: CUDA Binary Utilities, "Instruction Set Reference", and compiled code.

namespace warpfold::sass {
namespace {

using Kind = Source::Kind;

// Returns the predicates among the sources, in written order.
std::vector<Bits> carries_in(const Warp& warp, const Op& op) {
  std::vector<Bits> carries;
  for (const Source& source : op.sources) {
    if (is_predicate(source)) carries.push_back(warp.read_bits(source));
  }
  return carries;
}

// Reads a negated addend: -R4 is ~R4 + 1, and the addition of 1 can carry.
Word addend(const Warp& warp, const Op& op, Source source, Bits& one) {
  one = Bits::of(source.negated);
  source.inverted ^= source.negated;
  source.negated = false;
  return warp.read(source, op);
}

// Sums of register pairs: IADD.64 R4, R6, -R62; UIADD3.64 UR4, UPT, UPT, UR18, 0x10, URZ.
void add_pairs(Warp& warp, const Op& op, uint32_t mask) {
  Halves total{Word::of(0), Word::of(0)};
  for (Source source : op.sources) {
    if (is_predicate(source)) continue;
    Bits one = Bits::of(false);
    const Word low = addend(warp, op, source, one);
    source.inverted ^= source.negated;
    source.negated = false;
    const Carried step = add_carrying(total.low, low, one, warp.extents);
    total = {step.sum, with_carry(sum(total.high, warp.read_next(source, op, 1)), step.carry)};
  }
  const bool followed = !op.has("X");  // carries in are not followed
  for (const Source& destination : op.destinations) {
    if (is_predicate(destination)) {
      warp.write(destination, Bits::nothing(op.index), mask);
    } else {
      warp.write(destination, followed ? total.low : Word::nothing(op.index), mask);
      warp.write(destination, followed ? total.high : Word::nothing(op.index), mask, 1);
    }
  }
}

void iadd3(Warp& warp, const Op& op, uint32_t mask) {
  if (op.has("64")) return add_pairs(warp, op, mask);
  std::vector<Bits> in = op.has("X") ? carries_in(warp, op) : std::vector<Bits>{};
  Word total = Word::of(0);
  Bits out = Bits::of(false);
  Bits again = Bits::of(false);
  const auto add = [&](const Word& word, const Bits& carry) {
    const Carried step = add_carrying(total, word, carry, warp.extents);
    total = step.sum;
    again = either(again, both(out, step.carry));
    out = either(out, step.carry);
  };
  size_t words = 0;
  for (const Source& source : op.sources) {
    if (is_predicate(source)) continue;
    Bits one = Bits::of(false);
    const Word word = addend(warp, op, source, one);
    if (words == 0 && one.lanes == 0) {
      total = word;
    } else {
      add(word, one);
    }
    ++words;
  }
  for (const Bits& carry : in) add(Word::of(0), carry);
  size_t predicates = 0;
  for (const Source& destination : op.destinations) {
    if (is_predicate(destination)) {
      warp.write(destination, predicates++ == 0 ? out : again, mask);
    } else {
      warp.write(destination, total, mask);
    }
  }
}

// True for several numbers in a register (U16x2, S8x4) and for clamps. The results of these instructions are unknown.
bool is_packed(const Op& op) {
  return std::ranges::any_of(op.modifiers, [](std::string_view modifier) {
    return modifier.ends_with("x2") || modifier.ends_with("x4") || modifier == "RELU" || modifier == "SAT";
  });
}

void iadd(Warp& warp, const Op& op, uint32_t mask) {
  if (is_packed(op)) return warp.write(op.destinations.at(0), Word::nothing(op.index), mask);
  warp.write(op.destinations.at(0), sum(warp.read(word_source(op, 0), op), warp.read(word_source(op, 1), op)), mask);
}

void imad_wide(Warp& warp, const Op& op, uint32_t mask) {
  const Source& addend = word_source(op, 2);
  const Halves result = wide_product(warp.read(word_source(op, 0), op), warp.read(word_source(op, 1), op), warp.read(addend, op),
                                     warp.read_next(addend, op, 1), !op.has("U32"), warp.extents);
  Halves carried = result;
  for (const Bits& carry : op.has("X") ? carries_in(warp, op) : std::vector<Bits>{}) {
    const Carried low = add_carrying(carried.low, Word::of(0), carry, warp.extents);
    carried = {low.sum, with_carry(carried.high, low.carry)};
  }
  const Source& destination = op.destinations.at(0);
  if (op.has("HI")) {
    warp.write(destination, carried.high, mask);
  } else {
    warp.write(destination, carried.low, mask);
    warp.write(destination, carried.high, mask, 1);
  }
  for (size_t i = 1; i < op.destinations.size(); ++i) {
    // The carry out of 64 bits comes from the addition of the addend.
    if (is_predicate(op.destinations[i])) warp.write(op.destinations[i], carry_of_sum(warp, op, result), mask);
  }
}

void imad(Warp& warp, const Op& op, uint32_t mask) {
  if (op.has("WIDE") || op.has("HI")) return imad_wide(warp, op, mask);
  Word result =
      sum(product(warp.read(word_source(op, 0), op), warp.read(word_source(op, 1), op)), warp.read(word_source(op, 2), op));
  if (op.has("X")) {
    for (const Bits& carry : carries_in(warp, op)) result = with_carry(result, carry);
  }
  warp.write(op.destinations.at(0), result, mask);
}

// LEA: (a << s) + b. LEA.HI: the high word of ({c, a} << s), plus b.
void lea(Warp& warp, const Op& op, uint32_t mask) {
  const bool high = op.has("HI");
  const Word a = warp.read(word_source(op, 0), op);
  const bool extended = op.has("SX32");
  const uint32_t shift = word_source(op, high && !extended ? 3 : 2).immediate & 31;
  Bits one = Bits::of(false);
  const Word b = addend(warp, op, word_source(op, 1), one);
  Word shifted = scaled(a, uint32_t{1} << shift);
  if (high) {
    const Word upper = extended ? shifted_right(a, 31, true, warp.extents) : warp.read(word_source(op, 2), op);
    // Bits of `a` that reach the high word, and bits of `upper` that stay in it.
    const Word low_part = shift == 0 ? Word::of(0) : shifted_right(a, 32 - shift, false, warp.extents);
    shifted = sum(scaled(upper, uint32_t{1} << shift), low_part);
  }
  Bits carry = one;
  if (op.has("X")) {
    for (const Bits& in : carries_in(warp, op)) carry = either(carry, in);
  }
  const Carried result = add_carrying(shifted, b, carry, warp.extents);
  for (const Source& destination : op.destinations) {
    if (is_predicate(destination)) {
      warp.write(destination, result.carry, mask);
    } else {
      warp.write(destination, result.sum, mask);
    }
  }
}

Relation relation_of(const Op& op) {
  constexpr std::array<std::pair<std::string_view, Relation>, 8> kNames{{{"F", Relation::kFalse},
                                                                         {"LT", Relation::kLess},
                                                                         {"EQ", Relation::kEqual},
                                                                         {"LE", Relation::kLessEqual},
                                                                         {"GT", Relation::kGreater},
                                                                         {"NE", Relation::kNotEqual},
                                                                         {"GE", Relation::kGreaterEqual},
                                                                         {"T", Relation::kTrue}}};
  for (const auto& [name, relation] : kNames) {
    if (op.has(name)) return relation;
  }
  return Relation::kTrue;
}

void isetp(Warp& warp, const Op& op, uint32_t mask) {
  const Word a = warp.read(word_source(op, 0), op);
  const Word b = warp.read(word_source(op, 1), op);
  const std::vector<Bits> in = carries_in(warp, op);
  if (op.has("S64") || op.has("U64")) {
    const Bits low = compared(a, b, relation_of(op), false, warp.extents);
    const Bits whole = compared_high(warp.read_next(word_source(op, 0), op, 1), warp.read_next(word_source(op, 1), op, 1),
                                     relation_of(op), op.has("S64"), low, warp.extents);
    return write_combined(warp, op, whole, in.empty() ? Bits::of(true) : in[0], mask);
  }
  const bool is_signed = !op.has("U32");
  Bits result = op.has("EX") && in.size() > 1 ? compared_high(a, b, relation_of(op), is_signed, in[1], warp.extents)
                                              : compared(a, b, relation_of(op), is_signed, warp.extents);
  write_combined(warp, op, result, in.empty() ? Bits::of(true) : in[0], mask);
}

void write_unknown(Warp& warp, const Op& op, uint32_t mask) {
  for (const Source& destination : op.destinations) {
    if (is_predicate(destination)) {
      warp.write(destination, Bits::nothing(op.index), mask);
    } else {
      warp.write(destination, Word::nothing(op.index), mask);
    }
  }
}

// Writes the smaller operand if the predicate is true, else the larger. Predicates after the result, which name the
// selected operand, are unknown.
void write_extreme(Warp& warp, const Op& op, const Word& a, const Word& b, uint32_t mask) {
  const std::vector<Bits> in = carries_in(warp, op);
  const Bits less = compared(a, b, Relation::kLess, !op.has("U32"), warp.extents);
  const Bits first = differ(less, inverted_bits(in.empty() ? Bits::of(true) : in[0]));
  for (const Source& destination : op.destinations) {
    if (is_predicate(destination)) {
      warp.write(destination, Bits::nothing(op.index), mask);
    } else {
      warp.write(destination, selected(a, b, first), mask);
    }
  }
}

void imnmx(Warp& warp, const Op& op, uint32_t mask) {
  if (is_packed(op)) return write_unknown(warp, op, mask);
  write_extreme(warp, op, warp.read(word_source(op, 0), op), warp.read(word_source(op, 1), op), mask);
}

// VIADDMNMX R2, R3, R4, R5, !PT: the larger of R3 + R4 and R5.
void viaddmnmx(Warp& warp, const Op& op, uint32_t mask) {
  if (is_packed(op)) return write_unknown(warp, op, mask);
  const Word total = sum(warp.read(word_source(op, 0), op), warp.read(word_source(op, 1), op));
  write_extreme(warp, op, total, warp.read(word_source(op, 2), op), mask);
}

// REDUX.MIN.S32 UR4, R5: the sum, minimum, maximum or logic of the active lanes. Plain REDUX is a disjunction.
uint32_t reduced(const Op& op, uint32_t a, uint32_t b) {
  if (op.has("SUM")) return a + b;
  if (op.has("AND")) return a & b;
  if (op.has("XOR")) return a ^ b;
  const bool a_is_less = op.has("S32") ? static_cast<int32_t>(a) < static_cast<int32_t>(b) : a < b;
  if (op.has("MIN")) return a_is_less ? a : b;
  if (op.has("MAX")) return a_is_less ? b : a;
  return a | b;
}

void redux(Warp& warp, const Op& op, uint32_t mask) {
  const Word a = warp.read(word_source(op, 0), op);
  if ((a.unknown & mask) != 0 || op.has("F32")) return write_unknown(warp, op, mask);
  Word result = tainted({&a});
  const auto first = static_cast<size_t>(mask == 0 ? 0 : std::countr_zero(mask));
  uint32_t value = a.lane[first];
  for (size_t lane = first + 1; lane < kLanes; ++lane) {
    if ((mask >> lane & 1) != 0) value = reduced(op, value, a.lane[lane]);
  }
  result.lane.fill(value);
  result.unknown = 0;
  for (const Source& destination : op.destinations) {
    if (!is_predicate(destination)) warp.write(destination, result, mask);
  }
}

void iabs(Warp& warp, const Op& op, uint32_t mask) {
  const Word a = warp.read(word_source(op, 0), op);
  const Bits negative = compared(a, Word::of(0), Relation::kLess, true, warp.extents);
  warp.write(op.destinations.at(0), selected(negated(a), a, negative), mask);
}

}  // namespace

std::span<const Executor> integer_executors() {
  static constexpr std::array kTable{
      Executor{"IADD3", iadd3},         Executor{"IADD32I", iadd}, Executor{"VIADD", iadd},
      Executor{"IMAD", imad},           Executor{"LEA", lea},      Executor{"ISETP", isetp},
      Executor{"IMNMX", imnmx},         Executor{"VIMNMX", imnmx}, Executor{"IABS", iabs},
      Executor{"IADD", iadd3},          Executor{"ISCADD", lea},   Executor{"ISCADD32I", lea},
      Executor{"VIADDMNMX", viaddmnmx}, Executor{"REDUX", redux},  Executor{"CREDUX", redux},
  };
  return kTable;
}

}  // namespace warpfold::sass
