#include "traces/import/word.h"

namespace warpfold::sass {
namespace {

template <typename Value>
void take_doubt(Value& result, const Word& source) {
  if (result.unknown == 0 || result.origin < 0) result.origin = source.unknown != 0 ? source.origin : result.origin;
  result.unknown |= source.unknown;
  result.varies |= source.depends();
}

}  // namespace

Word Word::of(uint32_t value) {
  Word word;
  word.lane.fill(value);
  return word;
}

Word Word::nothing(int32_t origin) {
  Word word;
  word.unknown = kAllLanes;
  word.origin = origin;
  return word;
}

uint8_t Word::depends() const {
  uint8_t mask = varies;
  for (int v = 0; v < kVariables; ++v) {
    if (slope[v] != 0) mask |= static_cast<uint8_t>(1U << v);
  }
  return mask;
}

void merge(Word& into, const Word& value, uint32_t mask) {
  if (mask == 0) return;
  if (mask == kAllLanes) {
    into = value;
    return;
  }
  // Slopes of lanes without a value do not matter.
  const bool old_counts = (~mask & ~into.unknown) != 0;
  const bool new_counts = (mask & ~value.unknown) != 0;
  const uint32_t old_unknown = into.unknown;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1) != 0) into.lane[lane] = value.lane[lane];
  }
  if (new_counts && old_counts && into.slope != value.slope) {
    for (int v = 0; v < kVariables; ++v) {
      if (into.slope[v] != value.slope[v]) into.varies |= static_cast<uint8_t>(1U << v);
    }
    for (int v = 0; v < kVariables; ++v) into.slope[v] = into.slope[v] == value.slope[v] ? into.slope[v] : 0;
  } else if (new_counts) {
    into.slope = value.slope;
  }
  if (!old_counts) into.limit = value.limit;
  if (new_counts) into.limit = smaller(into.limit, value.limit);
  into.varies = static_cast<uint8_t>((old_counts ? into.varies : 0) | (new_counts ? value.varies : 0));
  into.unknown = (old_unknown & ~mask) | (value.unknown & mask);
  if ((value.unknown & mask) != 0) into.origin = value.origin;
  if (new_counts) into.array = value.array;
}

void merge(Bits& into, const Bits& value, uint32_t mask) {
  if (mask == 0) return;
  if (mask == kAllLanes) {
    into = value;
    return;
  }
  into.lanes = (into.lanes & ~mask) | (value.lanes & mask);
  into.unknown = (into.unknown & ~mask) | (value.unknown & mask);
  if ((value.unknown & mask) != 0) into.origin = value.origin;
  into.limit = smaller(into.limit, value.limit);
  into.varies |= value.varies;
}

Word tainted(std::initializer_list<const Word*> sources) {
  Word result;
  for (const Word* source : sources) take_doubt(result, *source);
  return result;
}

Bits tainted_bits(std::initializer_list<const Word*> sources) {
  Bits result;
  for (const Word* source : sources) take_doubt(result, *source);
  return result;
}

Linear linear(const Word& word, int lane, bool is_signed) {
  Linear result;
  const uint32_t value = word.lane[lane];
  result.base = is_signed ? static_cast<int32_t>(value) : static_cast<int64_t>(value);
  for (int v = 0; v < kVariables; ++v) result.slope[v] = static_cast<int32_t>(word.slope[v]);
  return result;
}

}  // namespace warpfold::sass
