// Partial sums of split k. Of every 8 columns, a thread has two neighbouring values in each of two rows. A warp therefore stores 8
// rows of 32 bytes at a time directly from registers. The next part loads them in the same way (CUTLASS, Barrier and
// BlockStripedReduce: include/cutlass/block_striped.h, semaphore.h). assumed: no compiled kernel was counted.
#include <algorithm>

#include "workloads/hopper_gemm/consumer_parts.h"
#include "workloads/hopper_gemm/roles.h"

namespace warpfold::workloads {
namespace {

constexpr uint32_t kPair = 2;
constexpr uint32_t kPairBytes = 8 * 32;  // per warp: 8 rows, each of four threads with two values
constexpr uint32_t kPairsAhead = 8;      // loads in flight: limited by the registers behind the sums

}  // namespace

void add_part_store(Code& code, const HopperPlan& plan, int16_t stream) {
  for (uint32_t i = 0; i < plan.accumulators(); i += kPair) {
    code.add(line({"STG.E.64 [R20.64+", immediate(i * 16), "], ", general(first_sum(plan) + i)}),
             {.bytes = plan.used_bytes(kPairBytes), .stream = stream});
  }
}

void add_part_addition(Code& code, const HopperPlan& plan) {
  const uint32_t behind = first_sum(plan) + plan.accumulators();
  for (uint32_t first = 0; first < plan.accumulators(); first += kPair * kPairsAhead) {
    const uint32_t count = std::min(kPair * kPairsAhead, plan.accumulators() - first);
    for (uint32_t i = 0; i < count; i += kPair) {
      code.add(line({"LDG.E.64 ", general(behind + i), ", [R20.64+", immediate((first + i) * 16), "]"}),
               {.bytes = plan.used_bytes(kPairBytes), .stream = HopperStreams::kPartsRead});
    }
    for (uint32_t i = 0; i < count; ++i) {
      const std::string sum = general(first_sum(plan) + first + i);
      code.add(line({"FADD ", sum, ", ", sum, ", ", general(behind + i)}));
    }
  }
}

void add_turn_poll(Code& code) {
  code.add("LDG.E.STRONG.GPU R18, [R20.64]", {.bytes = 32}).add("ISETP.NE.AND P2, PT, R18, R19, PT").add("@P2 BRA `(.L_turn)");
}

void add_turn_end(Code& code, int group) {
  code.add("MEMBAR.SC.GPU").add("BAR.SYNC.DEFER_BLOCKING 0x1", {.barrier = static_cast<int16_t>(1 + group), .count = 128});
  code.add("STG.E.STRONG.GPU [R20.64], R19", {.bytes = 32, .stream = HopperStreams::kPartsWritten});
}

}  // namespace warpfold::workloads
