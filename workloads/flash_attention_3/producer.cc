// The producer warpgroup of FlashAttention-3. Warp 0 loads Q once per tile, and K and V blocks, by TMA into their rings. The scores
// of a block are computed before the previous block is multiplied with V, so keys are loaded a block ahead:
//
//   K0, Q | K1, V0 | K2, V1 | ... | V last
//
// Without overlap a block's values follow its keys (16-bit elements; the 2025 library's load, IntraWGOverlap = false):
//
//   K0, Q | V0 | K1, V1 | K2, V2 | ...
//
// With 8-bit elements, the warpgroup's four warps transpose V, a quarter of each block per warp, from a ring that TMA fills into
// the ring that the consumers read. (The library's 8-bit producer loads a block's keys and values together, load_fp8.)
//
// The instruction mix of a K and a V block is that of the library's forward kernel (89 instructions, counted in its disassembly,
// without one load of a page table). The order and the registers are ours. assumed: the other code, which was not counted and is
// short in comparison.
#include "workloads/flash_attention_3/roles.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention3Plan;

constexpr LoadRegisters kRegisters{3, 8};

// The rings and the cursor of a load.
StageLoad load_of(const Plan& plan, Operand operand) {
  if (operand == Operand::kKey) {
    return {AttentionRings::kKeyFull, AttentionRings::kKeyEmpty, AttentionCursors::kKeyLoad, plan.stages, plan.cluster, {}};
  }
  if (plan.transposes()) {
    return {AttentionRings::kRawFull, AttentionRings::kRawEmpty, AttentionCursors::kValueLoad, plan.stages, plan.cluster, {}};
  }
  return {AttentionRings::kValueFull, AttentionRings::kValueEmpty, AttentionCursors::kValueLoad, plan.stages, plan.cluster, {}};
}

// Boxes that each loading warp requests, and the bytes of a box.
struct Boxes {
  uint32_t count;
  uint32_t bytes;
};
Boxes boxes_of(const Plan& plan, uint32_t bytes) {
  const uint32_t share = bytes / plan.loaders();
  const uint32_t count = std::max(1U, plan.boxes() / plan.loaders());
  return {count, share / count};
}

// Transposes a quarter of a block of V. The warp reads 8x8 matrices of 16-bit pairs transposed, sorts their bytes and writes them
// back. The code follows the library's structure. assumed, since it was not counted: a load, four permutations and a store for
// every 512 bytes of a warp.
void add_transpose(Code& code, const Plan& plan) {
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R14], R15",
           {.barrier = AttentionRings::kRawFull, .cursor = AttentionCursors::kTransposed});
  code.add("@!P0 BRA `(.L_wait_raw)");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R14], R15",
           {.barrier = AttentionRings::kValueEmpty, .cursor = AttentionCursors::kValue});
  code.add("@!P0 BRA `(.L_wait_room)");
  constexpr uint32_t kInFlight = 2;  // the producer's few registers hold two matrices of four registers
  for (uint32_t i = 0; i < plan.key_bytes() / 4 / 512; ++i) {
    const uint32_t matrix = 16 + 4 * (i % kInFlight);
    code.add(line({"LDSM.16.MT88.4 ", general(matrix), ", [R14+", immediate(512 * i), "]"}));
    for (uint32_t pair = 0; pair < 4; pair += 2) {
      code.add(line({"PRMT R15, ", general(matrix + pair), ", 0x6420, ", general(matrix + pair + 1)}));
      code.add(line({"PRMT ", general(matrix + pair + 1), ", ", general(matrix + pair), ", 0x7531, ", general(matrix + pair + 1)}));
    }
    code.add(line({"STSM.16.M88.4 [R14+", immediate(512 * i), "], ", general(matrix)}));
  }
  code.add("FENCE.VIEW.ASYNC.S");
  code.add("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R14], RZ",
           {.barrier = AttentionRings::kRawEmpty, .cursor = AttentionCursors::kTransposed, .advance = 1});
  code.add("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R14], RZ",
           {.barrier = AttentionRings::kValueFull, .cursor = AttentionCursors::kValue, .advance = 1});
}

// Computes the number of the next block and the head's tensors.
void add_coordinates(Code& code) {
  code.add("BSSY B0, `(.L_block_number)").add("S2R R15, SR_TID.X").add("LDC.64 R16, c[0x0][0x3a0]");
  code.add("IMAD.HI.U32 R18, R10, R11, RZ").add("SHF.R.U32.HI R18, RZ, 0x2, R18").add("SHF.R.S32.HI R19, RZ, 0x1f, R18");
  code.add("IMAD.IADD R18, R18, 0x1, R19").add("IMAD.WIDE.U32 R20, R18, 0x4, R16").add("LEA R20, R18, R20, 0x2");
  code.add("LEA.HI.X R21, R18, R21, R19, 0x2").add("LEA R18, R18, R19, 0x3").add("LEA R19, R19, R18, 0x3");
  for (uint32_t i = 0; i < 4; ++i) code.add(line({"IMAD.MOV.U32 ", general(20 + i % 2), ", RZ, RZ, ", general(18 + i % 2)}));
  for (uint32_t i = 0; i < 4; ++i) code.add(line({"UIMAD ", uniform(30 + i), ", ", uniform(26), ", 0x2c00, ", uniform(27)}));
  for (uint32_t i = 0; i < 4; ++i) code.add(line({"UMOV ", uniform(34 + i), ", ", uniform(30 + i)}));
  code.add("UIADD3 UR34, UR34, 0x400, URZ").add("UIADD3 UR35, UR35, 0x400, URZ").add("BSYNC B0").add("NOP");
}

}  // namespace

void add_output_wait(Code& code) {
  code.add("SHF.L.U32 R15, R4, 0x1f, RZ");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R14], R15",
           {.barrier = AttentionRings::kOutput, .cursor = AttentionCursors::kOutput, .advance = 1});
  code.add("@!P0 BRA `(.L_wait_output)");
}

void add_producer_entry(Code& code, const Plan& plan, bool initialises) {
  code.add("S2R R0, SR_TID.X").add("S2UR UR6, SR_CTAID.X").add("ULDC.64 UR4, c[0x0][0x210]").add("SHF.R.U32.HI R2, RZ, 0x5, R0");
  if (initialises) {
    code.add("UMOV UR7, 0x400").add("UMOV UR50, 0x1");
    for (uint32_t i = 0; i < 2 + 4 * plan.stages; ++i) code.add("SYNCS.EXCH.64 URZ, [UR7], UR50");
  }
  code.add("BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = static_cast<uint16_t>(plan.threads())});
  code.add(line({"USETMAXREG.DEALLOC.CTAPOOL ", immediate(plan.producer_registers)}),
           {.count = static_cast<uint16_t>(plan.producer_registers)});
  for (uint32_t i = 0; i < 12; ++i) code.add(line({"MOV ", general(kRegisters.general + i), ", RZ"}));
}

std::vector<traces::Node> producer_body(const isa::Architecture& architecture, const Plan& plan, const Code& entry,
                                        const ProducerTile& parts) {
  std::vector<traces::Node> body{block_of(entry)};
  for (uint32_t length = 0; length < plan.lengths; ++length) {
    std::vector<traces::Node> tile{block_of(parts.first)};
    if (plan.varies()) tile.push_back(loop_of(parts.more, {.parameter = AttentionParameters::more(length)}));
    if (!plan.varies() && plan.blocks() > 1) tile.push_back(loop_of(parts.more, {.literal = plan.blocks() - 1}));
    tile.push_back(block_of(parts.last));
    add_tiles(body, plan, length, std::move(tile));
  }
  body.push_back(block_of(Code(architecture).add("EXIT")));
  connect(architecture, body);
  return body;
}

void add_producer_loop_end(Code& code) {
  code.add("VIADD R15, R15, -0x1").add("ISETP.GT.AND P3, PT, R15, 0x1, PT").add("@P3 BRA `(.L_block)");
}

void add_block_load(Code& code, const Plan& plan, Operand operand, const LoadRegisters& registers) {
  StageLoad load = load_of(plan, operand);
  const Boxes boxes = boxes_of(plan, plan.key_bytes());
  const int16_t stream = operand == Operand::kKey ? AttentionStreams::kKey : AttentionStreams::kValue;
  load.boxes.assign(boxes.count, {boxes.bytes, stream});
  add_stage_load(code, load, registers);
}

void add_query_load(Code& code, const Plan& plan, const LoadRegisters& registers) {
  const auto r = [&registers](uint32_t i) { return general(registers.general + i); };
  const auto u = [&registers](uint32_t i) { return uniform(registers.uniform + i); };
  const Boxes boxes = boxes_of(plan, plan.rows() * plan.head_dim() * plan.element_bytes());
  code.add(line({"IMAD.HI.U32 ", r(6), ", ", r(7), ", ", r(8), ", RZ"})).add(line({"SHF.R.U32.HI ", r(7), ", RZ, 0x5, ", r(6)}));
  code.add(line({"R2UR ", u(3), ", ", r(6)})).add(line({"R2UR ", u(4), ", ", r(7)}));
  code.add(line({"UMOV ", u(6), ", 0x0"})).add(line({"UMOV ", u(7), ", 0x10000000"}));
  if (plan.specialized) {
    code.add("BAR.SYNC.DEFER_BLOCKING 0x1, 0x120", {.barrier = AttentionBarriers::kQueryEmpty, .count = query_room_threads(plan)});
  }
  code.add(line({"SYNCS.ARRIVE.TRANS64 RZ, [", r(10), "], ", r(4)}),
           {.barrier = AttentionRings::kQuery, .tx_bytes = boxes.count * boxes.bytes});
  for (uint32_t box = 0; box < boxes.count; ++box) {
    code.add(line({"UMOV ", u(2), ", ", immediate(64 * box)}));
    code.add(line({"UTMALDG.4D [", u(0), "], [", u(8), "], desc[", u(6), "]"}),
             {.bytes = boxes.bytes, .stream = AttentionStreams::kQuery, .barrier = AttentionRings::kQuery});
  }
}

std::vector<traces::Node> attention_producer_body(const isa::Architecture& architecture, const Plan& plan) {
  Code entry(architecture);
  add_producer_entry(entry, plan, true);
  Code first(architecture);
  add_block_load(first, plan, Operand::kKey, kRegisters);
  add_query_load(first, plan, kRegisters);
  add_output_wait(first);
  if (!plan.keys_ahead()) add_block_load(first, plan, Operand::kValue, kRegisters);
  Code more(architecture);
  add_coordinates(more);
  add_block_load(more, plan, Operand::kKey, kRegisters);
  add_block_load(more, plan, Operand::kValue, kRegisters);
  if (plan.transposes()) add_transpose(more, plan);
  add_producer_loop_end(more);
  Code last(architecture);
  add_tile_draw(last, plan);
  if (plan.keys_ahead()) add_block_load(last, plan, Operand::kValue, kRegisters);
  add_tile_notice(last, plan);
  if (plan.transposes()) add_transpose(last, plan);
  // Addresses of the next tile, after the last use of this tile's.
  last.add("MOV R6, RZ").add("UMOV UR14, 0x0").add("UMOV UR15, 0x10000000");
  last.add("VIADD R10, R10, 0x84").add("ISETP.GE.AND P0, PT, R10, R11, PT").add("@!P0 BRA `(.L_tile)");
  return producer_body(architecture, plan, entry, {first, more, last});
}

std::vector<traces::Node> attention_helper_body(const isa::Architecture& architecture, const Plan& plan) {
  Code entry(architecture);
  add_producer_entry(entry, plan, false);
  if (!plan.transposes()) return {block_of(entry.add("EXIT"))};
  Code first(architecture);
  add_output_wait(first);
  Code more(architecture);
  add_transpose(more, plan);
  add_producer_loop_end(more);
  Code last(architecture);
  add_tile_notice(last, plan);
  add_transpose(last, plan);
  return producer_body(architecture, plan, entry, {first, more, last});
}

}  // namespace warpfold::workloads
