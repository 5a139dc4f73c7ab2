// The consumer's synchronisation: rings of K and V, the rooms for Q and O, the turns of the warpgroups.
#include "workloads/flash_attention_3/consumer.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention3Plan;

}  // namespace

void AttentionConsumer::add_query_released(Code& code) const {
  if (!plan_.specialized) return;
  code.add("BAR.ARV 0x1, 0x120", {.barrier = AttentionBarriers::kQueryEmpty, .count = query_room_threads(plan_)});
}

// The first check is an early look whose result is carried as a token; it may already hold the warp for a while.
void AttentionConsumer::add_wait(Code& code, int16_t ring, int16_t cursor) const {
  add_look(code, ring, cursor);
  add_wait_behind_look(code, ring, cursor);
}

void AttentionConsumer::add_look(Code& code, int16_t ring, int16_t cursor) const {
  code.add("ULEA UR44, UR38, UR39, 0x3").add("IMAD.U32 R3, RZ, RZ, UR41").add("SHF.L.U32 R3, R3, 0x1f, RZ");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.barrier = ring, .cursor = cursor});
}

void AttentionConsumer::add_wait_behind_look(Code& code, int16_t ring, int16_t cursor) const {
  code.add("@P0 BRA `(.L_ready)");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.barrier = ring, .cursor = cursor});
  code.add("@!P0 BRA `(.L_wait)");
}

void AttentionConsumer::add_release(Code& code, int16_t ring, int16_t cursor) const {
  code.add("IMAD.U32 R15, RZ, RZ, UR44").add("@!P3 BRA `(.L_released)");
  code.add("@!P3 LEA R15, R15, UR39, 0x3").add("@!P3 PRMT R15, R15, 0x654, R15");
  code.add("SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R15], RZ", {.barrier = ring, .cursor = cursor, .advance = 1});
}

// A turn begins when all warpgroups are at its barrier: this one waits there, the others have said that they have issued.
void AttentionConsumer::add_turn_wait(Code& code) const {
  if (!plan_.pingpong) return;
  code.add(line({"BAR.SYNC.DEFER_BLOCKING R1, ", immediate(Plan::kGroupThreads * plan_.consumers())}),
           {.barrier = static_cast<int16_t>(AttentionBarriers::kTurn + group_),
            .count = static_cast<uint16_t>(Plan::kGroupThreads * plan_.consumers())});
}

void AttentionConsumer::add_turn_of(Code& code, uint32_t group) const {
  code.add(line({"BAR.ARV R1, ", immediate(Plan::kGroupThreads * plan_.consumers())}),
           {.barrier = static_cast<int16_t>(AttentionBarriers::kTurn + group),
            .count = static_cast<uint16_t>(Plan::kGroupThreads * plan_.consumers())});
}

void AttentionConsumer::add_turn_over(Code& code) const {
  for (uint32_t other = 1; plan_.pingpong && other < plan_.consumers(); ++other) {
    add_turn_of(code, (static_cast<uint32_t>(group_) + other) % plan_.consumers());
  }
}

void AttentionConsumer::add_next_stage(Code& code) const {
  code.add("UIADD3 UR38, UR38, 0x1, URZ").add(line({"UISETP.NE.AND UP0, UPT, UR38, ", immediate(plan_.stages), ", UPT"}));
  code.add("USEL UR47, URZ, 0x1, UP0").add("USEL UR38, UR38, URZ, UP0").add("ULOP3.LUT UR41, UR41, UR47, URZ, 0x3c, !UPT");
  code.add("USHF.R.U32.HI UR48, URZ, 0x1, UR38");
}

// In a persistent CTA the last warpgroup sees that the tile before has been stored when it has issued the next one's first
// products: until then the producer loads no more than that tile's Q and first keys. (In a CTA's first tile the library loads on at
// once; the second keys are needed behind a softmax.)
void AttentionConsumer::add_output_room(Code& code) const {
  if (plan_.specialized && static_cast<uint32_t>(group_) + 1 == plan_.consumers()) add_output_release(code);
}

void AttentionConsumer::add_products_wait(Code& code) const {
  code.add("WARPGROUP.DEPBAR.LE gsb0, 0x0");
  add_release(code, AttentionRings::kValueEmpty, AttentionCursors::kValue);
}

}  // namespace warpfold::workloads
