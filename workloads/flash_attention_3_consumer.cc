// A consumer warpgroup of FlashAttention-3: 64 query rows. S = Q K^T and O += P V by wgmma, softmax between them.
//
// With overlap within the warpgroup (the library's default), a block's scores are made while the block before is still to be
// multiplied with V; both products are issued together, and the softmax of the new block runs beside P V of the old one:
//
//   Q K0 | softmax 0 | Q K1, P0 V0 | softmax 1 | Q K2, P1 V1 | softmax 2 | P2 V2
//
// That is how the library writes it. The compiler moves the wait for P V forward, before all or nearly all of the exponentials, so
// that of a softmax hardly more than the row maxima runs beside P V (`ProductsWait`).
//
// Without overlap: Q K0 | softmax 0 | P0 V0 | Q K1 | softmax 1 | P1 V1 ...
// Consumers that load (the paper's ablation without warp specialisation was not released): the first release's loop, with the next
// block but one loaded at the end of a block and no turns, as the same release's backward kernel without a producer is written
// (flash_bwd_kernel.h, compute_dqkv); compiled so and disassembled, CUDA 12.4, 255 registers, nothing spilled.
// Taking turns (ping-pong), a warpgroup issues its products only after the others have issued theirs.
//
// The instruction mix of a key block is that of the library's forward kernel (counted in its disassembly: 594 instructions for 176
// keys, 469 for 128 at head_dim 128, CUDA 13.0), the order that of its first release (disassembled, CUDA 12.4); registers are ours.
// Code outside the blocks was not counted: assumed, after the library's structure (hopper/mainloop_fwd_sm90_tma_gmma_ws.hpp,
// epilogue_fwd.hpp).
#include <bit>

#include "workloads/flash_attention_3_exponentials.h"
#include "workloads/flash_attention_3_roles.h"
#include "workloads/flash_attention_3_staggered.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention3Plan;
using Registers = AttentionRegisters;

constexpr uint32_t kFirstQuad = 4;  // UR4-UR35: four uniform registers hold the descriptors of A and B
constexpr uint32_t kQuads = 8;

// How far the softmax of a block is when its warpgroup waits for the products of the block before: where the compiled kernels have
// the wait (first release, CUDA 12.4, fp16; CUDA 13.0 has it in the same place, or earlier, at head_dim 128).
struct ProductsWait {
  bool before_maxima = false;
  uint32_t exponentials = 0;
};

// Exponentials of a block of 8-bit elements after which its turn is over: where the compiled kernels have the arrival (July 2024,
// CUDA 12.4). The library ends it when the scores are there (mma_fp8).
uint32_t exponentials_in_turn(const Plan& plan) { return plan.head_dim() == 256 && !plan.tiles.causal() ? 14 : 0; }

ProductsWait products_wait(const Plan& plan, Mask mask) {
  if (plan.head_dim() <= 64) return {.before_maxima = true};
  if (plan.head_dim() <= 128 && !plan.specialized) return {.exponentials = 7};
  if (plan.head_dim() <= 128) return {.exponentials = mask == Mask::kCausal ? 53U : 2U};
  return {.exponentials = mask == Mask::kCausal ? 0U : 15U};
}

// Registers of O that shrink before a step of the scores where there is no turn to wait for: with consumers that load 13 before the
// first step and the rest before the second (head_dim 128); in the first release all along (256).
uint32_t rescaled_before(const Plan& plan, uint32_t step) {
  if (!plan.specialized && plan.head_dim() <= 128) return step == 0 ? 13 : plan.outputs();
  return step * plan.outputs() / plan.score_steps();
}

class Consumer {
 public:
  Consumer(const isa::Architecture& architecture, const Plan& plan, int group)
      : architecture_(architecture), plan_(plan), group_(static_cast<int16_t>(group)) {}

  std::vector<traces::Node> body() const;

 private:
  // Blocks that the consumers load themselves at the start of a block; with a producer of their own, none.
  enum class Loads { kNone, kValue, kBoth };

  bool loads() const { return !plan_.specialized && group_ == 0; }
  LoadRegisters load_registers() const { return {Registers::dropout(plan_), 52}; }
  bool short_turns() const { return plan_.eight_bit() && plan_.head_dim() == 256; }
  void add_entry(Code& code) const;
  void add_loads(Code& code, Loads loads) const;
  void add_next_stage(Code& code) const;
  void add_query_released(Code& code) const;
  void add_wait(Code& code, int16_t ring, int16_t cursor) const;
  void add_look(Code& code, int16_t ring, int16_t cursor) const;
  void add_wait_behind_look(Code& code, int16_t ring, int16_t cursor) const;
  void add_release(Code& code, int16_t ring, int16_t cursor) const;
  void add_turn_wait(Code& code) const;
  void add_turn_over(Code& code) const;
  void add_turn_of(Code& code, uint32_t group) const;
  void add_softmax(Code& code, bool first, Mask mask) const;
  void add_scores(Code& code, bool rescales = false) const;
  void add_products(Code& code) const;
  void add_output_room(Code& code) const;
  void add_first_block(Code& code) const;
  void add_overlapped_block(Code& code, Mask mask) const;
  void add_plain_block(Code& code, Mask mask, bool first) const;
  void add_staggered_softmax(Code& code) const;
  void add_block(Code& code, Mask mask, Loads loads) const;
  void add_products_wait(Code& code) const;
  void add_last_products(Code& code) const;
  void add_blocks(std::vector<traces::Node>& nodes, uint32_t length) const;
  std::vector<traces::Node> tile(uint32_t length) const;

  const isa::Architecture& architecture_;
  const Plan& plan_;
  int16_t group_;
};

void Consumer::add_entry(Code& code) const {
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
  // The room for Q is free; the first warpgroup goes first.
  add_query_released(code);
  add_tile_number_free(code, plan_);
  for (uint32_t before = 0; plan_.pingpong && before < static_cast<uint32_t>(group_); ++before) add_turn_of(code, before);
}

void Consumer::add_query_released(Code& code) const {
  if (!plan_.specialized) return;
  code.add("BAR.ARV 0x1, 0x120", {.barrier = AttentionBarriers::kQueryEmpty,
                                  .count = static_cast<uint16_t>(Plan::kGroupThreads * plan_.consumers() + 32)});
}

void Consumer::add_loads(Code& code, Loads what) const {
  if (!loads() || what == Loads::kNone) return;
  if (what == Loads::kBoth) add_block_load(code, plan_, Operand::kKey, load_registers());
  add_block_load(code, plan_, Operand::kValue, load_registers());
}

// The first check is an early look whose result is carried as a token; it may already hold the warp for a while.
void Consumer::add_wait(Code& code, int16_t ring, int16_t cursor) const {
  add_look(code, ring, cursor);
  add_wait_behind_look(code, ring, cursor);
}

void Consumer::add_look(Code& code, int16_t ring, int16_t cursor) const {
  code.add("ULEA UR44, UR38, UR39, 0x3").add("IMAD.U32 R3, RZ, RZ, UR41").add("SHF.L.U32 R3, R3, 0x1f, RZ");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.barrier = ring, .cursor = cursor});
}

void Consumer::add_wait_behind_look(Code& code, int16_t ring, int16_t cursor) const {
  code.add("@P0 BRA `(.L_ready)");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.barrier = ring, .cursor = cursor});
  code.add("@!P0 BRA `(.L_wait)");
}

void Consumer::add_release(Code& code, int16_t ring, int16_t cursor) const {
  code.add("IMAD.U32 R15, RZ, RZ, UR44").add("@!P3 BRA `(.L_released)");
  code.add("@!P3 LEA R15, R15, UR39, 0x3").add("@!P3 PRMT R15, R15, 0x654, R15");
  code.add("SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R15], RZ", {.barrier = ring, .cursor = cursor, .advance = 1});
}

// A turn begins when all warpgroups are at its barrier: this one waits there, the others have said that they have issued.
void Consumer::add_turn_wait(Code& code) const {
  if (!plan_.pingpong) return;
  code.add(line({"BAR.SYNC.DEFER_BLOCKING R1, ", immediate(Plan::kGroupThreads * plan_.consumers())}),
           {.barrier = static_cast<int16_t>(AttentionBarriers::kTurn + group_),
            .count = static_cast<uint16_t>(Plan::kGroupThreads * plan_.consumers())});
}

void Consumer::add_turn_of(Code& code, uint32_t group) const {
  code.add(line({"BAR.ARV R1, ", immediate(Plan::kGroupThreads * plan_.consumers())}),
           {.barrier = static_cast<int16_t>(AttentionBarriers::kTurn + group),
            .count = static_cast<uint16_t>(Plan::kGroupThreads * plan_.consumers())});
}

void Consumer::add_turn_over(Code& code) const {
  for (uint32_t other = 1; plan_.pingpong && other < plan_.consumers(); ++other) {
    add_turn_of(code, (static_cast<uint32_t>(group_) + other) % plan_.consumers());
  }
}

void Consumer::add_softmax(Code& code, bool first, Mask mask) const {
  add_maxima(code, plan_, first, mask);
  Exponentials(code, plan_, first).add_rest();
}

// Q K^T: both from shared memory. `rescales`: O shrinks between its steps.
void Consumer::add_scores(Code& code, bool rescales) const {
  const std::string scores = general(Registers::score(plan_));
  const bool shifts = std::has_single_bit(plan_.key_bytes());
  code.add(shifts ? "ULEA UR45, UR38, UR39, 0xb" : "UIMAD UR45, UR38, 0xb00, UR39")
      .add("ULOP3.LUT UR45, UR45, 0x3fff, URZ, 0xc0, !UPT");
  code.add("WARPGROUP.ARRIVE");
  if (rescales) add_rescale(code, 0, rescaled_before(plan_, 0));
  for (uint32_t step = 0; step < plan_.score_steps(); ++step) {
    const uint32_t quad = kFirstQuad + 4 * (step % kQuads);
    code.add(line({"UIADD3 ", uniform(quad + 2), ", UR45, ", immediate(2 * step), ", URZ"}));
    code.add(line({"UMOV ", uniform(quad + 3), ", 0x40000040"}));
    const bool last = step + 1 == plan_.score_steps();
    code.add(line({wgmma_name(plan_.type, plan_.tile_keys), " ", scores, ", gdesc[", uniform(quad), "], ", scores,
                   step == 0 ? ", !UPT" : ", UPT", last ? ", gsb0" : ""}),
             {.commit = last});
    if (rescales) add_rescale(code, rescaled_before(plan_, step), rescaled_before(plan_, step + 1));
  }
}

// P V: P in registers.
void Consumer::add_products(Code& code) const {
  const std::string outputs = general(Registers::kOutput);
  const bool shifts = std::has_single_bit(plan_.key_bytes());
  code.add(shifts ? "ULEA UR46, UR38, UR39, 0xb" : "UIMAD UR46, UR38, 0xb00, UR39")
      .add("ULOP3.LUT UR46, UR46, 0x3fff, URZ, 0xc0, !UPT");
  code.add("WARPGROUP.ARRIVE");
  for (uint32_t step = 0; step < plan_.output_steps(); ++step) {
    const uint32_t quad = kFirstQuad + 4 * (step % kQuads);
    code.add(line({"UIADD3 ", uniform(quad), ", UR46, ", immediate(128 * step), ", URZ"}));
    code.add(line({"UMOV ", uniform(quad + 1), ", 0x40000040"}));
    const bool last = step + 1 == plan_.output_steps();
    code.add(line({wgmma_name(plan_.type, plan_.head_dim()), " ", outputs, ", ", general(Registers::probability(plan_) + 4 * step),
                   ", gdesc[", uniform(quad), "], ", outputs, ", UPT", last ? ", gsb0" : ""}),
             {.commit = last});
  }
}

void Consumer::add_next_stage(Code& code) const {
  code.add("UIADD3 UR38, UR38, 0x1, URZ").add(line({"UISETP.NE.AND UP0, UPT, UR38, ", immediate(plan_.stages), ", UPT"}));
  code.add("USEL UR47, URZ, 0x1, UP0").add("USEL UR38, UR38, URZ, UP0").add("ULOP3.LUT UR41, UR41, UR47, URZ, 0x3c, !UPT");
  code.add("USHF.R.U32.HI UR48, URZ, 0x1, UR38");
}

// Where CTAs stay, the last warpgroup sees that the tile before has been stored when it has issued the next one's first products:
// until then the producer loads no more than that tile's Q and first keys. (In a CTA's first tile the library loads on at once; the
// second keys are needed behind a softmax.)
void Consumer::add_output_room(Code& code) const {
  if (plan_.specialized && static_cast<uint32_t>(group_) + 1 == plan_.consumers()) add_output_release(code);
}

// Waits for Q; the products of the first block, whose keys are always checked against the end of the sequence.
void Consumer::add_first_block(Code& code) const {
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

// Scores of this block beside the products of the one before. O shrinks before them, or beside the scores where there is no turn
// to wait for.
void Consumer::add_overlapped_block(Code& code, Mask mask) const {
  add_wait(code, AttentionRings::kKeyFull, AttentionCursors::kKey);
  if (plan_.pingpong) add_rescale(code, plan_);
  add_turn_wait(code);
  add_scores(code, !plan_.pingpong);
  add_wait(code, AttentionRings::kValueFull, AttentionCursors::kValue);
  add_products(code);
  add_turn_over(code);
  add_mask_load(code, plan_);
  code.add("WARPGROUP.DEPBAR.LE gsb0, 0x1", {.count = 1});
  add_release(code, AttentionRings::kKeyEmpty, AttentionCursors::kKey);
  const ProductsWait wait = products_wait(plan_, mask);
  if (wait.before_maxima) add_products_wait(code);
  add_mask(code, plan_, mask);
  add_maxima(code, plan_, false, mask);
  Exponentials exponentials(code, plan_, false);
  exponentials.add_beside_products(wait.exponentials);
  if (!wait.before_maxima) add_products_wait(code);
  exponentials.add_rest();
  add_probabilities(code, plan_);
}

void Consumer::add_products_wait(Code& code) const {
  code.add("WARPGROUP.DEPBAR.LE gsb0, 0x0");
  add_release(code, AttentionRings::kValueEmpty, AttentionCursors::kValue);
}

// Scores, softmax and products of one block, one after the other. A turn is the products of a block and the scores of the next;
// with 8-bit elements at head_dim 256 the scores alone, and it ends when the scores are there, or later.
void Consumer::add_plain_block(Code& code, Mask mask, bool first) const {
  add_wait(code, AttentionRings::kKeyFull, AttentionCursors::kKey);
  if (short_turns()) add_turn_wait(code);
  add_scores(code);
  if (!plan_.eight_bit()) add_turn_over(code);
  if (first) add_output_room(code);
  add_mask_load(code, plan_);
  code.add("WARPGROUP.DEPBAR.LE gsb0, 0x0");
  if (plan_.eight_bit() && exponentials_in_turn(plan_) == 0) add_turn_over(code);
  if (!plan_.eight_bit() && !first && mask == Mask::kNone) {
    add_staggered_softmax(code);
  } else {
    add_release(code, AttentionRings::kKeyEmpty, AttentionCursors::kKey);
    add_mask(code, plan_, mask);
    add_maxima(code, plan_, first, mask);
    Exponentials exponentials(code, plan_, first);
    exponentials.add_beside_products(exponentials_in_turn(plan_));
    if (plan_.eight_bit() && exponentials_in_turn(plan_) > 0) add_turn_over(code);
    exponentials.add_rest();
    add_probabilities(code, plan_);
    add_look(code, AttentionRings::kValueFull, AttentionCursors::kValue);
  }
  add_wait_behind_look(code, AttentionRings::kValueFull, AttentionCursors::kValue);
  if (!short_turns()) add_turn_wait(code);
  add_products(code);
  add_products_wait(code);
}

// The keys are released behind the maxima, and V is looked for among the exponentials: there the compiled kernel has them.
void Consumer::add_staggered_softmax(Code& code) const {
  constexpr uint32_t kExponentialsBeforeLook = 24;
  add_staggered_maxima(code, plan_);
  add_release(code, AttentionRings::kKeyEmpty, AttentionCursors::kKey);
  Exponentials exponentials(code, plan_, staggered_order(plan_));
  exponentials.add_beside_products(kExponentialsBeforeLook);
  add_look(code, AttentionRings::kValueFull, AttentionCursors::kValue);
  exponentials.add_rest();
  add_probabilities(code, plan_);
}

void Consumer::add_block(Code& code, Mask mask, Loads what) const {
  add_next_stage(code);
  add_loads(code, what);
  if (plan_.overlap) {
    add_overlapped_block(code, mask);
  } else {
    add_plain_block(code, mask, false);
  }
  code.add("VIADD R2, R2, -0x1").add("ISETP.GT.AND P4, PT, R2, 0x1, PT").add("@P4 BRA `(.L_block)");
}

void Consumer::add_last_products(Code& code) const {
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

// The blocks behind the first one: those that the diagonal cuts, then whole ones.
void Consumer::add_blocks(std::vector<traces::Node>& nodes, uint32_t length) const {
  const auto block = [this](Mask mask, Loads what) {
    Code code(architecture_);
    add_block(code, mask, what);
    return code;
  };
  if (plan_.tiles.causal()) {
    nodes.push_back(loop_of(block(Mask::kCausal, Loads::kNone), {.parameter = AttentionParameters::masked(length)}));
    nodes.push_back(straight(Code(architecture_).add("IMAD.MOV.U32 R2, RZ, RZ, R2")));
    nodes.push_back(loop_of(block(Mask::kNone, Loads::kNone), {.parameter = AttentionParameters::full(length)}));
    return;
  }
  // Consumers that load have no keys to load in their last block.
  const uint64_t last = plan_.specialized ? 0 : 1;
  const uint64_t more = plan_.blocks() - 1 - last;
  if (more > 0) nodes.push_back(loop_of(block(Mask::kNone, Loads::kBoth), {.literal = more}));
  if (last > 0) nodes.push_back(straight(block(Mask::kNone, Loads::kValue)));
}

std::vector<traces::Node> Consumer::tile(uint32_t length) const {
  Code head(architecture_);
  for (uint32_t i = 0; i < plan_.outputs(); i += 2) head.add(line({"CS2R ", general(Registers::kOutput + i), ", SRZ"}));
  add_first_block(head);
  std::vector<traces::Node> nodes{straight(head)};
  add_blocks(nodes, length);
  Code rest(architecture_);
  add_last_products(rest);
  add_epilogue(rest, plan_);
  if (!plan_.specialized) add_output_release(rest);
  add_tile_number(rest, plan_);
  if (plan_.specialized) rest.add("VIADD R2, R2, 0x84").add("ISETP.GE.AND P4, PT, R2, R1, PT").add("@!P4 BRA `(.L_tile)");
  nodes.push_back(straight(rest));
  return nodes;
}

std::vector<traces::Node> Consumer::body() const {
  Code entry(architecture_);
  add_entry(entry);
  std::vector<traces::Node> nodes{straight(entry)};
  for (uint32_t length = 0; length < plan_.lengths; ++length) add_tiles(nodes, plan_, length, tile(length));
  nodes.push_back(straight(Code(architecture_).add("EXIT")));
  space_exponentials(nodes);
  connect(architecture_, nodes);
  return nodes;
}

}  // namespace

std::vector<traces::Node> attention_consumer_body(const isa::Architecture& architecture, const Plan& plan, int group) {
  return Consumer(architecture, plan, group).body();
}

}  // namespace warpfold::workloads
