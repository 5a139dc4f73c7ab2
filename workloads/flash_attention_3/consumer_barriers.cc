// The consumer's synchronisation: the rooms for Q and O, and the turns of the warpgroups.
#include "workloads/flash_attention_3/consumer.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention3Plan;

}  // namespace

void AttentionConsumer::add_query_released(Code& code) const {
  if (!plan_.specialized) return;
  code.add("BAR.ARV 0x1, 0x120", {.barrier = AttentionBarriers::kQueryEmpty, .count = query_room_threads(plan_)});
}

// A turn begins when all warpgroups have reached its barrier: this warpgroup waits there, and the others have arrived after issuing
// their products.
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

// In a persistent CTA, the last warpgroup reports that the previous tile has been stored, after it has issued the first products of
// the next tile. Until then the producer loads only that tile's Q and first keys. (In a CTA's first tile the library continues to
// load at once; the second block of keys is needed only after a softmax.)
void AttentionConsumer::add_output_room(Code& code) const {
  if (plan_.specialized && static_cast<uint32_t>(group_) + 1 == plan_.consumers()) add_output_release(code);
}

void AttentionConsumer::add_products_wait(Code& code) const {
  code.add("WARPGROUP.DEPBAR.LE gsb0, 0x0");
  add_release(code, AttentionRings::kValueEmpty, AttentionCursors::kValue);
}

}  // namespace warpfold::workloads
