// The first warpgroup of the backward pass: warp 0 loads, warp 1 adds dQ to memory, two warps exit at once. The order is as
// compiled (flash-attention bafe2530, sm_90a, CUDA 12.4); registers are ours. The compiled producer has 70 instructions per block
// of queries, or 45 at head_dim 64, against 59 here: the compiler unrolls two blocks, which saves the stage numbers. The compiled
// writer has 12 to 15.
//
//   producer   K, V, Q0 | dO0, Q1 | dO1, Q2 | ... | dO last
//   writer     dQ0 full, add, read, empty | dQ1 full ...
#include <algorithm>

#include "workloads/flash_attention_3/backward.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention3BackwardPlan;

constexpr LoadRegisters kRegisters{3, 8};

StageLoad load_of(const Plan& plan, bool queries) {
  StageLoad load =
      queries
          ? StageLoad{BackwardRings::kQueryFull, BackwardRings::kQueryEmpty, BackwardCursors::kQueryLoad, Plan::kStages, 1, {}}
          : StageLoad{
                BackwardRings::kGradientFull, BackwardRings::kGradientEmpty, BackwardCursors::kGradientLoad, Plan::kStages, 1, {}};
  load.boxes.assign(plan.boxes(),
                    {plan.query_tile_bytes() / std::max(1U, plan.boxes()), queries ? kStreamQueries : kStreamOutputGradient});
  load.boxes.push_back({plan.tile_queries * 4, kStreamRows});
  return load;
}

void add_keys_load(Code& code, const Plan& plan) {
  code.add("UMOV UR14, 0x0").add("UMOV UR15, 0x10000000").add("MOV R7, RZ").add("R2UR UR11, R7");
  code.add("SYNCS.ARRIVE.TRANS64 RZ, [R13], R7", {.barrier = BackwardRings::kKeys, .tx_bytes = 2 * plan.key_tile_bytes()});
  for (const int16_t stream : {kStreamKeys, kStreamValues}) {
    for (uint32_t box = 0; box < plan.boxes(); ++box) {
      code.add("UIADD3 UR8, UR8, 0x2c00, URZ").add(line({"UMOV UR10, ", immediate(64ULL * box)}));
      code.add("UTMALDG.4D [UR8], [UR16], desc[UR14]",
               {.bytes = plan.key_tile_bytes() / plan.boxes(), .stream = stream, .barrier = BackwardRings::kKeys});
    }
  }
}

void add_entry(Code& code, bool initialises) {
  code.add("S2R R0, SR_TID.X").add("S2UR UR6, SR_CTAID.X").add("ULDC.64 UR4, c[0x0][0x210]").add("SHF.R.U32.HI R2, RZ, 0x5, R0");
  if (initialises) {
    code.add("UMOV UR7, 0x400").add("UMOV UR50, 0x1");
    for (uint32_t i = 0; i < 1 + 4 * Plan::kStages; ++i) code.add("SYNCS.EXCH.64 URZ, [UR7], UR50");
  }
  code.add("BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = Plan::kThreads});
  code.add("USETMAXREG.DEALLOC.CTAPOOL 0x18", {.count = Plan::kProducerRegisters});
  for (uint32_t i = 0; i < 12; ++i) code.add(line({"MOV ", general(kRegisters.general + i), ", RZ"}));
}

// Additional instructions per load in the compiled loop of head_dim 128.
void add_coordinates(Code& code) { code.add("UMOV UR34, UR30").add("S2UR UR33, SR_CgaCtaId").add("ULEA UR32, UR33, UR32, 0x18"); }

}  // namespace

std::vector<traces::Node> backward_producer_body(const Plan& plan) {
  Code entry(*plan.architecture);
  add_entry(entry, true);
  add_keys_load(entry, plan);
  add_stage_load(entry, load_of(plan, true), kRegisters);
  Code more(*plan.architecture);
  for (const bool queries : {false, true}) {
    if (plan.boxes() > 1) add_coordinates(more);
    add_stage_load(more, load_of(plan, queries), kRegisters);
  }
  more.add("VIADD R15, R15, -0x1").add("ISETP.GT.AND P3, PT, R15, 0x1, PT").add("@P3 BRA `(.L_block)");
  Code last(*plan.architecture);
  add_stage_load(last, load_of(plan, false), kRegisters);
  std::vector<traces::Node> body{block_of(entry), loop_of(more, {.parameter = BackwardParameters::kMore}),
                                 block_of(last.add("EXIT"))};
  connect(*plan.architecture, body);
  return body;
}

// TMA adds a block of dQ to memory; the room is free again after TMA has read it. (In the library, a warp of the consumers reports
// that the room is free at the start.)
std::vector<traces::Node> backward_writer_body(const Plan& plan) {
  Code entry(*plan.architecture);
  add_entry(entry, false);
  entry.add("BAR.ARV 0xc, 0x120", {.barrier = BackwardBarriers::kQueryGradientEmpty, .count = kQueryGradientThreads});
  Code block(*plan.architecture);
  block.add("BAR.SYNC.DEFER_BLOCKING 0xd, 0x120",
            {.barrier = BackwardBarriers::kQueryGradientFull, .count = kQueryGradientThreads});
  block.add("BSSY B0, `(.L_added)").add("UIADD3 UR8, UR8, 0x100, URZ").add("UMOV UR9, URZ").add("UMOV UR10, UR4");
  block.add("UTMAREDG.4D.ADD [UR8], [UR16]", {.bytes = 2 * plan.query_tile_bytes(), .stream = kStreamQueryGradient});
  block.add("UTMACMDFLUSH").add("BSYNC B0");
  block.add("BAR.ARV 0xc, 0x120", {.barrier = BackwardBarriers::kQueryGradientEmpty, .count = kQueryGradientThreads});
  block.add("VIADD R15, R15, -0x1").add("ISETP.GT.AND P3, PT, R15, 0x1, PT").add("@P3 BRA `(.L_block)");
  std::vector<traces::Node> body{block_of(entry), loop_of(block, {.parameter = BackwardParameters::kBlocks}),
                                 block_of(Code(*plan.architecture).add("EXIT"))};
  connect(*plan.architecture, body);
  return body;
}

std::vector<traces::Node> backward_idle_body(const Plan& plan) {
  Code entry(*plan.architecture);
  add_entry(entry, false);
  return {block_of(entry.add("EXIT"))};
}

}  // namespace warpfold::workloads
