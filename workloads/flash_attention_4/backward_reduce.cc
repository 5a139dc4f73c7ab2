// The warps that add dQ to memory, with one query per thread (half a query with a pair), and the relay warp.
//
// dQ moves from tensor memory to registers at once, which frees its columns. It then goes, some columns at a time, through shared
// memory to a bulk addition that L2 performs in FP32. One warp issues the additions and waits until an earlier one has read its
// buffer.
#include "workloads/flash_attention_4/backward.h"
#include "workloads/flash_attention_4/roles.h"

namespace warpfold::workloads::attention4 {
namespace {

using Plan = FlashAttention4BackwardPlan;

constexpr uint32_t kFirst = 16;  // first register of dQ
constexpr uint32_t kLoaded = 32;

void add_meeting(Code& code) {
  code.add("BAR.SYNC.DEFER_BLOCKING 0x2, 0x80", {.barrier = BackwardBarriers::kReduce, .count = 32 * Plan::kReduceWarps});
}

// Waits for the CTA's turn in the deterministic order: polls a counter until it equals the CTA's number. Here the first poll
// succeeds.
void add_turn(Code& code) {
  code.add("LDG.E.STRONG.GPU R8, desc[UR4][R6.64]", {.bytes = 32, .stream = kStreamCounters});
  code.add("ISETP.NE.AND P2, PT, R8, R9, PT").add("@P2 BRA `(.L_turn)");
}

void add_addition(Code& code, const Plan& plan, uint32_t addition, bool adds) {
  const uint32_t first = kFirst + addition * plan.added_columns;
  for (uint32_t i = 0; i < plan.added_columns; i += 4)
    code.add(line({"STS.128 [R1+", immediate(2048ULL * i / 4), "], ", general(first + i)}));
  code.add("FENCE.VIEW.ASYNC.S");
  if (plan.deterministic && addition == 0 && adds) add_turn(code);
  add_meeting(code);
  if (adds) {
    code.add("UIADD3 UR8, UR8, 0x100, URZ");
    code.add("UTMAREDG.4D.ADD [UR8], [UR16]", {.bytes = plan.addition_bytes(), .stream = kStreamQueryGradient});
    code.add("UTMACMDFLUSH", {.count = static_cast<uint16_t>(plan.added_stages - 1)});
  }
  add_meeting(code);
  if (plan.deterministic && addition == 0 && adds) {
    code.add("MEMBAR.ALL.GPU").add("STG.E desc[UR4][R10.64], R9", {.bytes = 32, .stream = kStreamCounters});
  }
}

}  // namespace

std::vector<traces::Node> backward_reduce_body(const Plan& plan, bool adds) {
  Code entry(*plan.architecture);
  add_backward_entry(entry, plan.reduce_registers);
  Code block(*plan.architecture);
  add_wait(block, BackwardRings::kQueryGradient, BackwardCursors::kThis, 1);
  for (uint32_t i = 0; i < plan.query_gradients(); i += kLoaded)
    block.add(line({"LDTM.x32 ", general(kFirst + i), ", tmem[UR10]"}));
  // Wait for the loads by reading the last register of each.
  for (uint32_t i = kLoaded - 1; i < plan.query_gradients(); i += kLoaded) block.add(line({"MOV R4, ", general(kFirst + i)}));
  block.add("WARPSYNC.ALL");
  add_arrival(block, BackwardRings::kQueryGradientEmpty);
  for (uint32_t i = 0; i < plan.additions(); ++i) add_addition(block, plan, i, adds);
  block.add("VIADD R2, R2, -0x1").add("ISETP.GT.AND P1, PT, R2, RZ, PT").add("@P1 BRA `(.L_block)");
  Code last(*plan.architecture);
  if (adds) last.add("UTMACMDFLUSH");
  add_meeting(last);
  std::vector<traces::Node> body{block_of(entry), loop_of(block, {.parameter = BackwardParameters::kBlocks}),
                                 block_of(last.add("EXIT"))};
  connect(*plan.architecture, body);
  return body;
}

// Tells the multiply warp, which is in the pair's first CTA, that the other CTA's half of dS has arrived.
std::vector<traces::Node> backward_relay_body(const Plan& plan) {
  if (!plan.pair) return backward_spare_body(plan);
  Code entry(*plan.architecture);
  add_backward_entry(entry, plan.other_registers);
  Code block(*plan.architecture);
  add_wait(block, BackwardRings::kExchange, BackwardCursors::kThis, 1);
  add_arrival(block, BackwardRings::kExchanged);
  block.add("VIADD R2, R2, -0x1").add("ISETP.GT.AND P1, PT, R2, RZ, PT").add("@P1 BRA `(.L_block)");
  std::vector<traces::Node> body{block_of(entry), loop_of(block, {.parameter = BackwardParameters::kBlocks}),
                                 block_of(Code(*plan.architecture).add("EXIT"))};
  connect(*plan.architecture, body);
  return body;
}

std::vector<traces::Node> backward_spare_body(const Plan& plan) {
  Code entry(*plan.architecture);
  add_backward_entry(entry, Plan::kEmptyRegisters);
  return {block_of(entry.add("EXIT"))};
}

}  // namespace warpfold::workloads::attention4
