#include "traces/import/execute.h"

#include <algorithm>
#include <bit>

// Logic, shifts, permutations, bit counts, and predicates as words.

namespace warpfold::sass {
namespace {

// Applies a look-up table bit by bit: bit (4 a + 2 b + c) of the table is the result.
uint32_t looked_up(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (uint32_t row = 0; row < 8; ++row) {
    if ((table >> row & 1) == 0) continue;
    result |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
  }
  return result;
}

bool constant(const Word& word) { return word.depends() == 0; }
bool fixed(const Word& word) {
  return constant(word) && word.unknown == 0 && std::ranges::count(word.lane, word.lane[0]) == kLanes;
}

// Keeps the result of a bitwise function linear if possible. One operand, `moving`, moves with variables and the others
// do not. Its bits below the smallest step are constant. If the function passes, drops or inverts all moving bits, the
// result moves linearly, as in: a CTA's base | a thread's offset.
template <typename Function>
void keep_linear(const Word& moving, Function function, Word& result) {
  uint32_t slopes = 0;
  for (const uint32_t slope : moving.slope) slopes |= slope;
  if (slopes == 0) return;
  const uint32_t moves = ~((uint32_t{1} << std::countr_zero(slopes)) - 1);
  bool passed = true;
  bool dropped = true;
  bool turned = true;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((result.unknown >> lane & 1) != 0) continue;
    const uint32_t zeros = function(0, lane) & moves;
    const uint32_t ones = function(~uint32_t{0}, lane) & moves;
    passed &= zeros == 0 && ones == moves;
    turned &= zeros == moves && ones == 0;
    dropped &= zeros == ones;
  }
  if (!passed && !dropped && !turned) return;
  result.varying = moving.varying;
  for (int v = 0; v < kVariables && !dropped; ++v) result.slope[v] = passed ? moving.slope[v] : 0 - moving.slope[v];
}

void lop3(Warp& warp, const Op& op, uint32_t mask) {
  const bool three = word_source(op, 3).kind == Source::Kind::kImmediate;
  const std::array<Word, 3> in{warp.read(word_source(op, 0), op), warp.read(word_source(op, 1), op),
                               three ? warp.read(word_source(op, 2), op) : Word::of(0)};
  const uint32_t table = word_source(op, three ? 3 : 2).immediate;
  Word result =
      lane_by_lane({&in[0], &in[1], &in[2]}, [&](int l) { return looked_up(in[0].lane[l], in[1].lane[l], in[2].lane[l], table); });
  result.limit = smaller(in[0].limit, smaller(in[1].limit, in[2].limit));
  if (std::ranges::count_if(in, constant) == 2) {
    const auto moving = static_cast<size_t>(std::ranges::find_if_not(in, constant) - in.begin());
    keep_linear(
        in[moving],
        [&](uint32_t value, int l) {
          std::array<uint32_t, 3> bits{in[0].lane[l], in[1].lane[l], in[2].lane[l]};
          bits[moving] = value;
          return looked_up(bits[0], bits[1], bits[2], table);
        },
        result);
  }
  const bool tested = std::ranges::any_of(op.destinations, is_predicate);
  const Bits nonzero = tested ? compared(result, Word::of(0), Relation::kNotEqual, false, warp.extents) : Bits{};
  Bits with = Bits::of(false);
  for (const Source& source : op.sources) {
    if (is_predicate(source)) with = warp.read_bits(source);
  }
  for (const Source& destination : op.destinations) {
    if (is_predicate(destination)) {
      warp.write(destination, op.has("PAND") ? both(nonzero, with) : either(nonzero, with), mask);
    } else {
      warp.write(destination, result, mask);
    }
  }
}

void lop32i(Warp& warp, const Op& op, uint32_t mask) {
  const Word a = warp.read(word_source(op, 0), op);
  const Word b = warp.read(word_source(op, 1), op);
  const bool is_and = op.has("AND");
  const bool is_or = op.has("OR");
  warp.write(op.destinations.at(0),
             lane_by_lane({&a, &b},
                          [&](int l) {
                            return is_and ? a.lane[l] & b.lane[l] : is_or ? a.lane[l] | b.lane[l] : a.lane[l] ^ b.lane[l];
                          }),
             mask);
}

// LOP.AND, LOP.OR, LOP.XOR. LOP.PASS_B returns its second operand.
void lop(Warp& warp, const Op& op, uint32_t mask) {
  if (!op.has("PASS_B")) return lop32i(warp, op, mask);
  warp.write(op.destinations.at(0), warp.read(word_source(op, 1), op), mask);
}

// A shift by 32 or more leaves zero, or the sign. .W takes the count modulo 32.
void shift(Warp& warp, const Op& op, uint32_t mask) {
  const Word a = warp.read(word_source(op, 0), op);
  const Word count = warp.read(word_source(op, 1), op);
  const bool left = op.base == "SHL";
  const bool is_signed = !left && !op.has("U32");
  warp.write(op.destinations.at(0),
             lane_by_lane({&a, &count},
                          [&](int l) {
                            const uint32_t n = op.has("W") ? count.lane[l] & 31 : std::min<uint32_t>(count.lane[l], 32);
                            const int64_t value = is_signed ? int64_t{static_cast<int32_t>(a.lane[l])} : int64_t{a.lane[l]};
                            return static_cast<uint32_t>(left ? uint64_t{a.lane[l]} << n : static_cast<uint64_t>(value >> n));
                          }),
             mask);
}

// Shifts {high, low} as 64 bits. .HI keeps the upper half of the result.
void shf(Warp& warp, const Op& op, uint32_t mask) {
  const Word low = warp.read(word_source(op, 0), op);
  const Word count = warp.read(word_source(op, 1), op);
  const Word high = warp.read(word_source(op, 2), op);
  const bool left = op.has("L");
  const bool is_signed = op.has("S32") || op.has("S64");
  const bool upper = op.has("HI");
  const uint32_t most = op.has("U64") || op.has("S64") ? 64 : 32;
  const auto amount = [&](uint32_t value) { return op.has("W") ? value & (most - 1) : std::min(value, most); };
  const uint32_t fixed_count = amount(count.lane[0]);
  const bool plain = fixed(count);
  if (plain && left && !upper) {  // low << n
    return warp.write(op.destinations.at(0), fixed_count >= 32 ? Word::of(0) : scaled(low, uint32_t{1} << fixed_count), mask);
  }
  if (plain && !left && upper && fixed_count <= 32) {  // high >> n
    return warp.write(op.destinations.at(0), shifted_right(high, fixed_count, is_signed, warp.extents), mask);
  }
  if (plain && left && upper && fixed_count < 32 && fixed_count > 0 && most == 64) {
    const Word carried = shifted_right(low, 32 - fixed_count, false, warp.extents);
    return warp.write(op.destinations.at(0), sum(scaled(high, uint32_t{1} << fixed_count), carried), mask);
  }
  warp.write(op.destinations.at(0),
             lane_by_lane({&low, &count, &high},
                          [&](int l) {
                            const uint64_t value = uint64_t{high.lane[l]} << 32 | low.lane[l];
                            const uint32_t n = amount(count.lane[l]);
                            uint64_t shifted = 0;
                            if (left) {
                              shifted = n >= 64 ? 0 : value << n;
                            } else if (is_signed) {
                              shifted = static_cast<uint64_t>(static_cast<int64_t>(value) >> std::min<uint32_t>(n, 63));
                            } else {
                              shifted = n >= 64 ? 0 : value >> n;
                            }
                            return static_cast<uint32_t>(upper ? shifted >> 32 : shifted);
                          }),
             mask);
}

// Each nibble of the selector selects one of eight bytes. If its top bit is set, the result is the byte's sign,
// repeated.
uint32_t permuted(uint32_t a, uint32_t selector, uint32_t b) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t nibble = selector >> 4 * i & 0xf;
    uint32_t byte = static_cast<uint32_t>(bytes >> 8 * (nibble & 7)) & 0xff;
    if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << 8 * i;
  }
  return result;
}

void prmt(Warp& warp, const Op& op, uint32_t mask) {
  const Word a = warp.read(word_source(op, 0), op);
  const Word selector = warp.read(word_source(op, 1), op);
  const Word b = warp.read(word_source(op, 2), op);
  const bool plain = op.modifiers.empty();
  Word result = lane_by_lane({&a, &selector, &b}, [&](int l) { return permuted(a.lane[l], selector.lane[l] & 0xffff, b.lane[l]); });
  if (fixed(selector) && selector.lane[0] == 0x3210) result = a;
  warp.write(op.destinations.at(0), plain ? result : Word::nothing(op.index), mask);
}

void sgxt(Warp& warp, const Op& op, uint32_t mask) {
  const Word a = warp.read(word_source(op, 0), op);
  const Word width = warp.read(word_source(op, 1), op);
  const bool is_unsigned = op.has("U32");
  warp.write(op.destinations.at(0),
             lane_by_lane({&a, &width},
                          [&](int l) -> uint32_t {
                            const uint32_t bits = op.has("W") ? width.lane[l] & 31 : std::min<uint32_t>(width.lane[l], 32);
                            if (bits == 0) return 0;
                            const uint32_t moved = a.lane[l] << (32 - bits);
                            return is_unsigned ? moved >> (32 - bits)
                                               : static_cast<uint32_t>(static_cast<int32_t>(moved) >> (32 - bits));
                          }),
             mask);
}

void bmsk(Warp& warp, const Op& op, uint32_t mask) {
  const Word place = warp.read(word_source(op, 0), op);
  const Word width = warp.read(word_source(op, 1), op);
  const auto bounded = [&](uint32_t value) { return op.has("W") ? value & 31 : std::min<uint32_t>(value, 32); };
  warp.write(op.destinations.at(0),
             lane_by_lane({&place, &width},
                          [&](int l) {
                            const uint64_t ones = (uint64_t{1} << bounded(width.lane[l])) - 1;
                            return static_cast<uint32_t>(ones << bounded(place.lane[l]));
                          }),
             mask);
}

template <typename Function>
void unary(Warp& warp, const Op& op, uint32_t mask, Function function) {
  const Word a = warp.read(word_source(op, 0), op);
  warp.write(op.destinations.at(0), lane_by_lane({&a}, [&](int l) { return static_cast<uint32_t>(function(a.lane[l])); }), mask);
}

void popc(Warp& warp, const Op& op, uint32_t mask) {
  unary(warp, op, mask, [](uint32_t value) { return std::popcount(value); });
}

void brev(Warp& warp, const Op& op, uint32_t mask) {
  unary(warp, op, mask, [](uint32_t value) {
    uint32_t result = 0;
    for (int bit = 0; bit < 32; ++bit) result |= (value >> bit & 1) << (31 - bit);
    return result;
  });
}

// FLO returns the highest set bit, or for a signed value the highest bit that differs from the sign; -1 if there is
// none. .SH returns the shift that moves this bit to bit 31.
void flo(Warp& warp, const Op& op, uint32_t mask) {
  const bool is_signed = !op.has("U32");
  const bool as_shift = op.has("SH");
  unary(warp, op, mask, [&](uint32_t value) {
    if (is_signed && static_cast<int32_t>(value) < 0) value = ~value;
    if (value == 0) return ~uint32_t{0};
    const auto leading = static_cast<uint32_t>(std::countl_zero(value));
    return as_shift ? leading : 31 - leading;
  });
}

// PLOP3.LUT P1, PT, P2, P3, UP0, 0x80, 0x0: one table per destination.
void plop3(Warp& warp, const Op& op, uint32_t mask) {
  std::vector<Bits> in;
  std::vector<uint32_t> tables;
  for (const Source& source : op.sources) {
    if (is_predicate(source)) {
      in.push_back(warp.read_bits(source));
    } else {
      tables.push_back(source.immediate);
    }
  }
  in.resize(3, Bits::of(true));
  for (size_t d = 0; d < op.destinations.size() && d < tables.size(); ++d) {
    // Only inputs that the table uses can make the result unknown: 0x80 is the conjunction of all three.
    Bits result = Bits::of(false);
    for (uint32_t row = 0; row < 8; ++row) {
      if ((tables[d] >> row & 1) == 0) continue;
      const auto taken = [&](size_t i, uint32_t bit) { return (row & bit) != 0 ? in[i] : inverted_bits(in[i]); };
      result = either(result, both(taken(0, 4), both(taken(1, 2), taken(2, 1))));
    }
    warp.write(op.destinations[d], result, mask);
  }
}

// PSETP.AND.OR P0, PT, P1, P2, P3: (P1 and P2) or P3.
void psetp(Warp& warp, const Op& op, uint32_t mask) {
  std::vector<Bits> in;
  for (const Source& source : op.sources) in.push_back(warp.read_bits(source));
  in.resize(3, Bits::of(true));
  const auto combined = [](std::string_view how, const Bits& a, const Bits& b) {
    return how == "OR" ? either(a, b) : how == "XOR" ? differ(a, b) : both(a, b);
  };
  const std::string_view first = op.modifiers.empty() ? "AND" : op.modifiers[0];
  const std::string_view second = op.modifiers.size() < 2 ? "AND" : op.modifiers[1];
  const Bits result = combined(first, in[0], in[1]);
  if (!op.destinations.empty()) warp.write(op.destinations[0], combined(second, result, in[2]), mask);
  if (op.destinations.size() > 1) warp.write(op.destinations[1], combined(second, inverted_bits(result), in[2]), mask);
}

// UR2UP UPR, UR4: the results are unknown.
void ur2up(Warp& warp, const Op& op, uint32_t /*mask*/) {
  for (Bits& bits : warp.state.uniform_predicates) bits = Bits::nothing(op.index);
}

void r2p(Warp& warp, const Op& op, uint32_t mask) {
  const Word a = warp.read(word_source(op, 1).kind == Source::Kind::kImmediate ? word_source(op, 0) : word_source(op, 1), op);
  uint32_t chosen = 0x7f;
  for (const Source& source : op.sources) {
    if (source.kind == Source::Kind::kImmediate) chosen = source.immediate;
  }
  const int byte = op.has("B1") ? 8 : op.has("B2") ? 16 : op.has("B3") ? 24 : 0;
  for (uint8_t p = 0; p < isa::kTruePredicate; ++p) {
    if ((chosen >> p & 1) == 0) continue;
    Bits bits = tainted_bits({&a});
    for (int lane = 0; lane < kLanes; ++lane) bits.lanes |= (a.lane[lane] >> (p + byte) & 1) << lane;
    merge(warp.state.predicates[p], bits, mask);
  }
}

// P2R R12, PR, R4, 0x40: replaces the selected bits of a byte of the register by predicates.
void p2r(Warp& warp, const Op& op, uint32_t mask) {
  Word result = Word::of(0);
  uint32_t chosen = 0x7f;
  for (const Source& source : op.sources) {
    if (source.kind == Source::Kind::kRegister || source.kind == Source::Kind::kUniform) result = warp.read(source, op);
    if (source.kind == Source::Kind::kImmediate) chosen = source.immediate;
  }
  const int byte = op.has("B1") ? 8 : op.has("B2") ? 16 : op.has("B3") ? 24 : 0;
  for (uint8_t p = 0; p < isa::kTruePredicate; ++p) {
    if ((chosen >> p & 1) == 0) continue;
    const uint32_t bit = uint32_t{1} << (p + byte);
    const Word set = lane_by_lane({&result}, [&](int l) { return result.lane[l] | bit; });
    const Word clear = lane_by_lane({&result}, [&](int l) { return result.lane[l] & ~bit; });
    result = selected(set, clear, op.uniform ? warp.state.uniform_predicates[p] : warp.state.predicates[p]);
  }
  warp.write(op.destinations.at(0), result, mask);
}

}  // namespace

std::span<const Executor> bit_executors() {
  static constexpr std::array kTable{
      Executor{"LOP3", lop3}, Executor{"LOP32I", lop32i}, Executor{"SHF", shf},   Executor{"PRMT", prmt},
      Executor{"SGXT", sgxt}, Executor{"BMSK", bmsk},     Executor{"POPC", popc}, Executor{"BREV", brev},
      Executor{"FLO", flo},   Executor{"PLOP3", plop3},   Executor{"R2P", r2p},   Executor{"P2R", p2r},
      Executor{"LOP", lop},   Executor{"SHL", shift},     Executor{"SHR", shift}, Executor{"PSETP", psetp},
      Executor{"P2UR", p2r},  Executor{"R2UP", ur2up},
  };
  return kTable;
}

}  // namespace warpfold::sass
