#include "traces/import/mbarriers.h"

#include <algorithm>
#include <bit>

#include "traces/import/bulk_copies.h"
#include "traces/import/execute.h"

namespace warpfold::sass {
namespace {

using Behaviour = isa::Behaviour;

// The word that mbarrier.init leaves: pending arrivals are counted up to 2^20 in bits 1 to 20 (compiled code of CUDA 13.0).
constexpr uint32_t kFullCount = 1U << 20;

// The address of the mbarrier, or what stands behind it.
const Source& operand(const Op& op, size_t behind_address) {
  const auto address = std::ranges::find(op.sources, Source::Kind::kMemory, &Source::kind);
  if (static_cast<size_t>(op.sources.end() - address) <= behind_address) throw NotFollowed{op.index, "operands are missing"};
  return address[static_cast<std::ptrdiff_t>(behind_address)];
}

void check_form(const Op& op) {
  if (op.behaviour == Behaviour::kMbarrierArrive) {
    for (const std::string_view form : {"A0TR", "A0T1", "A0TX", "ART0"}) {
      if (op.has(form)) {
        throw NotFollowed{
            op.index, "an arrival of this form is not followed; one arrival an instruction, with or without expected bytes, is"};
      }
    }
  } else if (op.behaviour != Behaviour::kMbarrierWait && !initialises_mbarrier(op)) {
    throw NotFollowed{op.index, "this operation on an mbarrier is not followed"};
  }
}

}  // namespace

bool initialises_mbarrier(const Op& op) { return op.base == "SYNCS" && op.has("EXCH"); }

bool uses_mbarrier(const Op& op) { return op.base == "SYNCS" || op.behaviour == Behaviour::kBulkLoad; }

uint32_t fixed_value(const Word& word, const Op& op, uint32_t active) {
  if ((word.unknown & active) != 0) throw UnknownValue{op.index, word.origin};
  if (word.depends() != 0) throw NotLinear{word.depends()};
  const uint32_t value = word.lane[static_cast<size_t>(std::countr_zero(active))];
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((active >> lane & 1) != 0 && word.lane[lane] != value)
      throw NotFollowed{op.index, "its lanes use different mbarriers, or wait for different phases"};
  }
  return value;
}

uint32_t expected_bytes(const Warp& warp, const Op& op, uint32_t active) {
  check_form(op);
  if (op.has("A1T0")) return 0;
  return fixed_value(warp.read(operand(op, 1), op), op, active) * static_cast<uint32_t>(std::popcount(active));
}

MbarrierUse mbarrier_use(const Warp& warp, const Op& op, uint32_t active) {
  if (!uses_mbarrier(op)) return {};
  if (warp.launch.cluster != std::array<uint32_t, 3>{1, 1, 1}) {
    throw NotFollowed{op.index,
                      "mbarriers in a cluster, whose CTAs may signal each other, are not followed; launch clusters of one CTA"};
  }
  if (op.behaviour == Behaviour::kBulkLoad) {
    return {static_cast<int32_t>(fixed_value(bulk_word(warp, op, 1), op, active)), 0};
  }
  check_form(op);
  MbarrierUse use;
  use.address = static_cast<int32_t>(fixed_value(warp.address(operand(op, 0)).low, op, active));
  if (op.behaviour == Behaviour::kMbarrierArrive) {
    use.value = static_cast<uint32_t>(std::popcount(active));
    return use;
  }
  const uint32_t word = fixed_value(warp.read(operand(op, 1), op), op, active);
  use.value = initialises_mbarrier(op) ? kFullCount - (word >> 1) : word >> 31;
  return use;
}

}  // namespace warpfold::sass
