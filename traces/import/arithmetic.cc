#include "traces/import/arithmetic.h"

#include <algorithm>
#include <bit>

namespace warpfold::sass {
namespace {

constexpr int64_t kTwo32 = int64_t{1} << 32;

bool constant(const Word& word) {
  return std::ranges::all_of(word.slope, [](uint32_t slope) { return slope == 0; });
}
bool same_lanes(const Word& word) {
  return std::ranges::all_of(word.lane, [&word](uint32_t value) { return value == word.lane.front(); });
}
bool known(const Word& a, int lane) { return (a.unknown >> lane & 1) == 0; }

// Returns the instruction on which an unknown result depends: the first operand's, unless that has none, as in lanes
// that were never active.
template <typename A, typename B>
int32_t origin_of(const A& a, const B& b) {
  return a.unknown == 0 || (a.origin < 0 && b.unknown != 0) ? b.origin : a.origin;
}

Word doubt(const Word& a, const Word& b) {
  Word result;
  result.limit = smaller(a.limit, b.limit);
  result.unknown = a.unknown | b.unknown;
  result.origin = origin_of(a, b);
  result.drawn = a.drawn || b.drawn;
  result.varying = united(a.varying, b.varying);
  // The sum of two pointers into different arrays is no pointer.
  const bool same = a.array == b.array;
  const uint32_t of_a = same ? a.pointing | b.pointing : a.pointing & ~b.pointing;
  result.pointing = of_a != 0 ? of_a : b.pointing & ~a.pointing;
  result.array = result.pointing == 0 ? int16_t{-1} : of_a != 0 ? a.array : b.array;
  return result;
}

// Lanes whose values are linear in every variable.
uint32_t linear_lanes(const Word& word) { return ~word.unknown & ~lanes_of(word.varying); }

template <typename Function>
Word each_lane(Word result, Function function) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (known(result, lane)) result.lane[lane] = function(lane);
  }
  return result;
}

int64_t least_of(bool is_signed) { return is_signed ? -(kTwo32 / 2) : 0; }
int64_t most_of(bool is_signed) { return is_signed ? kTwo32 / 2 - 1 : kTwo32 - 1; }

// Returns the part of `extents` in which every lane of the word equals its linear form without wrapping.
Extents unwrapped(const Word& word, bool is_signed, Extents extents) {
  if (constant(word)) return extents;
  const uint32_t lanes = linear_lanes(word);
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) != 0)
      extents = within(linear(word, lane, is_signed), least_of(is_signed), most_of(is_signed), extents, Keep::kPasses);
  }
  return extents;
}

bool holds(Relation relation, int64_t difference) {
  switch (relation) {
    case Relation::kFalse:
      return false;
    case Relation::kTrue:
      return true;
    case Relation::kLess:
      return difference < 0;
    case Relation::kLessEqual:
      return difference <= 0;
    case Relation::kGreater:
      return difference > 0;
    case Relation::kGreaterEqual:
      return difference >= 0;
    case Relation::kEqual:
      return difference == 0;
    case Relation::kNotEqual:
      return difference != 0;
  }
  return false;
}

// Returns the part of `extents` in which the relation of `difference` to zero is the same as at the origin.
Extents unchanged(Relation relation, const Linear& difference, const Extents& extents) {
  constexpr int64_t kFar = int64_t{1} << 40;
  const int64_t now = difference.base;
  switch (relation) {
    case Relation::kFalse:
    case Relation::kTrue:
      return extents;
    case Relation::kLess:
    case Relation::kGreaterEqual:
      return now < 0 ? within(difference, -kFar, -1, extents) : within(difference, 0, kFar, extents);
    case Relation::kLessEqual:
    case Relation::kGreater:
      return now <= 0 ? within(difference, -kFar, 0, extents) : within(difference, 1, kFar, extents);
    case Relation::kEqual:
    case Relation::kNotEqual:
      break;
  }
  if (now == 0) return within(difference, 0, 0, extents);
  return now < 0 ? within(difference, -kFar, -1, extents) : within(difference, 1, kFar, extents);
}

Bits bits_of(const Word& a, const Word& b) {
  Bits result = Bits::of(false);
  result.limit = smaller(a.limit, b.limit);
  result.unknown = a.unknown | b.unknown;
  result.origin = origin_of(a, b);
  result.varying = united(a.varying, b.varying);
  return result;
}

Bits bits_of(const Bits& a, const Bits& b) {
  return {.limit = smaller(a.limit, b.limit),
          .varying = united(a.varying, b.varying),
          .unknown = a.unknown | b.unknown,
          .origin = origin_of(a, b)};
}

}  // namespace

Extents limit_of(const Extents& part, const Extents& extents) {
  Extents limit = kNoLimit;
  for (int v = 0; v < kVariables; ++v) {
    if (part[v] < extents[v]) limit[v] = part[v];
  }
  return limit;
}

Word sum(const Word& a, const Word& b) {
  Word result = each_lane(doubt(a, b), [&](int lane) { return a.lane[lane] + b.lane[lane]; });
  for (int v = 0; v < kVariables; ++v) result.slope[v] = a.slope[v] + b.slope[v];
  return result;
}

Word negated(const Word& a) { return scaled(a, ~uint32_t{0}); }

Word inverted(const Word& a) { return sum(negated(a), Word::of(~uint32_t{0})); }

Word scaled(const Word& a, uint32_t factor) {
  Word result = a;
  for (uint32_t& value : result.lane) value *= factor;
  for (uint32_t& slope : result.slope) slope *= factor;
  return result;
}

Word product(const Word& a, const Word& b) {
  if (!constant(a) && !constant(b)) {
    Word result = each_lane(doubt(a, b), [&](int lane) { return a.lane[lane] * b.lane[lane]; });
    result.varying = united(a.moving(), b.moving());
    return result;
  }
  if (!constant(b)) return product(b, a);
  Word result = each_lane(doubt(a, b), [&](int lane) { return a.lane[lane] * b.lane[lane]; });
  if (constant(a)) return result;
  if (same_lanes(b) && b.unknown == 0) {
    for (int v = 0; v < kVariables; ++v) result.slope[v] = a.slope[v] * b.lane.front();
  } else {
    result.varying = united(result.varying, a.moving());
  }
  return result;
}

Carried add_carrying(const Word& a, const Word& b, const Bits& carry, const Extents& extents) {
  Carried result{with_carry(sum(a, b), carry), bits_of(a, b)};
  result.carry.unknown |= carry.unknown;
  if (carry.unknown != 0) result.carry.origin = carry.origin;
  result.carry.varying = united(result.carry.varying, carry.varying);
  result.carry.limit = smaller(result.carry.limit, carry.limit);
  Extents part = constant(a) && constant(b) ? extents : unwrapped(b, false, unwrapped(a, false, extents));
  const uint32_t varying = lanes_of(result.carry.varying);
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((result.carry.unknown >> lane & 1) != 0) continue;
    Linear total = linear(a, lane, false) + linear(b, lane, false);
    total.base += carry.lanes >> lane & 1;
    const bool out = total.base >= kTwo32;
    if (out) result.carry.lanes |= 1U << lane;
    if ((varying >> lane & 1) != 0) continue;
    part = out ? within(total, kTwo32, 2 * kTwo32, part, Keep::kPasses) : within(total, 0, kTwo32 - 1, part, Keep::kPasses);
  }
  result.carry.limit = smaller(result.carry.limit, limit_of(part, extents));
  return result;
}

Word with_carry(const Word& a, const Bits& carry) {
  if (carry.lanes == 0 && carry.unknown == 0 && lanes_of(carry.varying) == 0 && carry.limit == kNoLimit) return a;
  Word result = a;
  for (int lane = 0; lane < kLanes; ++lane) result.lane[lane] += carry.lanes >> lane & 1;
  if (carry.unknown != 0 && a.unknown == 0) result.origin = carry.origin;
  result.unknown |= carry.unknown;
  result.varying = united(result.varying, carry.varying);
  result.limit = smaller(a.limit, carry.limit);
  return result;
}

Halves wide_product(const Word& a, const Word& b, const Word& c_low, const Word& c_high, bool is_signed, const Extents& extents) {
  if (constant(a) && !constant(b)) return wide_product(b, a, c_low, c_high, is_signed, extents);
  const Word c = doubt(c_low, c_high);
  Halves result{doubt(doubt(a, b), c), {}};
  result.low.array = c.array;
  result.low.pointing = c.pointing;
  result.high = result.low;
  const auto extend = [is_signed](uint32_t value) { return is_signed ? static_cast<int64_t>(static_cast<int32_t>(value)) : value; };
  const auto full = [&](int lane) {
    const uint64_t addend = uint64_t{c_high.lane[lane]} << 32 | c_low.lane[lane];
    return static_cast<uint64_t>(extend(a.lane[lane])) * static_cast<uint64_t>(extend(b.lane[lane])) + addend;
  };
  result.low = each_lane(result.low, [&](int lane) { return static_cast<uint32_t>(full(lane)); });
  result.high = each_lane(result.high, [&](int lane) { return static_cast<uint32_t>(full(lane) >> 32); });
  if (constant(a) && constant(b) && constant(c_low) && constant(c_high)) return result;
  if (!constant(a) && !(constant(b) && same_lanes(b) && b.unknown == 0)) {
    result.low.varying = united(united(a.moving(), b.moving()), united(c_low.moving(), c_high.moving()));
    result.high.varying = result.low.varying;
    return result;
  }
  // The 64-bit result grows by slope[v]. While the low half does not wrap, it grows by the signed low 32 bits of the
  // slope, and the high half by the remainder.
  Extents part = unwrapped(c_low, false, unwrapped(a, is_signed, extents));
  std::array<int64_t, kVariables> low_slope{};
  for (int v = 0; v < kVariables; ++v) {
    const int64_t own = constant(a) ? 0 : static_cast<int64_t>(static_cast<int32_t>(a.slope[v])) * extend(b.lane.front());
    const uint64_t slope = static_cast<uint64_t>(own) + (uint64_t{c_high.slope[v]} << 32) +
                           static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(c_low.slope[v])));
    low_slope[v] = static_cast<int32_t>(static_cast<uint32_t>(slope));
    result.low.slope[v] = static_cast<uint32_t>(slope);
    result.high.slope[v] = static_cast<uint32_t>((slope - static_cast<uint64_t>(low_slope[v])) >> 32);
  }
  const uint32_t lanes = linear_lanes(result.low);
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) != 0) part = within({result.low.lane[lane], low_slope}, 0, kTwo32 - 1, part, Keep::kPasses);
  }
  result.high.limit = smaller(result.high.limit, limit_of(part, extents));
  return result;
}

Bits compared(const Word& a, const Word& b, Relation relation, bool is_signed, const Extents& extents) {
  Bits result = bits_of(a, b);
  const bool fixed = constant(a) && constant(b);
  const bool modular = relation == Relation::kEqual || relation == Relation::kNotEqual;
  Extents part = extents;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((result.unknown >> lane & 1) != 0) continue;
    Linear difference = linear(a, lane, is_signed) - linear(b, lane, is_signed);
    if (modular) {  // words that are equal modulo 2^32 are equal
      difference.base = static_cast<int32_t>(a.lane[lane] - b.lane[lane]);
      for (int v = 0; v < kVariables; ++v) difference.slope[v] = static_cast<int32_t>(a.slope[v] - b.slope[v]);
    }
    // A lane that varies with one variable, such as the CTA of a sample, may still be linear in the passes of a loop.
    for (size_t v = 0; v < kVariables; ++v) {
      if ((result.varying[v] >> lane & 1) != 0) difference.slope[v] = 0;
    }
    if (modular) part = within(difference, -(kTwo32 / 2), kTwo32 / 2 - 1, part);
    if (holds(relation, difference.base)) result.lanes |= 1U << lane;
    if (!fixed) part = unchanged(relation, difference, part);
  }
  // Applied after the decision, which may already limit the operands.
  if (!fixed && !modular) part = unwrapped(b, is_signed, unwrapped(a, is_signed, part));
  result.limit = smaller(result.limit, limit_of(part, extents));
  return result;
}

Bits compared_high(const Word& a, const Word& b, Relation relation, bool is_signed, const Bits& low, const Extents& extents) {
  const Bits equal = compared(a, b, Relation::kEqual, is_signed, extents);
  Relation strict = relation;
  if (relation == Relation::kLessEqual) strict = Relation::kLess;
  if (relation == Relation::kGreaterEqual) strict = Relation::kGreater;
  const Bits high = compared(a, b, strict, is_signed, extents);
  // Unequal high halves decide. "Not equal" needs either half; the other relations use the low halves if the high
  // halves are equal.
  if (relation == Relation::kNotEqual) return either(high, low);
  if (relation == Relation::kEqual) return both(high, low);
  return either(high, both(equal, low));
}

Word shifted_right(const Word& a, uint32_t count, bool is_signed, const Extents& extents) {
  const auto shift = [&](uint32_t value) {
    if (count >= 32) return is_signed ? static_cast<uint32_t>(static_cast<int32_t>(value) >> 31) : 0;
    return is_signed ? static_cast<uint32_t>(static_cast<int32_t>(value) >> count) : value >> count;
  };
  if (constant(a)) {
    return each_lane(doubt(a, {}), [&](int lane) { return shift(a.lane[lane]); });
  }
  const uint32_t fallen = count >= 32 ? ~uint32_t{0} : (uint32_t{1} << count) - 1;
  const bool clean = count < 32 && std::ranges::all_of(a.slope, [fallen](uint32_t slope) { return (slope & fallen) == 0; });
  Word result = each_lane(doubt(a, {}), [&](int lane) { return shift(a.lane[lane]); });
  if (clean) {
    for (int v = 0; v < kVariables; ++v) result.slope[v] = static_cast<uint32_t>(static_cast<int32_t>(a.slope[v]) >> count);
    result.limit = smaller(result.limit, limit_of(unwrapped(a, is_signed, extents), extents));
    return result;
  }
  // The result is constant while the quotient does not change, or for a long shift the sign.
  Extents part = extents;
  const uint32_t lanes = linear_lanes(a);
  for (int lane = 0; lane < kLanes && count < 64; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    const Linear value = linear(a, lane, is_signed);
    const int64_t floor = value.base >> std::min<uint32_t>(count, 62);
    const int64_t unit = int64_t{1} << std::min<uint32_t>(count, 40);
    part = within(value, std::max(floor * unit, least_of(is_signed)), std::min(floor * unit + unit - 1, most_of(is_signed)), part);
  }
  const Extents limit = limit_of(part, extents);
  constexpr uint32_t kLongEnough = 64;  // passes; a value that is constant for fewer is marked as varying
  if (std::ranges::all_of(limit, [](uint32_t passes) { return passes >= kLongEnough; })) {
    result.limit = smaller(result.limit, limit);
  } else {
    result.varying = a.moving();
  }
  return result;
}

Word selected(const Word& a, const Word& b, const Bits& first) {
  Word result = b;
  merge(result, a, first.lanes);
  result.unknown |= first.unknown;
  if (first.unknown != 0) result.origin = first.origin;
  if (const uint32_t open = lanes_of(first.varying); open != 0) {
    const LaneSets moving = united(a.moving(), b.moving());
    for (size_t v = 0; v < moving.size(); ++v) result.varying[v] |= first.varying[v] | (moving[v] & open);
  }
  result.limit = smaller(result.limit, first.limit);
  return result;
}

Bits both(const Bits& a, const Bits& b) {
  Bits result = bits_of(a, b);
  result.lanes = a.lanes & b.lanes;
  // A known false decides.
  const uint32_t decided = (~a.lanes & ~a.unknown) | (~b.lanes & ~b.unknown);
  result.unknown &= ~decided;
  result.lanes &= ~decided;
  return result;
}

Bits either(const Bits& a, const Bits& b) {
  Bits result = bits_of(a, b);
  const uint32_t decided = (a.lanes & ~a.unknown) | (b.lanes & ~b.unknown);
  result.lanes = a.lanes | b.lanes;
  result.unknown &= ~decided;
  result.lanes |= decided;
  return result;
}

Bits differ(const Bits& a, const Bits& b) {
  Bits result = bits_of(a, b);
  result.lanes = a.lanes ^ b.lanes;
  return result;
}

}  // namespace warpfold::sass
