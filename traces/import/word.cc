#include "traces/import/word.h"

namespace warpfold::sass {
namespace {

void take_draw(Word& result, const Word& source) { result.drawn |= source.drawn; }
void take_draw(Bits& /*result*/, const Word& /*source*/) {}

template <typename Value>
void take_doubt(Value& result, const Word& source) {
  take_draw(result, source);
  if (result.unknown == 0 || result.origin < 0) result.origin = source.unknown != 0 ? source.origin : result.origin;
  result.unknown |= source.unknown;
  result.varying = united(result.varying, source.moving());
}

// Copies the lanes of `mask` from one set to another.
void put(uint32_t& into, uint32_t value, uint32_t mask) { into = (into & ~mask) | (value & mask); }

}  // namespace

LaneSets united(const LaneSets& a, const LaneSets& b) {
  LaneSets result{};
  for (size_t v = 0; v < result.size(); ++v) result[v] = a[v] | b[v];
  return result;
}

uint8_t variables_of(const LaneSets& sets, uint32_t lanes) {
  uint8_t variables = 0;
  for (size_t v = 0; v < sets.size(); ++v) {
    if ((sets[v] & lanes) != 0) variables |= static_cast<uint8_t>(1U << v);
  }
  return variables;
}

uint32_t lanes_of(const LaneSets& sets) {
  uint32_t lanes = 0;
  for (const uint32_t set : sets) lanes |= set;
  return lanes;
}

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

LaneSets Word::moving() const {
  LaneSets lanes = varying;
  for (size_t v = 0; v < lanes.size(); ++v) {
    if (slope[v] != 0) lanes[v] = kAllLanes;
  }
  return lanes;
}

void merge(Word& into, const Word& value, uint32_t mask) {
  if (mask == 0) return;
  if (mask == kAllLanes) {
    into = value;
    return;
  }
  // Slopes of lanes without a value do not matter.
  const uint32_t kept = ~mask & ~into.unknown;
  const bool new_counts = (mask & ~value.unknown) != 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1) != 0) into.lane[lane] = value.lane[lane];
  }
  into.drawn |= value.drawn;
  put(into.unknown, value.unknown, mask);
  for (size_t v = 0; v < into.varying.size(); ++v) {
    if (new_counts && into.slope[v] != value.slope[v]) into.varying[v] |= kept;
    put(into.varying[v], value.varying[v], mask);
    into.varying[v] &= ~into.unknown;
  }
  if (new_counts) into.slope = value.slope;
  if (kept == 0) into.limit = value.limit;
  if (new_counts) into.limit = smaller(into.limit, value.limit);
  if ((value.unknown & mask) != 0) into.origin = value.origin;
  const bool from_value = (value.pointing & mask) != 0;
  if (from_value && into.array != value.array) into.pointing = 0;
  put(into.pointing, value.pointing, mask);
  if (from_value) into.array = value.array;
  if (into.pointing == 0) into.array = -1;
}

void merge(Bits& into, const Bits& value, uint32_t mask) {
  if (mask == 0) return;
  if (mask == kAllLanes) {
    into = value;
    return;
  }
  put(into.lanes, value.lanes, mask);
  put(into.unknown, value.unknown, mask);
  for (size_t v = 0; v < into.varying.size(); ++v) put(into.varying[v], value.varying[v], mask);
  if ((value.unknown & mask) != 0) into.origin = value.origin;
  into.limit = smaller(into.limit, value.limit);
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
