#pragma once

#include "traces/import/word.h"

namespace warpfold::sass {

// Arithmetic modulo 2^32 on words that are linear in the variables. The result is linear if it can be represented as
// such; else it is marked as varying.
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

// Low and high half of a * b + c, where c has the halves c_low and c_high.
struct Halves {
  Word low;
  Word high;
};
Halves wide_product(const Word& a, const Word& b, const Word& c_low, const Word& c_high, bool is_signed, const Extents& extents);

enum class Relation : uint8_t { kFalse, kLess, kEqual, kLessEqual, kGreater, kNotEqual, kGreaterEqual, kTrue };
Bits compared(const Word& a, const Word& b, Relation relation, bool is_signed, const Extents& extents);
// As above for the high halves of 64-bit integers; `low` is the result of comparing the low halves.
Bits compared_high(const Word& a, const Word& b, Relation relation, bool is_signed, const Bits& low, const Extents& extents);

// Shifts a right by a constant. The result is linear if the bits shifted out do not change.
Word shifted_right(const Word& a, uint32_t count, bool is_signed, const Extents& extents);

// Operations lane by lane. If predicates or words are not linear, the result is marked as varying.
Word selected(const Word& a, const Word& b, const Bits& first);
Bits both(const Bits& a, const Bits& b);
Bits either(const Bits& a, const Bits& b);
Bits differ(const Bits& a, const Bits& b);

// Returns the limit of a value that holds within `part` of `extents`.
Extents limit_of(const Extents& part, const Extents& extents);

}  // namespace warpfold::sass
