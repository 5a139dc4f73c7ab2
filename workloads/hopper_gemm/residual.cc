// The warp that loads a residual's sub-tiles: CUTLASS's epilogue load warp (include/cutlass/gemm/kernel/
// sm90_gemm_tma_warpspecialized_cooperative.hpp), here one warp for each consumer warpgroup. It runs ahead of the epilogue by as
// many sub-tiles as there are buffers. assumed: its instructions, which were not counted, are those of the producer's k-block loop
// without the load of B.
#include "workloads/common/program.h"
#include "workloads/hopper_gemm/roles.h"

namespace warpfold::workloads {
namespace {

Code entry(const isa::Architecture& architecture, const HopperPlan& plan) {
  Code code(architecture);
  code.add("S2R R0, SR_TID.X").add("S2UR UR6, SR_CTAID.X").add("ULDC.64 UR4, c[0x0][0x210]").add("SHF.R.U32.HI R2, RZ, 0x5, R0");
  code.add("BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = static_cast<uint16_t>(plan.threads())});
  code.add(line({"USETMAXREG.DEALLOC.CTAPOOL ", immediate(plan.producer_registers)}),
           {.count = static_cast<uint16_t>(plan.producer_registers)});
  code.add("MOV R3, RZ").add("MOV R4, 0x1").add("MOV R16, 0x400").add("MOV R17, 0x800");
  return code;
}

Code sub_tile(const isa::Architecture& architecture, const HopperPlan& plan, int group) {
  const ResidualRings rings(plan, group);
  const uint32_t bytes = plan.used_bytes(64 * plan.epilogue_row_bytes());
  Code code(architecture);
  code.add("IMAD R6, R3, 0x8, R16").add("SHF.L.U32 R5, R4, 0x1f, RZ").add("LOP3.LUT P1, RZ, R0, 0x1f, RZ, 0xc0, !PT");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R6+0x40], R5", {.barrier = rings.empty(), .cursor = rings.cursor});
  code.add("IMAD R8, R3, 0x1000, R17").add("UIADD3 UR24, UP0, UR4, 0x3f0, URZ").add("UIADD3.X UR25, URZ, UR5, URZ, UP0, !UPT");
  code.add("@!P0 BRA `(.L_wait_residual)").add("R2UR UR9, R6").add("R2UR UR8, R8").add("R2UR UR10, R10").add("R2UR UR11, R11");
  code.add("@!P1 SYNCS.ARRIVE.TRANS64 RZ, [R6], R7", {.barrier = rings.full, .cursor = rings.cursor, .tx_bytes = bytes});
  code.add("VIADD R3, R3, 0x1").add("VIADD R10, R10, 0x20");
  code.add(line({"ISETP.NE.AND P2, PT, R3, ", immediate(ResidualRings::kDepth), ", PT"}));
  code.add("SEL R14, RZ, 0x1, P2").add("SEL R3, R3, RZ, P2").add("LOP3.LUT R4, R4, R14, RZ, 0x3c, !PT");
  code.add("UTMALDG.3D [UR8], [UR24]",
           {.bytes = bytes, .stream = HopperStreams::kResidual, .barrier = rings.full, .cursor = rings.cursor, .advance = 1});
  code.add("@P3 BRA `(.L_sub_tile)");
  return code;
}

}  // namespace

std::vector<traces::Node> residual_body(const isa::Architecture& architecture, const HopperPlan& plan, int group) {
  std::vector<traces::Node> tile;
  tile.push_back(
      block_of(Code(architecture).add("IMAD.HI.U32 R20, R19, R21, RZ").add("SHF.L.U32 R11, R20, 0x7, RZ").add("MOV R10, RZ")));
  tile.push_back(loop_of(sub_tile(architecture, plan, group), {.literal = plan.epilogue_steps()}));
  std::vector<traces::Node> body{block_of(entry(architecture, plan))};
  if (plan.persistent) {
    tile.push_back(block_of(
        Code(architecture).add("VIADD R19, R19, 0x84").add("ISETP.GE.AND P0, PT, R19, R24, PT").add("@!P0 BRA `(.L_tile)")));
    const int32_t tiles = plan.pingpong ? HopperParameters::kTilesOfGroup + group : HopperParameters::kTiles;
    body.push_back(traces::Loop{{.parameter = tiles}, std::move(tile)});
  } else {
    body.insert(body.end(), tile.begin(), tile.end());
  }
  body.push_back(block_of(Code(architecture).add("EXIT")));
  connect(architecture, body);
  return body;
}

}  // namespace warpfold::workloads
