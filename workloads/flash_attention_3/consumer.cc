// The consumer's program: its entry, the tiles of a CTA, the blocks of a tile.
#include "workloads/flash_attention_3/consumer.h"

#include "workloads/flash_attention_3/exponentials.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention3Plan;
using Registers = AttentionRegisters;

}  // namespace

void AttentionConsumer::add_entry(Code& code) const {
  code.add("S2R R0, SR_TID.X").add("S2UR UR40, SR_CTAID.X").add("ULDC.64 UR42, c[0x0][0x210]").add("SHF.R.U32.HI R1, RZ, 0x5, R0");
  code.add("BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = static_cast<uint16_t>(plan_.threads())});
  if (plan_.specialized) {
    code.add(line({"USETMAXREG.TRY_ALLOC.CTAPOOL ", immediate(plan_.consumer_registers)}),
             {.count = static_cast<uint16_t>(plan_.consumer_registers)});
  }
  code.add("ULDC UR36, c[0x0][0x520]").add("ULDC UR37, c[0x0][0x524]").add("UMOV UR38, URZ").add("UMOV UR39, 0x400");
  code.add("UMOV UR41, URZ").add("MOV R2, RZ");
  if (loads()) {
    const uint32_t first = load_registers().general;
    for (uint32_t i = 0; i < 12; ++i) code.add(line({"MOV ", general(first + i), ", RZ"}));
  }
  // Initially the room for Q is free, and the first warpgroup has the turn.
  add_query_released(code);
  add_tile_number_free(code, plan_);
  for (uint32_t before = 0; plan_.pingpong && before < static_cast<uint32_t>(group_); ++before) add_turn_of(code, before);
}

void AttentionConsumer::add_loads(Code& code, Loads what) const {
  if (!loads() || what == Loads::kNone) return;
  if (what == Loads::kBoth) add_block_load(code, plan_, Operand::kKey, load_registers());
  add_block_load(code, plan_, Operand::kValue, load_registers());
}

// Waits for Q and runs the first block, whose keys are always masked at the end of the sequence.
void AttentionConsumer::add_first_block(Code& code) const {
  if (loads()) {
    add_query_load(code, plan_, load_registers());
    add_block_load(code, plan_, Operand::kKey, load_registers());
    add_block_load(code, plan_, Operand::kKey, load_registers());
    add_block_load(code, plan_, Operand::kValue, load_registers());
  }
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR39], R2",
           {.barrier = AttentionRings::kQuery, .cursor = AttentionCursors::kTile, .advance = 1});
  code.add("@!P0 BRA `(.L_wait_query)");
  const Mask mask = plan_.tiles.causal() ? Mask::kCausal : Mask::kKeys;
  if (!plan_.overlap) {
    if (!short_turns()) add_turn_wait(code);
    return add_plain_block(code, mask, true);
  }
  add_wait(code, AttentionRings::kKeyFull, AttentionCursors::kKey);
  add_turn_wait(code);
  add_scores(code);
  add_turn_over(code);
  add_output_room(code);
  code.add("WARPGROUP.DEPBAR.LE gsb0, 0x0");
  add_release(code, AttentionRings::kKeyEmpty, AttentionCursors::kKey);
  add_mask_load(code, plan_);
  add_mask(code, plan_, mask);
  add_softmax(code, true, mask);
  add_probabilities(code, plan_);
}

void AttentionConsumer::add_last_products(Code& code) const {
  add_query_released(code);
  if (!plan_.overlap) {
    if (!short_turns()) add_turn_over(code);
    add_finish(code);
    return add_rescale(code, plan_);
  }
  add_rescale(code, plan_);
  add_wait(code, AttentionRings::kValueFull, AttentionCursors::kValue);
  add_products(code);
  add_finish(code);
  add_products_wait(code);
  add_rescale(code, plan_);
}

// Adds the blocks after the first: the blocks that the diagonal cuts, then whole blocks.
void AttentionConsumer::add_blocks(std::vector<traces::Node>& nodes, uint32_t length) const {
  const auto block = [this](Mask mask, Loads what) {
    Code code(architecture_);
    add_block(code, mask, what);
    return code;
  };
  if (plan_.tiles.causal()) {
    nodes.push_back(loop_of(block(Mask::kCausal, Loads::kNone), {.parameter = AttentionParameters::masked(length)}));
    nodes.push_back(block_of(Code(architecture_).add("IMAD.MOV.U32 R2, RZ, RZ, R2")));
    nodes.push_back(loop_of(block(Mask::kNone, Loads::kNone), {.parameter = AttentionParameters::full(length)}));
    return;
  }
  if (plan_.varies()) {
    nodes.push_back(loop_of(block(Mask::kNone, Loads::kNone), {.parameter = AttentionParameters::full(length)}));
    return;
  }
  // Consumers that load have no more keys to load in their last block.
  const uint64_t last = plan_.specialized ? 0 : 1;
  const uint64_t more = plan_.blocks() - 1 - last;
  if (more > 0) nodes.push_back(loop_of(block(Mask::kNone, Loads::kBoth), {.literal = more}));
  if (last > 0) nodes.push_back(block_of(block(Mask::kNone, Loads::kValue)));
}

std::vector<traces::Node> AttentionConsumer::tile(uint32_t length) const {
  Code head(architecture_);
  for (uint32_t i = 0; i < plan_.outputs(); i += 2) head.add(line({"CS2R ", general(Registers::kOutput + i), ", SRZ"}));
  add_first_block(head);
  std::vector<traces::Node> nodes{block_of(head)};
  add_blocks(nodes, length);
  Code rest(architecture_);
  add_last_products(rest);
  if (plan_.splits > 1) {
    add_partial_epilogue(rest, plan_);
  } else {
    add_epilogue(rest, plan_);
  }
  if (!plan_.specialized) add_output_release(rest);
  add_tile_number(rest, plan_);
  if (plan_.specialized) rest.add("VIADD R2, R2, 0x84").add("ISETP.GE.AND P4, PT, R2, R1, PT").add("@!P4 BRA `(.L_tile)");
  nodes.push_back(block_of(rest));
  return nodes;
}

std::vector<traces::Node> AttentionConsumer::body() const {
  Code entry(architecture_);
  add_entry(entry);
  std::vector<traces::Node> nodes{block_of(entry)};
  for (uint32_t length = 0; length < plan_.lengths; ++length) add_tiles(nodes, plan_, length, tile(length));
  nodes.push_back(block_of(Code(architecture_).add("EXIT")));
  space_exponentials(nodes);
  connect(architecture_, nodes);
  return nodes;
}

std::vector<traces::Node> attention_consumer_body(const isa::Architecture& architecture, const Plan& plan, int group) {
  return AttentionConsumer(architecture, plan, group).body();
}

}  // namespace warpfold::workloads
