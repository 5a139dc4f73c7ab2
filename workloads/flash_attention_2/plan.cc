#include "workloads/flash_attention_2/plan.h"

#include <optional>

#include "workloads/common/key_splits.h"

namespace warpfold::workloads {
namespace {

struct Tile {
  uint32_t queries, keys, warps;
};

std::optional<Tile> stated_tile(const configs::FlashAttention2& attention) {
  if (!attention.has_tile_queries()) return std::nullopt;
  return Tile{attention.tile_queries(), attention.tile_keys(), attention.warps()};
}

Tile forward_tile(const configs::AttentionShape& shape, const configs::Gpu& gpu) {
  const bool dropout = shape.dropout() != configs::NONE;
  if (shape.head_dim() == 64) return {128, dropout ? 64U : 128U, 4};
  if (shape.head_dim() == 128) {
    if (dropout) return {128, 32, 4};
    if (gpu.architecture() != "sm_86" && gpu.architecture() != "sm_89") return {128, 64, 4};
    return shape.causal() ? Tile{64, 64, 4} : Tile{128, 32, 4};
  }
  const auto& memory = gpu.sm().shared_memory();
  const bool one_large = memory.bytes_per_cta_max() >= 2 * 256 * (128 + 2 * 64);
  const bool two_small = memory.bytes() >= 4 * 256 * (64 + 2 * 64);
  return one_large && !two_small ? Tile{128, 64, 8} : Tile{64, 64, 4};
}

uint32_t rounds_of(const configs::AttentionShape& shape) {
  return shape.philox_rounds() != 0 ? shape.philox_rounds() : 7;  // FlashAttention's
}

// Reports shapes that neither pass supports.
std::optional<std::string> mistake(const configs::AttentionShape& shape) {
  if (shape.heads() == 0 || shape.queries() == 0) return "heads and queries must be at least 1";
  if (shape.head_dim() != 64 && shape.head_dim() != 128 && shape.head_dim() != 256) {
    return "head_dim " + std::to_string(shape.head_dim()) + " has no kernel here; expected 64, 128 or 256";
  }
  if (shape.has_type() && shape.type() == configs::FP8) return "type FP8 has no kernel; expected BF16 or FP16";
  if (shape.kv_heads() != 0 && shape.heads() % shape.kv_heads() != 0) {
    return "heads " + std::to_string(shape.heads()) + " must be a multiple of kv_heads " + std::to_string(shape.kv_heads());
  }
  if (shape.causal() && shape.keys() != 0 && shape.keys() < shape.queries()) {
    return "causal with keys " + std::to_string(shape.keys()) + " fewer than queries " + std::to_string(shape.queries()) +
           " leaves queries without a key";
  }
  const uint32_t rounds = rounds_of(shape);
  if (rounds != 3 && rounds != 5 && rounds != 7 && rounds != 10) {
    return "philox_rounds " + std::to_string(rounds) + " was not counted; expected 3, 5, 7 or 10";
  }
  if (shape.threshold_bits() == 32) return "threshold_bits 32 has no kernel here; expected 8";
  return std::nullopt;
}

Tile decode_tile(const configs::FlashAttention2& attention) {
  const uint32_t head_dim = attention.shape().head_dim();
  if (attention.warps_share_keys()) return {16, head_dim == 256 ? 64U : 128U, 4};
  return {64, head_dim == 64 ? 256U : head_dim == 128 ? 128U : 64U, 4};
}

Expected<FlashAttention2Plan> plan_of(const configs::AttentionShape& shape, const configs::Gpu& gpu, const Tile& tile,
                                      bool packed = false) {
  const auto architecture = isa::Architecture::find(gpu.architecture());
  if (!architecture) return std::unexpected(architecture.error());
  if (!(*architecture)->resolve("LDGSTS") || !(*architecture)->resolve("HMMA.16816.F32")) {
    return fail("flash_attention_2 needs a GPU of architecture sm_80 or later, this one is " + gpu.architecture());
  }
  configs::AttentionShape typed = shape;
  if (!shape.has_type()) typed.set_type(configs::FP16);
  AttentionTiles tiles(typed, tile.queries, tile.keys, packed);
  return FlashAttention2Plan{*architecture, typed, tile.queries, tile.keys, tile.warps, rounds_of(shape), std::move(tiles)};
}

}  // namespace

Expected<FlashAttention2Plan> plan_flash_attention_2_forward(const configs::FlashAttention2& attention, const configs::Gpu& gpu) {
  const configs::AttentionShape& shape = attention.shape();
  if (const auto wrong = mistake(shape)) return fail("flash_attention_2: " + *wrong);
  const bool decodes = attention.has_splits() || attention.has_page_keys() || attention.pack_gqa() || attention.warps_share_keys();
  const auto stated = stated_tile(attention);
  if (!decodes) return plan_of(shape, gpu, stated.value_or(forward_tile(shape, gpu)));
  if (shape.dropout() != configs::NONE) {
    return fail("flash_attention_2: splits, page_keys, pack_gqa and warps_share_keys have kernels without dropout only");
  }
  const bool packed = attention.has_pack_gqa() ? attention.pack_gqa() : shape.queries() == 1 || attention.warps_share_keys();
  auto plan = plan_of(shape, gpu, stated.value_or(decode_tile(attention)), packed);
  if (!plan) return plan;
  plan->page_keys = attention.page_keys();
  if (attention.warps_share_keys()) plan->key_warps = plan->warps;
  plan->splits = attention.has_splits() ? attention.splits() : 1;
  if (plan->splits == 0) {
    // The library assumes two CTAs per SM.
    plan->splits = splits_by_rule({.tiles = plan->ctas(),
                                   .sms = 2 * uint64_t{gpu.sm_count()},
                                   .key_blocks = (plan->tiles.keys() + plan->tile_keys - 1) / plan->tile_keys,
                                   .only_shorter = true});
  }
  return plan;
}

uint32_t FlashAttention2BackwardPlan::shared_memory_bytes() const {
  const uint32_t query_tile = common.tile_queries * common.head_dim() * 2;
  const uint32_t key_tile = common.tile_keys * common.head_dim() * 2;
  const uint32_t scores = common.tile_queries * common.tile_keys * 2;
  return (two_q_buffers ? 3 : 2) * query_tile + 2 * key_tile + 2 * scores;  // Q, dO; K, V; P, dS
}

QueryTile FlashAttention2BackwardPlan::query_blocks(uint64_t key_block) const {
  const uint64_t queries = common.tiles.queries();
  const uint64_t keys = common.tiles.keys();
  const uint64_t all = (queries + common.tile_queries - 1) / common.tile_queries;
  if (!common.tiles.causal()) {
    const bool ragged = (key_block + 1) * common.tile_keys > keys;
    return ragged ? QueryTile{0, all} : QueryTile{all, 0};
  }
  // The first query that sees a key of the block, and the first that sees all of its keys.
  const auto sees = [&](uint64_t key) { return key + queries > keys ? key + queries - keys : 0; };
  const uint64_t first = sees(key_block * common.tile_keys) / common.tile_queries;
  const uint64_t last = sees(std::min(keys, (key_block + 1) * common.tile_keys) - 1);
  const uint64_t cut = std::min(all, (last + common.tile_queries - 1) / common.tile_queries) - first;
  return {all - first - cut, cut};
}

Expected<FlashAttention2BackwardPlan> plan_flash_attention_2_backward(const configs::AttentionShape& shape,
                                                                      const configs::Gpu& gpu) {
  if (const auto wrong = mistake(shape)) return fail("flash_attention_2: " + *wrong);
  if (shape.dropout() != configs::NONE) return fail("flash_attention_2: the backward pass is there for dropout NONE only");
  constexpr uint32_t kLeastMemory = 144 * 1024;  // bytes per CTA; on GPUs with less, the library keeps V in registers
  const uint32_t memory = gpu.sm().shared_memory().bytes_per_cta_max();
  if (memory < kLeastMemory) {
    return fail("flash_attention_2: the backward pass needs 144 KiB of shared memory a CTA; " + gpu.name() + " has " +
                std::to_string(memory / 1024));
  }
  const uint32_t d = shape.head_dim();
  auto common = plan_of(shape, gpu, d == 64 ? Tile{128, 128, 8} : d == 128 ? Tile{64, 128, 8} : Tile{64, 64, 8});
  if (!common) return std::unexpected(common.error());
  if (d == 64) return FlashAttention2BackwardPlan{*std::move(common), 4, 4, 4, true};
  if (d == 128) return FlashAttention2BackwardPlan{*std::move(common), 2, 4, 2, true};
  return FlashAttention2BackwardPlan{*std::move(common), 4, 2, 2, memory >= 176 * 1024};
}

std::string pack_mnemonic(const FlashAttention2Plan& plan) {
  if (plan.hopper()) return plan.bf16() ? "F2FP.BF16.F32.PACK_AB" : "F2FP.F16.F32.PACK_AB";
  return plan.bf16() ? "F2FP.BF16.PACK_AB" : "F2FP.PACK_AB";
}

}  // namespace warpfold::workloads
