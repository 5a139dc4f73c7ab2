#include "workloads/flash_attention_2_plan.h"

namespace warpfold::workloads {
namespace {

struct Tile {
  uint32_t queries, keys, warps;
};

Tile forward_tile(const configs::AttentionShape& shape, const configs::Gpu& gpu) {
  const bool dropout = shape.dropout() != configs::NONE;
  if (shape.head_dim() == 64) return {128, dropout ? 64U : 128U, 4};
  if (shape.head_dim() == 128) {
    if (dropout) return {128, 32, 4};
    if (gpu.architecture() != "sm_86") return {128, 64, 4};
    return shape.causal() ? Tile{64, 64, 4} : Tile{128, 32, 4};
  }
  const auto& memory = gpu.sm().shared_memory();
  const bool one_large = memory.bytes_per_cta_max() >= 2 * 256 * (128 + 2 * 64);
  const bool two_small = memory.bytes() >= 4 * 256 * (64 + 2 * 64);
  return one_large && !two_small ? Tile{128, 64, 8} : Tile{64, 64, 4};
}

Expected<uint32_t> rounds_of(const configs::AttentionShape& shape) {
  const uint32_t rounds = shape.philox_rounds() != 0 ? shape.philox_rounds() : 7;  // what FlashAttention uses
  if (rounds != 3 && rounds != 5 && rounds != 7 && rounds != 10) {
    return fail("flash_attention_2: philox_rounds " + std::to_string(rounds) + " was not counted; expected 3, 5, 7 or 10");
  }
  return rounds;
}

}  // namespace

Expected<FlashAttention2Plan> plan_flash_attention_2_forward(const configs::AttentionShape& shape, const configs::Gpu& gpu) {
  if (shape.heads() == 0 || shape.queries() == 0) return fail("flash_attention_2: heads and queries must be at least 1");
  if (shape.head_dim() != 64 && shape.head_dim() != 128 && shape.head_dim() != 256) {
    return fail("flash_attention_2: head_dim " + std::to_string(shape.head_dim()) + " has no kernel here; expected 64, 128 or 256");
  }
  if (shape.has_type() && shape.type() == configs::FP8) {
    return fail("flash_attention_2: type FP8 has no kernel; expected BF16 or FP16");
  }
  if (shape.kv_heads() != 0 && shape.heads() % shape.kv_heads() != 0) {
    return fail("flash_attention_2: heads " + std::to_string(shape.heads()) + " must be a multiple of kv_heads " +
                std::to_string(shape.kv_heads()));
  }
  if (shape.causal() && shape.keys() != 0 && shape.keys() < shape.queries()) {
    return fail("flash_attention_2: causal with keys " + std::to_string(shape.keys()) + " fewer than queries " +
                std::to_string(shape.queries()) + " leaves queries without a key");
  }
  const auto rounds = rounds_of(shape);
  if (!rounds) return std::unexpected(rounds.error());
  const auto architecture = isa::Architecture::find(gpu.architecture());
  if (!architecture) return std::unexpected(architecture.error());
  configs::AttentionShape typed = shape;
  if (!shape.has_type()) typed.set_type(configs::FP16);
  const Tile tile = forward_tile(shape, gpu);
  return FlashAttention2Plan{
      *architecture, typed, tile.queries, tile.keys, tile.warps, *rounds, AttentionTiles(typed, tile.queries, tile.keys)};
}

std::string pack_mnemonic(const FlashAttention2Plan& plan) {
  if (plan.hopper()) return plan.bf16() ? "F2FP.BF16.F32.PACK_AB" : "F2FP.F16.F32.PACK_AB";
  return plan.bf16() ? "F2FP.BF16.PACK_AB" : "F2FP.PACK_AB";
}

}  // namespace warpfold::workloads
