#pragma once

#include "workloads/common/warp_product.h"
#include "workloads/flash_attention_2/plan.h"

// The instructions of the compiled forward kernel for a head_dim of 64 without dropout: tiles of 128 queries x 128 keys. The
// compiled kernel has its own code for the first block of keys and, in causal kernels for lengths that are no multiple of 128, for
// the second block. The remaining blocks form the loop.
namespace warpfold::workloads {

enum class ForwardPart : uint8_t { kPrologue, kFirst, kSecond, kLoop, kEpilogue };

// True if the plan's kernel is the one that was counted.
bool has_counted_parts(const FlashAttention2Plan& plan);

// Lengths that are no multiple of the tile: the library's Is_even_MN is false.
bool is_ragged(const FlashAttention2Plan& plan);

// Blocks that the library masks before its loop: one, or two in a ragged causal kernel.
inline uint32_t blocks_before_loop(const FlashAttention2Plan& plan) { return plan.tiles.causal() && is_ragged(plan) ? 2 : 1; }

// True if a part compares each score's column with the row's last one.
inline bool is_masked(const FlashAttention2Plan& plan, ForwardPart part) {
  return part == ForwardPart::kSecond || (part == ForwardPart::kFirst && (plan.tiles.causal() || is_ragged(plan)));
}

// A part's counted instructions, minus the instructions that the generator emits elsewhere: products, copies, softmax, masking,
// spills of scores and stores of O. Branches are not among the lines.
Lines counted_lines(const FlashAttention2Plan& plan, ForwardPart part);
uint32_t counted_branches(const FlashAttention2Plan& plan, ForwardPart part);

// Registers that a part stores to local memory and loads again (STL, LDL).
uint32_t spilled_registers(const FlashAttention2Plan& plan, ForwardPart part);

}  // namespace warpfold::workloads
