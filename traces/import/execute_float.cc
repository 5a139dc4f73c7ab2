#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "traces/import/execute.h"

// Floating point with known operands. Compilers divide integers with the reciprocal of a float (I2F, MUFU.RCP, F2I),
// and kernels scale parameters. Sums and products are those of IEEE single precision. The reciprocal is correctly
// rounded, while hardware may differ by one unit; the correction step of the division covers that.

namespace warpfold::sass {
namespace {

float real(const Word& word, int lane) { return std::bit_cast<float>(word.lane[lane]); }

// Floating-point negation flips the sign bit.
Word read_real(const Warp& warp, const Op& op, size_t position) {
  Source source = word_source(op, position);
  const bool negated_source = source.negated && source.kind != Source::Kind::kImmediate;
  source.negated = source.negated && !negated_source;
  Word word = warp.read(source, op);
  if (!negated_source && !source.absolute) return word;
  Word result = tainted({&word});
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t bits = word.lane[lane];
    if (source.absolute) bits &= 0x7fffffff;
    result.lane[lane] = negated_source ? bits ^ 0x80000000 : bits;
  }
  return result;
}

uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }

template <typename Function>
void compute(Warp& warp, const Op& op, uint32_t mask, std::initializer_list<const Word*> sources, Function function) {
  if (op.has("SAT")) return warp.write(op.destinations.at(0), Word::nothing(op.index), mask);
  warp.write(op.destinations.at(0), lane_by_lane(sources, [&](int lane) { return bits_of(function(lane)); }), mask);
}

void fadd(Warp& warp, const Op& op, uint32_t mask) {
  const Word a = read_real(warp, op, 0);
  const Word b = read_real(warp, op, 1);
  compute(warp, op, mask, {&a, &b}, [&](int l) { return real(a, l) + real(b, l); });
}

void fmul(Warp& warp, const Op& op, uint32_t mask) {
  const Word a = read_real(warp, op, 0);
  const Word b = read_real(warp, op, 1);
  compute(warp, op, mask, {&a, &b}, [&](int l) { return real(a, l) * real(b, l); });
}

void ffma(Warp& warp, const Op& op, uint32_t mask) {
  const Word a = read_real(warp, op, 0);
  const Word b = read_real(warp, op, 1);
  const Word c = read_real(warp, op, 2);
  compute(warp, op, mask, {&a, &b, &c}, [&](int l) { return std::fma(real(a, l), real(b, l), real(c, l)); });
}

void mufu(Warp& warp, const Op& op, uint32_t mask) {
  const Word a = read_real(warp, op, 0);
  if (!op.has("RCP")) return warp.write(op.destinations.at(0), Word::nothing(op.index), mask);
  compute(warp, op, mask, {&a}, [&](int l) { return 1.0F / real(a, l); });
}

// FCHK P0, R4, R5 is true if the division needs the compiler's slow path, for operands near the ends of the exponent
// range. It is assumed false: unknown data count as ordinary numbers.
void fchk(Warp& warp, const Op& op, uint32_t mask) {
  warp.assumed.try_emplace(op.line, "FCHK: the operands of the division are ordinary numbers, slow path not taken");
  warp.write(op.destinations.at(0), Bits::of(false), mask);
}

// Converts a 64-bit integer to a float, rounded to nearest, or up (.RP).
float to_real(uint64_t magnitude, bool negative, bool upwards) {
  float value = static_cast<float>(magnitude);
  if (upwards && static_cast<double>(value) < static_cast<double>(magnitude)) {
    value = std::nextafter(value, std::numeric_limits<float>::infinity());
  }
  return negative ? -value : value;
}

void i2f(Warp& warp, const Op& op, uint32_t mask) {
  const Source& source = word_source(op, 0);
  const Word low = warp.read(source, op);
  const bool wide = op.has("U64") || op.has("S64");
  const Word high = wide ? warp.read_next(source, op, 1) : Word::of(0);
  const bool is_unsigned = op.has("U32") || op.has("U64") || op.has("U16") || op.has("U8");
  if (op.has("F64") || op.has("F16")) return warp.write(op.destinations.at(0), Word::nothing(op.index), mask);
  compute(warp, op, mask, {&low, &high}, [&](int l) {
    uint64_t value = wide ? uint64_t{high.lane[l]} << 32 | low.lane[l] : low.lane[l];
    if (!wide && !is_unsigned) value = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(low.lane[l])));
    const bool negative = !is_unsigned && static_cast<int64_t>(value) < 0;
    return to_real(negative ? 0 - value : value, negative, op.has("RP"));
  });
}

// Rounds towards zero, or up or down, and saturates at the ends of the integer range.
uint64_t to_integer(float value, bool is_unsigned, bool wide, bool up, bool down) {
  double whole = up     ? std::ceil(static_cast<double>(value))
                 : down ? std::floor(static_cast<double>(value))
                        : std::trunc(static_cast<double>(value));
  if (std::isnan(whole)) return 0;
  const double most = is_unsigned ? (wide ? 18446744073709549568.0 : 4294967295.0) : (wide ? 9223372036854774784.0 : 2147483647.0);
  const double least = is_unsigned ? 0 : (wide ? -9223372036854775808.0 : -2147483648.0);
  whole = std::min(std::max(whole, least), most);
  return is_unsigned ? static_cast<uint64_t>(whole) : static_cast<uint64_t>(static_cast<int64_t>(whole));
}

// True for a CTA's index times the inverse of the cluster's extent. Rounded down, it is the index of the CTA's cluster.
bool divides_by_cluster(const Word& word) {
  return word.unknown == kAllLanes && word.origin <= kInverse && word.origin > kInverse - kCtaVariables;
}

void f2i(Warp& warp, const Op& op, uint32_t mask) {
  const Word a = read_real(warp, op, 0);
  if (divides_by_cluster(a)) return warp.write(op.destinations.at(0), warp.cluster_index(kInverse - a.origin), mask);
  const bool wide = op.has("U64") || op.has("S64");
  const bool is_unsigned = op.has("U32") || op.has("U64");
  const bool exact = op.has("TRUNC") || op.has("CEIL") || op.has("FLOOR");
  if (!exact || op.has("F64") || op.has("F16")) {
    warp.write(op.destinations.at(0), Word::nothing(op.index), mask);
    return warp.write(op.destinations.at(0), wide ? Word::nothing(op.index) : Word::of(0), wide ? mask : 0, 1);
  }
  const auto value = [&](int l) { return to_integer(real(a, l), is_unsigned, wide, op.has("CEIL"), op.has("FLOOR")); };
  warp.write(op.destinations.at(0), lane_by_lane({&a}, [&](int l) { return static_cast<uint32_t>(value(l)); }), mask);
  if (wide)
    warp.write(op.destinations.at(0), lane_by_lane({&a}, [&](int l) { return static_cast<uint32_t>(value(l) >> 32); }), mask, 1);
}

// HFMA2.MMA R0, -RZ, RZ, 0, 5.96e-08: compilers use it to move constants. The results of other half-precision
// arithmetic are unknown.
void hfma2(Warp& warp, const Op& op, uint32_t mask) {
  const auto zero = [&op](size_t i) {
    return word_source(op, i).kind == Source::Kind::kRegister && word_source(op, i).index == isa::kZeroRegister;
  };
  const bool two = word_source(op, 2).kind == Source::Kind::kImmediate && word_source(op, 3).kind == Source::Kind::kImmediate;
  const bool moves = zero(0) && zero(1) && two;
  warp.write(op.destinations.at(0),
             moves ? Word::of(word_source(op, 2).immediate << 16 | word_source(op, 3).immediate) : Word::nothing(op.index), mask);
}

}  // namespace

std::span<const Executor> float_executors() {
  static constexpr std::array kTable{
      Executor{"FADD", fadd}, Executor{"FMUL", fmul}, Executor{"FFMA", ffma},   Executor{"MUFU", mufu}, Executor{"I2F", i2f},
      Executor{"I2FP", i2f},  Executor{"F2I", f2i},   Executor{"HFMA2", hfma2}, Executor{"FCHK", fchk},
  };
  return kTable;
}

}  // namespace warpfold::sass
