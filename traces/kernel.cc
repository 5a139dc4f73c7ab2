#include "traces/kernel.h"

#include <algorithm>
#include <limits>

namespace warpfold::traces {

namespace {

// Counts saturate instead of wrapping, so that an absurd trip count gives the maximum, which validate() rejects.
uint64_t saturating_add(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<uint64_t>::max() : sum;
}

uint64_t saturating_multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<uint64_t>::max() : product;
}

uint64_t issued(const std::vector<Node>& body, const CtaClass& cta_class) {
  uint64_t count = 0;
  for (const Node& node : body) {
    if (const auto* block = std::get_if<Block>(&node)) {
      count = saturating_add(count, block->code.size());
    } else {
      const Loop& loop = std::get<Loop>(node);
      count = saturating_add(count, saturating_multiply(trips(loop.trips, cta_class), issued(loop.body, cta_class)));
    }
  }
  return count;
}

}  // namespace

isa::EffectNames effect_names(const Kernel& kernel) {
  isa::EffectNames names;
  for (const MemoryStream& stream : kernel.streams) names.streams.push_back(stream.name);
  for (const Ring& ring : kernel.rings) names.rings.push_back(ring.name);
  for (const Cursor& cursor : kernel.cursors) names.cursors.push_back(cursor.name);
  return names;
}

uint64_t trips(const TripCount& count, const CtaClass& cta_class) {
  return count.parameter < 0 ? count.literal : cta_class.values.at(static_cast<size_t>(count.parameter));
}

uint32_t Kernel::warps_per_cta() const {
  uint32_t warps = 0;
  for (const Role& role : roles) {
    warps += role.warps;
  }
  return warps;
}

uint64_t Kernel::ctas() const {
  uint64_t count = 0;
  for (const CtaRun& run : grid) {
    count = saturating_add(count, run.count);
  }
  return count;
}

uint64_t moved_bytes(const MemoryStream& stream, uint64_t bytes) {
  if (stream.moved_numerator == stream.moved_denominator) return bytes;
  __extension__ using Wide = unsigned __int128;
  const Wide moved = (Wide{bytes} * stream.moved_numerator + stream.moved_denominator / 2) / stream.moved_denominator;
  return std::max<uint64_t>(static_cast<uint64_t>(moved), bytes > 0 ? 1 : 0);
}

Kernel without_provenance(Kernel kernel) {
  kernel.name.clear();
  kernel.source.clear();
  kernel.assumed.clear();
  for (MemoryStream& stream : kernel.streams) stream.footprint = 0;
  return kernel;
}

std::vector<uint64_t> ctas_by_class(const Kernel& kernel) {
  std::vector<uint64_t> ctas(kernel.cta_classes.size());
  for (const CtaRun& run : kernel.grid) {
    ctas.at(run.cta_class) = saturating_add(ctas.at(run.cta_class), run.count);
  }
  return ctas;
}

uint64_t issued_instructions(const Kernel& /*kernel*/, const Role& role, const CtaClass& cta_class) {
  return issued(role.body, cta_class);
}

uint64_t issued_instructions(const Kernel& kernel) {
  const std::vector<uint64_t> ctas = ctas_by_class(kernel);
  uint64_t count = 0;
  for (size_t c = 0; c < ctas.size(); ++c) {
    if (ctas[c] == 0) {
      continue;
    }
    for (const Role& role : kernel.roles) {
      const uint64_t warps = saturating_multiply(ctas[c], role.warps);
      count = saturating_add(count, saturating_multiply(warps, issued(role.body, kernel.cta_classes[c])));
    }
  }
  return count;
}

}  // namespace warpfold::traces
