#include "workloads/flash_attention_3_plan.h"

#include <algorithm>
#include <string>

namespace warpfold::workloads {
namespace {

std::string text(uint64_t value) { return std::to_string(value); }

// Barriers of the pipelines and the tensor maps. assumed: the tensors behind them are aligned to 1024 bytes.
constexpr uint32_t kBarrierBytes = 1024;

struct Tile {
  uint32_t queries;
  uint32_t keys;
};

// Tiles of the library's first release (July 2024), whose figures most published rows are: Dao-AILab/flash-attention,
// hopper/flash_fwd_launch_template.h. Dropout, which the library has not, was counted at 128x128.
Tile tile_of(const configs::AttentionShape& shape) {
  if (shape.type() == configs::FP8) {
    if (shape.head_dim() == 64) return {192, 128};
    return {128, shape.head_dim() == 128 ? 256U : 128U};
  }
  if (shape.head_dim() == 64) return {192, 128};
  if (shape.head_dim() == 256) return {128, 80};
  return {128, shape.causal() || shape.dropout() != configs::NONE ? 128U : 176U};
}

}  // namespace

Expected<FlashAttention3Plan> plan_flash_attention_3(const configs::FlashAttention3& attention, const configs::Gpu& gpu) {
  const configs::AttentionShape& shape = attention.shape();
  if (gpu.architecture() != "sm_90") {
    return fail("flash_attention_3 needs a GPU of architecture sm_90, this one is " + gpu.architecture());
  }
  const Tile tile = tile_of(shape);
  FlashAttention3Plan plan{.tiles = AttentionTiles(shape, tile.queries, tile.keys)};
  plan.type = shape.type();
  plan.dropout = shape.dropout();
  if (shape.has_philox_rounds()) plan.philox_rounds = shape.philox_rounds();
  plan.tile_queries = tile.queries;
  plan.tile_keys = tile.keys;
  plan.specialized = attention.has_warp_specialized() ? attention.warp_specialized() : true;
  plan.overlap = attention.has_intra_warpgroup_overlap() ? attention.intra_warpgroup_overlap() : true;
  // The library's scheduler barrier: for 16-bit elements up to head dimension 128, for 8-bit ones from 128 on.
  const bool taking_turns = shape.type() == configs::FP8 ? shape.head_dim() >= 128 : shape.head_dim() <= 128;
  plan.pingpong = attention.has_pingpong() ? attention.pingpong() : taking_turns && plan.specialized;
  plan.persistent = !shape.causal();
  if (plan.consumers() == 3) {
    plan.registers_per_thread = 128;
    plan.producer_registers = 32;
    plan.consumer_registers = 160;
  }
  const uint32_t needed = FlashAttention3Plan::kWorkingRegisters + plan.scores() + plan.outputs() + plan.probabilities();
  if (needed > plan.consumer_registers) {
    return fail("flash_attention_3: a consumer thread needs " + text(needed) + " registers, it has " +
                text(plan.consumer_registers));
  }
  plan.shared_memory_bytes = kBarrierBytes + plan.query_bytes() + 2 * plan.stages * plan.key_bytes();
  const uint32_t most = gpu.sm().shared_memory().bytes_per_cta_max();
  if (plan.shared_memory_bytes > most) {
    return fail("flash_attention_3: a " + text(plan.tile_queries) + " x " + text(plan.tile_keys) + " tile of head_dim " +
                text(plan.head_dim()) + " needs " + text(plan.shared_memory_bytes) + " bytes of shared memory, a CTA may have " +
                text(most));
  }
  return plan;
}

}  // namespace warpfold::workloads
