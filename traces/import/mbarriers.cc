#include "traces/import/mbarriers.h"

#include <algorithm>
#include <bit>

#include "traces/import/bulk_copies.h"
#include "traces/import/execute.h"

namespace warpfold::sass {
namespace {

using Behaviour = isa::Behaviour;

// mbarrier.init writes a word whose bits 1 to 20 count pending arrivals up to 2^20 (compiled code of CUDA 13.0).
constexpr uint32_t kFullCount = 1U << 20;

// Address in the shared memory of a cluster: the CTA's rank, then the offset in its memory (compiled code of CUDA 13.0:
// LEA R0, rank, 0x400, 0x18, and PRMT R0, rank, 0x654, R0 for mapa).
constexpr uint32_t kRankShift = 24;
constexpr int32_t kClusterBarrier = 1 << kRankShift;  // address of the cluster's own barrier in MbarrierUse

// Returns the operand with the mbarrier's address, or the operand `behind_address` places after it.
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

// Returns the mbarrier's place, which must be the same in the shared memory of all CTAs that the lanes name.
MbarrierUse place_of(const Warp& warp, const Op& op, const Word& address, uint32_t active) {
  Word place = address;
  std::array<uint32_t, 16> lanes{};
  uint32_t most = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    place.lane[lane] = address.lane[lane] & ((1U << kRankShift) - 1);
    if (((active & ~address.unknown) >> lane & 1) == 0) continue;
    const uint32_t rank = address.lane[lane] >> kRankShift;
    if (rank >= warp.launch.cluster_ctas()) {
      throw NotFollowed{op.index, "it is at CTA " + std::to_string(rank) + " of a cluster of " +
                                      std::to_string(warp.launch.cluster_ctas()) + "; state the launch's, as cluster { x: 2 }"};
    }
    most = std::max(most, ++lanes[rank ^ warp.rank()]);
  }
  MbarrierUse use{.address = static_cast<int32_t>(fixed_value(place, op, active)), .reaches = 0};
  for (uint32_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i] != 0) use.reaches |= static_cast<uint16_t>(1U << i);
    if (lanes[i] != 0 && lanes[i] != most)
      throw NotFollowed{op.index, "more of its lanes arrive at one CTA of the cluster than at another"};
  }
  return use;
}

MbarrierUse own(const Op& op, MbarrierUse use) {
  if (use.reaches != 1)
    throw NotFollowed{op.index, "it is at an mbarrier of another CTA of the cluster; only arrivals are followed there"};
  return use;
}

MbarrierUse cluster_barrier(const Warp& warp, const Op& op) {
  return {.address = kClusterBarrier, .value = op.behaviour == Behaviour::kMbarrierWait ? warp.state.cluster_phase : 1};
}

// A box arrives at the same mbarrier of every CTA that receives it.
MbarrierUse bulk_use(const Warp& warp, const Op& op, uint32_t active) {
  MbarrierUse use = own(op, place_of(warp, op, bulk_word(warp, op, 1), active));
  const uint32_t receivers = receivers_of(warp, op, active);
  if ((receivers >> warp.rank() & 1) == 0) throw NotFollowed{op.index, "its CTA mask leaves out the CTA that sends"};
  use.reaches = 0;
  for (uint32_t i = 0; i < 16; ++i) use.reaches |= static_cast<uint16_t>((receivers >> (i ^ warp.rank()) & 1) << i);
  return use;
}

// The tensor core arrives once, whatever the number of lanes.
MbarrierUse commit_use(const Warp& warp, const Op& op, uint32_t active) {
  if (op.has("MULTICAST")) throw NotFollowed{op.index, "it arrives at several CTAs of the cluster, which is not followed"};
  MbarrierUse use = own(op, place_of(warp, op, bulk_word(warp, op, 0), active));
  use.value = 1;
  return use;
}

}  // namespace

bool at_cluster_barrier(const Op& op) { return op.base.starts_with("UCGABAR"); }

bool initialises_mbarrier(const Op& op) { return op.base == "SYNCS" && op.has("EXCH"); }

bool arrives(Behaviour behaviour) { return behaviour == Behaviour::kMbarrierArrive || behaviour == Behaviour::kTcgen05Commit; }

bool uses_mbarrier(const Op& op) {
  return op.base == "SYNCS" || at_cluster_barrier(op) || op.behaviour == Behaviour::kBulkLoad ||
         op.behaviour == Behaviour::kTcgen05Commit;
}

uint32_t fixed_value(const Word& word, const Op& op, uint32_t active) {
  if ((word.unknown & active) != 0) throw UnknownValue{op.index, word.origin};
  if (const uint8_t moves = word.depends(active); moves != 0) throw NotLinear{moves};
  const uint32_t value = word.lane[static_cast<size_t>(std::countr_zero(active))];
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((active >> lane & 1) != 0 && word.lane[lane] != value)
      throw NotFollowed{op.index, "its lanes use different mbarriers, or wait for different phases"};
  }
  return value;
}

uint32_t expected_bytes(const Warp& warp, const Op& op, uint32_t active) {
  if (at_cluster_barrier(op)) return 0;
  check_form(op);
  if (op.has("A1T0")) return 0;
  return fixed_value(warp.read(operand(op, 1), op), op, active) * static_cast<uint32_t>(std::popcount(active));
}

MbarrierUse mbarrier_use(const Warp& warp, const Op& op, uint32_t active) {
  if (!uses_mbarrier(op)) return {};
  if (at_cluster_barrier(op)) return cluster_barrier(warp, op);
  if (op.behaviour == Behaviour::kBulkLoad) return bulk_use(warp, op, active);
  if (op.behaviour == Behaviour::kTcgen05Commit) return commit_use(warp, op, active);
  check_form(op);
  MbarrierUse use = place_of(warp, op, warp.address(operand(op, 0)).low, active);
  if (op.behaviour == Behaviour::kMbarrierArrive) {
    use.value = static_cast<uint32_t>(std::popcount(active));
    return use;
  }
  use = own(op, use);
  const uint32_t word = fixed_value(warp.read(operand(op, 1), op), op, active);
  use.value = initialises_mbarrier(op) ? kFullCount - (word >> 1) : word >> 31;
  return use;
}

}  // namespace warpfold::sass
