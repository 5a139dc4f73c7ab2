#include "traces/import/execute.h"

#include <map>

namespace warpfold::sass {

Execute executor_of(std::string_view base) {
  static const std::map<std::string_view, Execute> kAll = [] {
    std::map<std::string_view, Execute> all;
    for (const auto table : {integer_executors(), bit_executors(), move_executors(), float_executors(), async_executors()}) {
      for (const Executor& one : table) all.emplace(one.base, one.execute);
    }
    return all;
  }();
  const auto found = kAll.find(base);
  return found == kAll.end() ? nullptr : found->second;
}

bool is_predicate(const Source& source) {
  return source.kind == Source::Kind::kPredicate || source.kind == Source::Kind::kUniformPredicate;
}

const Source& word_source(const Op& op, size_t position) {
  static const Source kZeroRegister = [] {
    Source source;
    source.kind = Source::Kind::kRegister;
    return source;
  }();
  for (const Source& source : op.sources) {
    if (is_predicate(source)) continue;
    if (position == 0) return source;
    --position;
  }
  return kZeroRegister;
}

Bits inverted_bits(Bits bits) {
  bits.lanes = ~bits.lanes;
  return bits;
}

void write_combined(Warp& warp, const Op& op, const Bits& result, const Bits& with, uint32_t mask) {
  const auto combined = [&](const Bits& one) {
    return op.has("OR") ? either(one, with) : op.has("XOR") ? differ(one, with) : both(one, with);
  };
  if (!op.destinations.empty()) warp.write(op.destinations[0], combined(result), mask);
  if (op.destinations.size() > 1) warp.write(op.destinations[1], combined(inverted_bits(result)), mask);
}

Bits carry_of_sum(const Warp& warp, const Op& op, const Halves& result) {
  const Source& addend = word_source(op, 2);
  const Word low = warp.read(addend, op);
  const Word high = warp.read_next(addend, op, 1);
  // The sum is less than its addend exactly if it wrapped.
  const Bits less_low = compared(result.low, low, Relation::kLess, false, warp.extents);
  return compared_high(result.high, high, Relation::kLess, false, less_low, warp.extents);
}

}  // namespace warpfold::sass
