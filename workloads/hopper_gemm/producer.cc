// The producer warpgroup of a Hopper GEMM: warp 0 fills the ring of stages by TMA, the other three warps end at once.
//
// The instruction mix of one k-block is that of CUTLASS 4.7.0's sm_90 kernels (fp16, CUDA 13.0, counted in its disassembly: 35
// instructions cooperative 128x128, 38 cooperative 128x256 and ping-pong 64xN, 36 ping-pong 128x128). The order and the registers
// are ours. assumed: the code outside the k-block loop, which was not counted and is short beside the loop.
#include "workloads/common/program.h"
#include "workloads/hopper_gemm/roles.h"

namespace warpfold::workloads {
namespace {

// Mix of the counted kernel that is nearest to the plan.
struct Mix {
  bool elect_by_compare;    // ping-pong: ISETP where the cooperative kernels use LOP3
  bool separate_b_address;  // B's stage address comes from an IMAD of its own
  bool count_by_iadd3;      // cooperative 128x256: IADD3 instead of VIADD
  bool cache_hint_inside;   // the policy's high word is set in the loop
};

Mix mix_of(const HopperPlan& plan) {
  if (plan.pingpong) return plan.tile_m <= 64 ? Mix{true, true, false, true} : Mix{true, false, false, true};
  return plan.tile_n > 128 ? Mix{false, true, true, true} : Mix{false, false, false, false};
}

isa::Effect bulk_load(uint32_t bytes, int16_t stream, uint32_t multicast, uint32_t advance) {
  isa::Effect effect;
  effect.bytes = bytes;
  effect.stream = stream;
  effect.barrier = HopperRings::kFull;
  effect.cursor = HopperCursors::kProducer;
  effect.advance = advance;
  effect.multicast = static_cast<uint8_t>(multicast);
  return effect;
}

void add_bulk_loads(Code& code, const HopperPlan& plan) {
  // A tile of A serves all CTAs in the same row of the cluster, and a tile of B all CTAs in the same column. Each CTA fetches its
  // share and multicasts it. The SM thus receives whole tiles, while L2 is read once per row or column.
  const std::string a =
      plan.cluster_n > 1 ? "UTMALDG.3D.MULTICAST [UR8], [UR24], UR28, desc[UR22]" : "UTMALDG.3D [UR8], [UR24], desc[UR22]";
  const std::string b =
      plan.cluster_m > 1 ? "UTMALDG.3D.MULTICAST [UR16], [UR26], UR29, desc[UR22]" : "UTMALDG.3D [UR16], [UR26], desc[UR22]";
  code.add(a, bulk_load(plan.a_load_bytes(), HopperStreams::kA, plan.cluster_n, 0));
  if (plan.scaled) {
    const std::string scales =
        plan.cluster_n > 1 ? "UTMALDG.2D.MULTICAST [UR56], [UR58], UR28, desc[UR22]" : "UTMALDG.2D [UR56], [UR58], desc[UR22]";
    code.add(scales, bulk_load(plan.a_scale_load_bytes(), HopperStreams::kA, plan.cluster_n, 0));
  }
  code.add(b, bulk_load(plan.b_load_bytes(), HopperStreams::kB, plan.cluster_m, plan.vector_scaled ? 0 : 1));
  if (plan.vector_scaled) {
    const std::string scales =
        plan.cluster_m > 1 ? "UTMALDG.2D.MULTICAST [UR60], [UR26], UR29, desc[UR22]" : "UTMALDG.2D [UR60], [UR26], desc[UR22]";
    code.add(scales, bulk_load(plan.b_scale_load_bytes(), HopperStreams::kB, plan.cluster_m, 1));
  }
}

Code k_block(const isa::Architecture& architecture, const HopperPlan& plan) {
  const Mix mix = mix_of(plan);
  Code code(architecture);
  code.add("IMAD R6, R3, 0x8, R16");       // barriers of the stage
  code.add("SHF.L.U32 R5, R4, 0x1f, RZ");  // phase parity
  code.add(mix.elect_by_compare ? "ISETP.NE.AND P1, PT, R0, RZ, PT" : "LOP3.LUT P1, RZ, R0, 0x1f, RZ, 0xc0, !PT");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R6+0x40], R5",
           {.barrier = HopperRings::kEmpty, .cursor = HopperCursors::kProducer});
  code.add(line({"IMAD R8, R3, ", immediate(plan.a_stage_bytes()), ", R17"}));
  if (mix.separate_b_address) code.add(line({"IMAD R9, R3, ", immediate(plan.b_stage_bytes()), ", R18"}));
  code.add("UIADD3 UR24, UP0, UR4, 0xf0, URZ").add("UIADD3 UR26, UP1, UR4, 0x1f0, URZ");
  code.add("UIADD3.X UR25, URZ, UR5, URZ, UP0, !UPT").add("UIADD3.X UR27, URZ, UR5, URZ, UP1, !UPT");
  code.add("UMOV UR22, 0x0");
  if (mix.cache_hint_inside) code.add("UMOV UR23, 0x10000000");
  code.add("@!P0 BRA `(.L_wait_empty)");
  code.add("@!P1 LDC R7, c[0x0][0x500]");  // transaction bytes
  code.add("R2UR UR9, R6")
      .add("R2UR UR8, R8")
      .add("R2UR UR10, R10")
      .add("R2UR UR11, R11")
      .add("R2UR UR12, R12")
      .add("R2UR UR19, R13");
  if (mix.separate_b_address) code.add("R2UR UR16, R9");
  code.add("@!P1 SYNCS.ARRIVE.TRANS64 RZ, [R6], R7",
           {.barrier = HopperRings::kFull, .cursor = HopperCursors::kProducer, .tx_bytes = plan.load_bytes()});
  code.add("VIADD R3, R3, 0x1").add(line({"VIADD R10, R10, ", immediate(plan.tile_k)}));
  code.add(line({"ISETP.NE.AND P2, PT, R3, ", immediate(plan.stages), ", PT"}));
  code.add(mix.separate_b_address ? "UIADD3 UR16, UR16, 0x18400, URZ" : "UIADD3 UR16, UR8, 0x18400, URZ");
  code.add("UIADD3 UR8, UR8, 0x400, URZ");
  if (plan.scaled) code.add("UIADD3 UR56, UR8, 0x30400, URZ").add("UMOV UR57, UR9").add("UIADD3 UR58, UR4, 0x2f0, URZ");
  code.add("UMOV UR17, UR9").add("UMOV UR18, UR10").add("UMOV UR20, UR12");
  code.add(mix.count_by_iadd3 ? "IADD3 R15, R15, -0x1, RZ" : "VIADD R15, R15, -0x1");
  code.add("SEL R14, RZ, 0x1, P2").add("SEL R3, R3, RZ, P2");
  code.add("ISETP.GT.AND P3, PT, R15, 0x1, PT");
  code.add("LOP3.LUT R4, R4, R14, RZ, 0x3c, !PT");
  add_bulk_loads(code, plan);
  code.add("@P3 BRA `(.L_k_block)");
  return code;
}

// Tile coordinates from the linear tile number. assumed: two divisions by multiplication, and the swizzle.
void add_tile_start(Code& code) {
  code.add("IMAD.HI.U32 R20, R19, R21, RZ").add("SHF.R.U32.HI R20, RZ, 0x5, R20").add("IMAD R22, R20, -0x21, R19");
  code.add("IMAD.HI.U32 R11, R22, R21, RZ").add("LOP3.LUT R13, R22, 0x7, RZ, 0xc0, !PT").add("SHF.L.U32 R11, R11, 0x7, RZ");
  code.add("SHF.L.U32 R13, R13, 0x7, RZ").add("MOV R10, RZ").add("MOV R15, R23");
}

Code tile_end(const isa::Architecture& architecture) {
  Code code(architecture);
  code.add("VIADD R19, R19, 0x84").add("ISETP.GE.AND P0, PT, R19, R24, PT").add("@!P0 BRA `(.L_tile)");
  return code;
}

// One warp initialises the barriers, and all warps wait for it.
void add_entry(Code& code, const HopperPlan& plan, bool initialises) {
  code.add("S2R R0, SR_TID.X").add("S2UR UR6, SR_CTAID.X").add("ULDC.64 UR4, c[0x0][0x210]");
  code.add("SHF.R.U32.HI R2, RZ, 0x5, R0");
  if (initialises) {
    code.add("UMOV UR7, 0x400").add("UMOV UR30, 0x1");
    for (uint32_t i = 0; i < 2 * plan.stages; ++i) code.add("SYNCS.EXCH.64 URZ, [UR7], UR30");
  }
  code.add("BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = static_cast<uint16_t>(plan.threads())});
  code.add(line({"USETMAXREG.DEALLOC.CTAPOOL ", immediate(plan.producer_registers)}),
           {.count = static_cast<uint16_t>(plan.producer_registers)});
}

Code entry(const isa::Architecture& architecture, const HopperPlan& plan) {
  Code code(architecture);
  add_entry(code, plan, true);
  code.add("MOV R3, RZ").add("MOV R4, 0x1").add("MOV R12, RZ").add("MOV R16, 0x400").add("MOV R17, 0x800").add("MOV R18, 0x18800");
  code.add("MOV R19, UR6").add("LDC R21, c[0x0][0x520]").add("LDC R23, c[0x0][0x524]").add("LDC R24, c[0x0][0x528]");
  code.add("UMOV UR23, 0x10000000").add("UMOV UR28, 0x3").add("UMOV UR29, 0x3");
  return code;
}

// Before it exits, the producer waits until every stage has been released, because other CTAs of the cluster still signal its
// barriers.
Code drain_pass(const isa::Architecture& architecture, const HopperPlan& plan) {
  Code code(architecture);
  code.add("IMAD R6, R3, 0x8, R16").add("SHF.L.U32 R5, R4, 0x1f, RZ");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R6+0x40], R5",
           {.barrier = HopperRings::kEmpty, .cursor = HopperCursors::kProducer, .advance = 1});
  code.add("VIADD R3, R3, 0x1")
      .add(line({"ISETP.NE.AND P2, PT, R3, ", immediate(plan.stages), ", PT"}))
      .add("SEL R14, RZ, 0x1, P2")
      .add("SEL R3, R3, RZ, P2");
  code.add("LOP3.LUT R4, R4, R14, RZ, 0x3c, !PT").add("@!P0 BRA `(.L_wait_drain)");
  return code;
}

}  // namespace

void add_group_lookup(Code& code) {
  code.add("LDG.E.CONSTANT R20, [R20.64]", {.bytes = 32}).add("IADD3 R22, R20, 0x7f, RZ").add("SHF.R.U32.HI R22, RZ, 0x7, R22");
  code.add("IMAD R13, R22, R21, R13").add("ISETP.GE.AND P0, PT, R19, R22, PT");
}

std::vector<traces::Node> producer_body(const isa::Architecture& architecture, const HopperPlan& plan) {
  std::vector<traces::Node> tile;
  Code start(architecture);
  add_tile_start(start);
  if (plan.grouped && !plan.batched) add_group_lookup(start);
  tile.push_back(block_of(start));
  tile.push_back(loop_of(k_block(architecture, plan), {.literal = plan.k_blocks}));
  std::vector<traces::Node> body{block_of(entry(architecture, plan))};
  if (plan.persistent) {
    tile.push_back(block_of(tile_end(architecture)));
    body.push_back(traces::Loop{{.parameter = HopperParameters::kTiles}, std::move(tile)});
    if (plan.stream_k) {
      body.push_back(loop_of(k_block(architecture, plan), {.parameter = HopperParameters::kEnded}));
      body.push_back(loop_of(k_block(architecture, plan), {.parameter = HopperParameters::kBegun}));
    }
  } else {
    body.insert(body.end(), tile.begin(), tile.end());
  }
  body.push_back(block_of(Code(architecture).add("NOP")));
  body.push_back(loop_of(drain_pass(architecture, plan), {.literal = plan.stages}));
  body.push_back(block_of(Code(architecture).add("EXIT")));
  connect(architecture, body);
  return body;
}

std::vector<traces::Node> producer_idle_body(const isa::Architecture& architecture, const HopperPlan& plan) {
  Code code(architecture);
  add_entry(code, plan, false);
  code.add("EXIT");
  return {block_of(code)};
}

}  // namespace warpfold::workloads
