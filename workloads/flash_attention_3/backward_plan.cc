#include "workloads/flash_attention_3/backward_plan.h"

#include <algorithm>
#include <optional>
#include <string>

#include "configs/architecture.h"

namespace warpfold::workloads {
namespace {

// Bytes for the barriers of the pipelines and for tensor maps. assumed: the tensors behind them are aligned to 1024 bytes.
constexpr uint32_t kBarrierBytes = 1024;

// Tiles of the library's first backward pass with a producer warp, from which the published figures come (August 2024:
// Dao-AILab/flash-attention @bafe2530, hopper/flash_bwd_launch_template.h; unchanged until January 2025).
uint32_t tile_queries_of(uint32_t head_dim) { return head_dim == 64 ? 128 : 64; }

std::optional<std::string> mistake(const configs::FlashAttention3& attention) {
  const configs::AttentionShape& shape = attention.shape();
  if (shape.head_dim() != 64 && shape.head_dim() != 128) {
    return "the backward pass of head_dim " + std::to_string(shape.head_dim()) + " has no kernel here; expected 64 or 128";
  }
  if (shape.type() == configs::FP8) return "the backward pass has no kernel for FP8; expected BF16 or FP16";
  if (shape.dropout() != configs::NONE) return "the backward pass is there for dropout NONE only";
  if (attention.has_pingpong() || attention.has_intra_warpgroup_overlap() || attention.has_warp_specialized() ||
      attention.has_tile_keys() || attention.longest_first() || attention.has_pack_gqa() || attention.has_splits() ||
      attention.has_page_keys() || attention.combine()) {
    return "the backward pass has no options: pingpong, intra_warpgroup_overlap, warp_specialized, tile_keys, longest_first, "
           "pack_gqa, splits, page_keys and combine belong to the forward pass";
  }
  if (shape.causal() && shape.keys() != 0 && shape.keys() < shape.queries()) {
    return "causal with " + std::to_string(shape.keys()) + " keys for " + std::to_string(shape.queries()) +
           " queries leaves queries without keys";
  }
  return std::nullopt;
}

}  // namespace

// K, V; Q, dO and dS in two stages; dQ in FP32 before its addition to memory; the numbers of the rows. As in the compiled kernels.
uint32_t FlashAttention3BackwardPlan::shared_memory_bytes() const {
  const uint32_t rows = 2 * kStages * tile_queries * 4;
  const uint32_t score_gradients = kStages * tile_queries * kTileKeys * 2;
  return kBarrierBytes + 2 * key_tile_bytes() + 2 * kStages * query_tile_bytes() + score_gradients + 2 * query_tile_bytes() + rows;
}

QueryTile FlashAttention3BackwardPlan::query_blocks(uint64_t key_block) const {
  if (!causal()) return {query_tiles(), 0};
  const uint64_t offset = tiles.keys() - tiles.queries();
  const uint64_t key = key_block * kTileKeys;
  const uint64_t blocks = query_tiles() - std::min(query_tiles() - 1, (key > offset ? key - offset : 0) / tile_queries);
  const uint64_t masked = std::min<uint64_t>(blocks, (kTileKeys + tile_queries - 1) / tile_queries + 1);
  return {blocks - masked, masked};
}

Expected<FlashAttention3BackwardPlan> plan_flash_attention_3_backward(const configs::FlashAttention3& attention,
                                                                      const configs::Gpu& gpu) {
  const configs::AttentionShape& shape = attention.shape();
  if (const auto wrong = mistake(attention)) return fail("flash_attention_3: " + *wrong);
  const auto architecture = isa::Architecture::find(gpu.architecture());
  if (!architecture) return std::unexpected(architecture.error());
  const uint32_t tile_queries = tile_queries_of(shape.head_dim());
  FlashAttention3BackwardPlan plan{*architecture, AttentionTiles(shape, tile_queries, FlashAttention3BackwardPlan::kTileKeys),
                                   shape.type(), tile_queries};
  const uint32_t most = gpu.sm().shared_memory().bytes_per_cta_max();
  if (configs::product_family(gpu.architecture()) != configs::ProductFamily::kWgmma || plan.shared_memory_bytes() > most) {
    return fail("flash_attention_3: the backward pass needs sm_90 and " + std::to_string(plan.shared_memory_bytes()) +
                " bytes of shared memory a CTA; " + gpu.name() + " has " + gpu.architecture() + " and " + std::to_string(most));
  }
  return plan;
}

}  // namespace warpfold::workloads
