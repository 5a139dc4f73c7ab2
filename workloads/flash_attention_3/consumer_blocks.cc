// One block of keys: both matrix products and the softmax between them, in the orders of the compiled kernels.
#include <bit>

#include "workloads/flash_attention_3/consumer.h"
#include "workloads/flash_attention_3/exponentials.h"
#include "workloads/flash_attention_3/staggered.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention3Plan;
using Registers = AttentionRegisters;

constexpr uint32_t kFirstQuad = 4;  // UR4-UR35: four uniform registers hold the descriptors of A and B
constexpr uint32_t kQuads = 8;

// The progress of a block's softmax at the wait for the products of the previous block. Source: the position of the wait in the
// compiled kernels (first release, CUDA 12.4, fp16; with CUDA 13.0 at the same place, or earlier at head_dim 128).
struct ProductsWait {
  bool before_maxima = false;
  uint32_t exponentials = 0;
};

// Exponentials of a block of 8-bit elements before its turn ends: the position of the arrival in the compiled kernels (July 2024,
// CUDA 12.4). In the library's source the turn ends when the scores are ready (mma_fp8).
uint32_t exponentials_in_turn(const Plan& plan) { return plan.head_dim() == 256 && !plan.tiles.causal() ? 14 : 0; }

ProductsWait products_wait(const Plan& plan, Mask mask) {
  if (plan.head_dim() <= 64) return {.before_maxima = true};
  if (plan.head_dim() <= 128 && !plan.specialized) return {.exponentials = 7};
  if (plan.head_dim() <= 128) return {.exponentials = mask == Mask::kCausal ? 53U : 2U};
  return {.exponentials = mask == Mask::kCausal ? 0U : 15U};
}

// Registers of O that are rescaled before a step of the scores, if the warpgroup has no turn to wait for. With consumers that load
// (head_dim 128): 13 before the first step, all others before the second. In the first release (256): evenly over the steps.
uint32_t rescaled_before(const Plan& plan, uint32_t step) {
  if (!plan.specialized && plan.head_dim() <= 128) return step == 0 ? 13 : plan.outputs();
  return step * plan.outputs() / plan.score_steps();
}

}  // namespace

void AttentionConsumer::add_softmax(Code& code, bool first, Mask mask) const {
  add_maxima(code, plan_, first, mask);
  Exponentials(code, plan_, first).add_rest();
}

// Q K^T: both operands from shared memory. `rescales`: O is rescaled between the steps.
void AttentionConsumer::add_scores(Code& code, bool rescales) const {
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

// P V: P from registers.
void AttentionConsumer::add_products(Code& code) const {
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

// The scores of this block beside the products of the previous one. O is rescaled before them or, if there are no turns, beside the
// scores.
void AttentionConsumer::add_overlapped_block(Code& code, Mask mask) const {
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

// Scores, softmax and products of one block, one after the other. A turn covers the products of a block and the scores of the next.
// With 8-bit elements at head_dim 256 it covers only the scores, and ends when they are ready, or later.
void AttentionConsumer::add_plain_block(Code& code, Mask mask, bool first) const {
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

// As in the compiled kernel, the keys are released after the maxima, and the first check for V is among the exponentials.
void AttentionConsumer::add_staggered_softmax(Code& code) const {
  constexpr uint32_t kExponentialsBeforeLook = 24;
  add_staggered_maxima(code, plan_);
  add_release(code, AttentionRings::kKeyEmpty, AttentionCursors::kKey);
  Exponentials exponentials(code, plan_, staggered_order(plan_));
  exponentials.add_beside_products(kExponentialsBeforeLook);
  add_look(code, AttentionRings::kValueFull, AttentionCursors::kValue);
  exponentials.add_rest();
  add_probabilities(code, plan_);
}

void AttentionConsumer::add_block(Code& code, Mask mask, Loads what) const {
  add_next_stage(code, plan_.stages);
  add_loads(code, what);
  if (plan_.overlap) {
    add_overlapped_block(code, mask);
  } else {
    add_plain_block(code, mask, false);
  }
  code.add("VIADD R2, R2, -0x1").add("ISETP.GT.AND P4, PT, R2, 0x1, PT").add("@P4 BRA `(.L_block)");
}

}  // namespace warpfold::workloads
