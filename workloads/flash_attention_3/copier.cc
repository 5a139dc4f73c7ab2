// The producer warpgroup if keys lie in pages that TMA cannot traverse. Its four warps look up pages in the table, and each copies
// a quarter of a block by cp.async. A copied block is announced after the next copies have been issued, so that two blocks are in
// flight (the library's copies announce themselves, and run ahead as far as the rings have room):
//
//   K0, announced; Q | V0 | K1, V0 announced, V1, K1 announced | ... | last V announced
//
// The copies follow the library's structure (hopper/paged_kv.h, mainloop_fwd_sm90_tma_gmma_ws.hpp).
//
// assumed, since it was not counted: a thread looks up one page for the keys and the values of a block, rows get their addresses by
// shuffles, and eight threads copy a row.
#include "workloads/flash_attention_3/roles.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention3Plan;

constexpr uint32_t kCopyBytes = 512;  // LDGSTS.128 of a warp
constexpr uint32_t kFirstAddress = 20;
constexpr LoadRegisters kRegisters{3, 8};

struct Place {
  int16_t full;
  int16_t empty;
  int16_t cursor;     // cursor of the stage to copy to next
  int16_t announced;  // cursor of the stage to announce next
  int16_t stream;
};
constexpr Place kKeys{AttentionRings::kKeyFull, AttentionRings::kKeyEmpty, AttentionCursors::kKeyLoad, AttentionCursors::kKey,
                      AttentionStreams::kKey};
constexpr Place kValues{AttentionRings::kValueFull, AttentionRings::kValueEmpty, AttentionCursors::kValueLoad,
                        AttentionCursors::kValue, AttentionStreams::kValue};

void add_page_lookup(Code& code, const Plan& plan) {
  code.add("IMAD.HI.U32 R14, R13, R11, RZ").add("SHF.R.U32.HI R14, RZ, 0x5, R14").add("IMAD.WIDE.U32 R16, R14, 0x4, R8");
  // 4 bytes for each page that contains rows of the warp.
  const uint32_t rows = plan.tile_keys / plan.loaders();
  const uint32_t pages = std::min(32U, (rows + plan.page_keys - 1) / plan.page_keys);
  code.add("LDG.E.CONSTANT R15, desc[UR4][R16.64]",
           {.bytes = std::max(32U, 4 * pages), .stream = AttentionStreams::page_table(plan)});
}

void add_copies(Code& code, const Plan& plan, const Place& place) {
  code.add("IMAD R18, R3, 0x8, R13").add("SHF.L.U32 R19, R4, 0x1f, RZ");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R18+0x40], R19", {.barrier = place.empty, .cursor = place.cursor, .advance = 1});
  code.add("@!P0 BRA `(.L_wait_empty)");
  const uint32_t copies = plan.key_bytes() / plan.loaders() / kCopyBytes;
  for (uint32_t i = 0; i < copies; ++i) {
    const std::string low = general(kFirstAddress + 4 * (i % 2));
    const std::string high = general(kFirstAddress + 4 * (i % 2) + 1);
    code.add(line({"SHFL.IDX PT, ", general(kFirstAddress + 4 * (i % 2) + 2), ", R15, ", immediate(i), ", 0x1f"}));
    code.add(line({"IMAD.WIDE ", low, ", ", general(kFirstAddress + 4 * (i % 2) + 2), ", 0x100, R6"}));
    code.add(line({"IADD3 ", low, ", P1, ", low, ", R12, RZ"})).add(line({"IADD3.X ", high, ", RZ, ", high, ", RZ, P1, !PT"}));
    code.add(line({"LDGSTS.E.BYPASS.LTC128B.128 [R18+", immediate(2048 * i), "], desc[UR4][", low, ".64]"}),
             {.bytes = kCopyBytes, .stream = place.stream});
  }
  code.add("LDGDEPBAR", {.commit = true});
  code.add("VIADD R3, R3, 0x1").add(line({"ISETP.NE.AND P2, PT, R3, ", immediate(plan.stages), ", PT"}));
  code.add("SEL R3, R3, RZ, P2").add("SEL R19, RZ, 0x1, P2").add("LOP3.LUT R4, R4, R19, RZ, 0x3c, !PT");
}

// Waits until all but the last `left` groups of copies have arrived, and announces the stage.
void add_announcement(Code& code, const Place& place, uint32_t left) {
  code.add(line({"DEPBAR.LE.LDGSTS SB0, ", immediate(left)}), {.count = static_cast<uint16_t>(left)});
  code.add("FENCE.VIEW.ASYNC.S");
  code.add("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R18], RZ", {.barrier = place.full, .cursor = place.announced, .advance = 1});
}

}  // namespace

std::vector<traces::Node> attention_copier_body(const isa::Architecture& architecture, const Plan& plan) {
  Code entry(architecture);
  add_producer_entry(entry, plan, true);
  Code first(architecture);
  add_page_lookup(first, plan);
  add_copies(first, plan, kKeys);
  add_announcement(first, kKeys, 0);
  add_query_load(first, plan, kRegisters);
  add_output_wait(first);
  add_copies(first, plan, kValues);
  Code more(architecture);
  add_page_lookup(more, plan);
  add_copies(more, plan, kKeys);
  add_announcement(more, kValues, 1);
  add_copies(more, plan, kValues);
  add_announcement(more, kKeys, 1);
  add_producer_loop_end(more);
  Code last(architecture);
  add_tile_draw(last, plan);
  add_announcement(last, kValues, 0);
  add_tile_notice(last, plan);
  last.add("VIADD R10, R10, 0x84").add("ISETP.GE.AND P0, PT, R10, R11, PT").add("@!P0 BRA `(.L_tile)");
  return producer_body(architecture, plan, entry, {first, more, last});
}

}  // namespace warpfold::workloads
