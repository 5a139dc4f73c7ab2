// The producer warp of FlashAttention-3: Q once, then K and V blocks by TMA into their rings.
//
//   Q, K0 | K1, V0 | K2, V1 | ... | V last
#include "workloads/flash_attention_3_roles.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention3Plan;

struct Load {
  int16_t full;
  int16_t empty;
  int16_t cursor;
  int16_t stream;
};
constexpr Load kKey{AttentionRings::kKeyFull, AttentionRings::kKeyEmpty, AttentionCursors::kKey, AttentionStreams::kKey};
constexpr Load kValue{AttentionRings::kValueFull, AttentionRings::kValueEmpty, AttentionCursors::kValue, AttentionStreams::kValue};

// Half of the counted mix of a K and a V block (89 instructions).
void add_load(Code& code, const Plan& plan, const Load& load) {
  code.add("IMAD R6, R3, 0x8, R16").add("SHF.L.U32 R5, R4, 0x1f, RZ");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R6+0x40], R5", {.barrier = load.empty, .cursor = load.cursor});
  code.add("ISETP.NE.AND P1, PT, R0, RZ, PT").add("IMAD R8, R3, 0x2c00, R17");
  code.add("@!P0 BRA `(.L_wait_empty)");
  code.add("@!P1 LDC R7, c[0x0][0x500]");  // transaction bytes
  code.add("UMOV UR22, 0x0")
      .add("UMOV UR23, 0x10000000")
      .add("UIADD3 UR24, UP0, UR4, 0xf0, URZ")
      .add("UIADD3.X UR25, URZ, UR5, URZ, UP0, !UPT");
  code.add("R2UR UR9, R6").add("R2UR UR8, R8").add("R2UR UR11, R11").add("R2UR UR12, R12").add("R2UR UR13, R13");
  code.add("@!P1 SYNCS.ARRIVE.TRANS64 RZ, [R6], R7", {.barrier = load.full, .cursor = load.cursor, .tx_bytes = plan.key_bytes()});
  code.add("VIADD R3, R3, 0x1").add("ISETP.NE.AND P2, PT, R3, 0x2, PT").add("SEL R14, RZ, 0x1, P2").add("SEL R3, R3, RZ, P2");
  code.add("LOP3.LUT R4, R4, R14, RZ, 0x3c, !PT");
  for (uint32_t box = 0; box < plan.boxes(); ++box) {
    code.add(line({"UIADD3 UR8, UR8, ", immediate(box * 0x2c00), ", URZ"})).add(line({"UMOV UR10, ", immediate(64 * box)}));
    const bool last = box + 1 == plan.boxes();
    code.add("UTMALDG.4D [UR8], [UR24], desc[UR22]", {.bytes = plan.key_bytes() / plan.boxes(),
                                                      .stream = load.stream,
                                                      .barrier = load.full,
                                                      .cursor = load.cursor,
                                                      .advance = last ? 1U : 0U});
  }
}

void add_query(Code& code, const Plan& plan) {
  code.add("IMAD.HI.U32 R20, R19, R21, RZ").add("SHF.R.U32.HI R20, RZ, 0x5, R20").add("IMAD R22, R20, -0x21, R19");
  code.add("R2UR UR11, R20").add("R2UR UR12, R22").add("UMOV UR22, 0x0").add("UMOV UR23, 0x10000000");
  code.add("BAR.SYNC.DEFER_BLOCKING 0x1, 0x120", {.barrier = AttentionBarriers::kQueryEmpty,
                                                  .count = static_cast<uint16_t>(Plan::kGroupThreads * plan.consumers() + 32)});
  code.add("SYNCS.ARRIVE.TRANS64 RZ, [R16], R7", {.barrier = AttentionRings::kQuery, .tx_bytes = plan.query_bytes()});
  for (uint32_t box = 0; box < plan.boxes(); ++box) {
    code.add(line({"UMOV UR10, ", immediate(64 * box)}));
    code.add("UTMALDG.4D [UR8], [UR26], desc[UR22]",
             {.bytes = plan.query_bytes() / plan.boxes(), .stream = AttentionStreams::kQuery, .barrier = AttentionRings::kQuery});
  }
}

void add_output_wait(Code& code) {
  code.add("SHF.L.U32 R5, R4, 0x1f, RZ");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R16], R5",
           {.barrier = AttentionRings::kOutput, .cursor = AttentionCursors::kOutput, .advance = 1});
  code.add("@!P0 BRA `(.L_wait_output)");
}

void add_entry(Code& code, const Plan& plan, bool initialises) {
  code.add("S2R R0, SR_TID.X").add("S2UR UR6, SR_CTAID.X").add("ULDC.64 UR4, c[0x0][0x210]").add("SHF.R.U32.HI R2, RZ, 0x5, R0");
  if (initialises) {
    code.add("UMOV UR7, 0x400").add("UMOV UR30, 0x1");
    for (uint32_t i = 0; i < 2 + 4 * plan.stages; ++i) code.add("SYNCS.EXCH.64 URZ, [UR7], UR30");
  }
  code.add("BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = static_cast<uint16_t>(plan.threads())});
  code.add(line({"USETMAXREG.DEALLOC.CTAPOOL ", immediate(plan.producer_registers)}),
           {.count = static_cast<uint16_t>(plan.producer_registers)});
}

}  // namespace

std::vector<traces::Node> attention_producer_body(const isa::Architecture& architecture, const Plan& plan) {
  Code entry(architecture);
  add_entry(entry, plan, true);
  entry.add("MOV R3, RZ")
      .add("MOV R4, 0x1")
      .add("MOV R16, 0x400")
      .add("MOV R17, 0x800")
      .add("MOV R19, UR6")
      .add("LDC R21, c[0x0][0x520]");
  entry.add("MOV R11, RZ").add("MOV R12, RZ").add("MOV R13, RZ").add("LDC R7, c[0x0][0x500]");
  Code head(architecture);
  add_query(head, plan);
  add_load(head, plan, kKey);
  add_output_wait(head);
  Code block(architecture);
  add_load(block, plan, kKey);
  add_load(block, plan, kValue);
  block.add("VIADD R15, R15, -0x1").add("ISETP.GT.AND P3, PT, R15, 0x1, PT").add("@P3 BRA `(.L_block)");
  Code rest(architecture);
  add_load(rest, plan, kValue);
  rest.add("VIADD R19, R19, 0x84").add("ISETP.GE.AND P0, PT, R19, R21, PT").add("@!P0 BRA `(.L_tile)");
  const QueryTile& blocks = plan.tiles.query_tiles().front();
  std::vector<traces::Node> tile{straight(head), loop_of(block, {.literal = blocks.full_blocks + blocks.masked_blocks - 1}),
                                 straight(rest)};
  std::vector<traces::Node> body{straight(entry), traces::Loop{{.parameter = AttentionParameters::kTiles}, std::move(tile)},
                                 straight(Code(architecture).add("EXIT"))};
  connect(architecture, body);
  return body;
}

std::vector<traces::Node> attention_idle_body(const isa::Architecture& architecture, const Plan& plan) {
  Code code(architecture);
  add_entry(code, plan, false);
  code.add("EXIT");
  return {straight(code)};
}

}  // namespace warpfold::workloads
