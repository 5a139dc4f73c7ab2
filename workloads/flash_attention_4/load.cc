// The load warp: TMA loads Q of both tiles once, and then keys and values, block by block, through one ring.
//
//   K0, Q0, Q1, V0 | K1, V1 | K2, V2 | ...
#include "workloads/flash_attention_4/roles.h"

namespace warpfold::workloads::attention4 {
namespace {

using Plan = FlashAttention4Plan;

void add_boxes(Code& code, uint32_t boxes, uint32_t bytes, isa::Effect effect) {
  const uint32_t advance = effect.advance;
  for (uint32_t box = 0; box < boxes; ++box) {
    effect.bytes = bytes / boxes;
    effect.advance = box + 1 == boxes ? advance : 0;
    code.add(line({"UIADD3 UR8, UR8, ", immediate(bytes / boxes), ", URZ"}));
    code.add("UTMALDG.4D [UR8], [UR4]", effect);
  }
}

void add_block(Code& code, const Plan& plan, int16_t stream) {
  add_wait(code, Rings::kBlockEmpty, Cursors::kLoad, 0);
  code.add("SYNCS.ARRIVE.TRANS64 RZ, [UR6], R3",
           {.barrier = Rings::kBlockFull, .cursor = Cursors::kLoad, .tx_bytes = plan.stage_bytes()});
  add_boxes(code, plan.boxes(), plan.stage_bytes(),
            {.stream = stream, .barrier = Rings::kBlockFull, .cursor = Cursors::kLoad, .advance = 1});
}

void add_query(Code& code, const Plan& plan, int tile) {
  add_wait(code, Rings::query_empty(tile), Cursors::kTile, tile == 1 ? 1 : 0);
  code.add("SYNCS.ARRIVE.TRANS64 RZ, [UR6], R3", {.barrier = Rings::query_full(tile), .tx_bytes = plan.query_bytes()});
  add_boxes(code, plan.boxes(), plan.query_bytes(), {.stream = Streams::kQuery, .barrier = Rings::query_full(tile)});
}

}  // namespace

std::vector<traces::Node> load_body(const isa::Architecture& architecture, const Plan& plan) {
  Code entry(architecture);
  for (uint32_t ring = 0; ring < 20; ++ring) entry.add("SYNCS.EXCH.64 URZ, [UR6], UR4");
  add_entry(entry, plan.other_registers);
  Code first(architecture);
  add_block(first, plan, Streams::kKey);
  add_query(first, plan, 0);
  add_query(first, plan, 1);
  add_block(first, plan, Streams::kValue);
  Code more(architecture);
  add_block(more, plan, Streams::kKey);
  add_block(more, plan, Streams::kValue);
  more.add("VIADD R2, R2, -0x1").add("ISETP.GT.AND P1, PT, R2, RZ, PT").add("@P1 BRA `(.L_block)");
  return role_body(plan, entry, {block_of(first), loop_of(more, {.parameter = Parameters::kMore})});
}

}  // namespace warpfold::workloads::attention4
