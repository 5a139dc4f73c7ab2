#pragma once

#include "traces/import/word.h"

namespace warpfold::sass {

// Arithmetic modulo 2^32 on words that are linear in the variables. What is linear stays linear; else the result varies.
Word sum(const Word& a, const Word& b);
Word negated(const Word& a);
Word inverted(const Word& a);
Word scaled(const Word& a, uint32_t factor);
Word product(const Word& a, const Word& b);

// a + b + carry in, and the carry out of 32 bits. The carry is constant within its limit.
struct Carried {
  Word sum;
  Bits carry;
};
Carried add_carrying(const Word& a, const Word& b, const Bits& carry, const Extents& extents);
Word with_carry(const Word& a, const Bits& carry);

// The two halves of a * b + c, whose halves are c_low and c_high.
struct Halves {
  Word low;
  Word high;
};
Halves wide_product(const Word& a, const Word& b, const Word& c_low, const Word& c_high, bool is_signed, const Extents& extents);

enum class Relation : uint8_t { kFalse, kLess, kEqual, kLessEqual, kGreater, kNotEqual, kGreaterEqual, kTrue };
Bits compared(const Word& a, const Word& b, Relation relation, bool is_signed, const Extents& extents);
// The same for the high halves of 64-bit integers whose low halves compare as `low`.
Bits compared_high(const Word& a, const Word& b, Relation relation, bool is_signed, const Bits& low, const Extents& extents);

// a shifted right by a constant; linear where the bits that fall off do not change.
Word shifted_right(const Word& a, uint32_t count, bool is_signed, const Extents& extents);

// Lane by lane: where predicates or words hold what is not linear, the result varies.
Word selected(const Word& a, const Word& b, const Bits& first);
Bits both(const Bits& a, const Bits& b);
Bits either(const Bits& a, const Bits& b);
Bits differ(const Bits& a, const Bits& b);

// `limit` of what holds within `part` of `extents`.
Extents limit_of(const Extents& part, const Extents& extents);

}  // namespace warpfold::sass
