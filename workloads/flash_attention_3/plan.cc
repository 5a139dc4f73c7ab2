#include "workloads/flash_attention_3/plan.h"

#include <string>

#include "configs/architecture.h"
#include "workloads/common/key_splits.h"

namespace warpfold::workloads {
namespace {

std::string text(uint64_t value) { return std::to_string(value); }

// Bytes for the barriers of the pipelines and for tensor maps. assumed: the tensors behind them are aligned to 1024 bytes.
constexpr uint32_t kBarrierBytes = 1024;

struct Tile {
  uint32_t queries;
  uint32_t keys;
};

// Tiles of the library's first release (July 2024), from which most published figures come: Dao-AILab/flash-attention,
// hopper/flash_fwd_launch_template.h. Dropout, which the library lacks, was counted at 128x128. At head_dim 256 it takes 64 keys,
// since 80 keys are not a whole number of Philox calls of 16 scores.
// `copies`: 128 keys, as in the library from 2025 on (hopper/tile_size.h, paged_kv_non_TMA; at head_dim 256 no change).
Tile tile_of(const configs::AttentionShape& shape, bool copies) {
  const bool dropout = shape.dropout() != configs::NONE;
  if (shape.type() == configs::FP8) {
    if (shape.head_dim() == 64) return {192, 128};
    return {128, shape.head_dim() == 128 && !dropout ? 256U : 128U};
  }
  if (shape.head_dim() == 64) return {192, 128};
  if (shape.head_dim() == 256) return {128, dropout ? 64U : 80U};
  return {128, shape.causal() || dropout || copies ? 128U : 176U};
}

// The tile of a shape, as pages, splits and packing change it.
struct Layout {
  Tile tile;
  bool copies = false;
  bool packed = false;
  uint32_t splits = 1;
};

// True if tiles of one head are filled less than 0.9 times as well as tiles of all heads that share its keys (hopper/heuristics.h,
// should_pack_gqa).
bool fills_better(uint64_t queries, uint64_t sharing, uint64_t tile) {
  const auto filled = [tile](uint64_t rows) {
    return static_cast<double>(rows) / static_cast<double>((rows + tile - 1) / tile * tile);
  };
  return filled(queries) < 0.9 * filled(queries * sharing);
}

// Choices of the library from 2025 on (hopper/flash_api.cpp: get_pagedkv_tma, get_num_splits, get_pack_gqa).
Layout layout_of(const configs::FlashAttention3& attention, const configs::Gpu& gpu) {
  const configs::AttentionShape& shape = attention.shape();
  const uint64_t kv_heads = shape.kv_heads() == 0 ? shape.heads() : shape.kv_heads();
  const uint64_t sharing = shape.heads() / kv_heads;
  const uint64_t rows = shape.queries() * sharing;
  Layout layout{.tile = tile_of(shape, false)};
  // TMA loads pages that consist of whole blocks, unless the tile has few rows.
  const uint32_t page = attention.page_keys();
  layout.copies = page > 0 && (page % layout.tile.keys != 0 || rows <= layout.tile.queries);
  layout.tile = tile_of(shape, layout.copies);
  if (attention.has_tile_keys()) layout.tile.keys = attention.tile_keys();
  const AttentionTiles tiles(shape, layout.tile.queries, layout.tile.keys, true);
  layout.splits = attention.has_splits() ? attention.splits() : 1;
  if (layout.splits == 0) {
    layout.splits = splits_by_rule({.tiles = tiles.batch() * tiles.heads() * tiles.query_tiles().size(),
                                    .sms = gpu.sm_count(),
                                    .key_blocks = (tiles.keys() + layout.tile.keys - 1) / layout.tile.keys,
                                    .query_tiles = tiles.query_tiles().size(),
                                    .kv_head_bytes = 2 * tiles.keys() * tiles.head_dim() * tiles.element_bytes(),
                                    .causal = tiles.causal()});
  }
  const bool better = shape.dropout() == configs::NONE && fills_better(shape.queries(), sharing, layout.tile.queries);
  layout.packed = attention.has_pack_gqa() ? attention.pack_gqa() : layout.copies || layout.splits > 1 || better;
  return layout;
}

// As in the same release, pairs of CTAs share K and V by multicast. The query tiles must come in pairs of equal length. assumed:
// also if consumers load, as the kernels of that release without a producer could (flash_bwd_kernel.h, compute_dqkv).
uint32_t cluster_of(const FlashAttention3Plan& plan) {
  const bool pairs = !plan.tiles.causal() && plan.tiles.query_tiles().size() % 2 == 0;
  const bool pairing = plan.eight_bit() || plan.head_dim() >= 128;
  return pairs && pairing && plan.splits == 1 && !plan.copies ? 2 : 1;
}

FlashAttention3Plan with_defaults(const configs::FlashAttention3& attention, const configs::Gpu& gpu) {
  const configs::AttentionShape& shape = attention.shape();
  const Layout layout = layout_of(attention, gpu);
  const Tile& tile = layout.tile;
  FlashAttention3Plan plan{.tiles = AttentionTiles(shape, tile.queries, tile.keys, layout.packed)};
  plan.splits = layout.splits;
  plan.page_keys = attention.page_keys();
  plan.copies = layout.copies;
  plan.type = shape.type();
  plan.dropout = shape.dropout();
  if (shape.has_philox_rounds()) plan.philox_rounds = shape.philox_rounds();
  if (shape.has_threshold_bits()) plan.threshold_bits = shape.threshold_bits();
  plan.tile_queries = tile.queries;
  plan.tile_keys = tile.keys;
  plan.specialized = attention.has_warp_specialized() ? attention.warp_specialized() : true;
  // The library's kernels for 8-bit elements have no overlap within a warpgroup (hopper/mainloop_fwd_sm90_tma_gmma_ws.hpp,
  // mma_fp8).
  plan.overlap = attention.has_intra_warpgroup_overlap() ? attention.intra_warpgroup_overlap() : !plan.eight_bit();
  // The library's scheduler barrier: for 16-bit elements up to head dimension 128, for 8-bit elements from 128 on.
  const bool taking_turns = plan.eight_bit() ? shape.head_dim() >= 128 : shape.head_dim() <= 128;
  plan.pingpong = attention.has_pingpong() ? attention.pingpong() : taking_turns && plan.specialized;
  // The library has four stages with FP8 at head_dim 64, and two elsewhere.
  plan.stages = plan.eight_bit() && shape.head_dim() == 64 ? 4 : 2;
  plan.cluster = cluster_of(plan);
  plan.longest_first = attention.longest_first();
  return plan;
}

Expected<void> check_options(const FlashAttention3Plan& plan) {
  if (plan.eight_bit() && plan.dropout == configs::FUSED_PHILOX && plan.threshold_bits == 8) {
    return fail(
        "flash_attention_3: thresholds of 8 bits are applied to packed 16-bit probabilities; type FP8 needs threshold_bits: 32");
  }
  if (!plan.specialized && plan.pingpong) {
    return fail("flash_attention_3: pingpong needs warp_specialized: true: where consumers load, they wait for each other anyway");
  }
  if (!plan.specialized && (plan.tiles.causal() || plan.eight_bit() || plan.tile_queries != 128 || plan.blocks() < 2)) {
    return fail(
        "flash_attention_3: warp_specialized: false is the ablation of the FlashAttention-3 paper: BF16 or FP16, head_dim 128 or "
        "256, not causal, more than one block of keys");
  }
  const bool decodes = plan.splits > 1 || plan.page_keys > 0 || plan.packed();
  if (decodes && (!plan.specialized || plan.dropout != configs::NONE)) {
    return fail(
        "flash_attention_3: splits, page_keys and pack_gqa have kernels with warp_specialized: true and without dropout only");
  }
  if (plan.copies && plan.eight_bit()) {
    return fail("flash_attention_3: pages that are copied have no kernel for FP8; expected BF16 or FP16");
  }
  if (plan.longest_first && plan.splits > 1) {
    return fail("flash_attention_3: longest_first is an order of a queue; with splits each CTA has one tile");
  }
  if (plan.longest_first && !plan.tiles.causal()) {
    return fail("flash_attention_3: longest_first is an order of causal tiles; without causal all tiles are of one length");
  }
  for (const QueryTile& tile : plan.tiles.query_tiles()) {
    if (tile.full_blocks + tile.masked_blocks > 0) continue;
    return fail("flash_attention_3: causal with " + text(plan.tiles.keys()) + " keys for " + text(plan.tiles.queries()) +
                " queries leaves a tile of queries without keys");
  }
  return {};
}

// setmaxnreg as in the library: 24 / 240 with two consumer warpgroups, 32 / 160 with three. Its FP8 kernels, whose producers
// transpose V, have 40 / 232, and the compiler lets values share registers. Here every value has its own register, so FP8 also
// takes 24 / 240. Without specialisation every thread has the most registers that code can address.
Expected<void> share_registers(FlashAttention3Plan& plan) {
  if (!plan.specialized) {
    plan.registers_per_thread = 255;
    plan.consumer_registers = 255;
  } else if (plan.copies && plan.consumers() == 2) {
    // hopper/flash_fwd_kernel_sm90.h, from 2025 on.
    plan.producer_registers = 40;
    plan.consumer_registers = 232;
  } else if (plan.consumers() == 3) {
    plan.registers_per_thread = 128;
    plan.producer_registers = 32;
    plan.consumer_registers = 160;
  }
  const uint32_t needed =
      FlashAttention3Plan::kWorkingRegisters + plan.scores() + plan.outputs() + plan.probabilities() + plan.dropout_registers();
  if (needed <= plan.consumer_registers) return {};
  return fail("flash_attention_3: " + text(plan.tile_keys) + " keys in a block need " + text(needed) +
              " registers a thread, a consumer has " + text(plan.consumer_registers));
}

Expected<void> share_memory(FlashAttention3Plan& plan, const configs::Gpu& gpu) {
  const uint32_t rings = plan.transposes() ? 3 : 2;
  plan.shared_memory_bytes = kBarrierBytes + plan.query_bytes() + rings * plan.stages * plan.key_bytes();
  const uint32_t most = gpu.sm().shared_memory().bytes_per_cta_max();
  if (plan.shared_memory_bytes <= most) return {};
  return fail("flash_attention_3: a " + text(plan.tile_queries) + " x " + text(plan.tile_keys) + " tile of head_dim " +
              text(plan.head_dim()) + " needs " + text(plan.shared_memory_bytes) + " bytes of shared memory, a CTA may have " +
              text(most));
}

}  // namespace

Expected<FlashAttention3Plan> plan_flash_attention_3(const configs::FlashAttention3& attention, const configs::Gpu& gpu) {
  if (configs::product_family(gpu.architecture()) != configs::ProductFamily::kWgmma) {
    return fail("flash_attention_3 needs a GPU of architecture sm_90, this one is " + gpu.architecture());
  }
  FlashAttention3Plan plan = with_defaults(attention, gpu);
  if (auto ok = check_options(plan); !ok) return std::unexpected(ok.error());
  if (auto ok = share_registers(plan); !ok) return std::unexpected(ok.error());
  if (auto ok = share_memory(plan, gpu); !ok) return std::unexpected(ok.error());
  return plan;
}

}  // namespace warpfold::workloads
