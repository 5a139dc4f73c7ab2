#pragma once

#include <algorithm>
#include <cstdint>

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "workloads/common/attention_shape.h"

namespace warpfold::workloads {

// FlashAttention-3 forward with every default filled in and every limit checked: the choices that the library makes before the
// launch.
struct FlashAttention3Plan {
  AttentionTiles tiles;
  configs::ElementType type = configs::FP16;
  configs::Dropout dropout = configs::NONE;
  uint32_t philox_rounds = 7;
  uint32_t threshold_bits = 8;
  uint32_t tile_queries = 128;
  uint32_t tile_keys = 128;
  uint32_t stages = 2;  // stages of each of the K ring and the V ring
  uint32_t cluster = 1;
  bool pingpong = true;  // consumers issue their products in turns
  bool overlap = true;   // within a warpgroup: Q K of a block is issued together with P V of the previous block
  // A producer warpgroup loads, and persistent CTAs process many tiles. Otherwise consumers load, and each CTA has one tile.
  bool specialized = true;
  bool longest_first = false;  // order of causal tiles
  uint32_t splits = 1;         // parts into which a tile's keys are cut
  uint32_t page_keys = 0;      // 0: no pages
  // Pages are looked up in a table and copied by cp.async in four producer warps. Otherwise TMA loads.
  bool copies = false;
  uint32_t lengths = 1;  // distinct lengths of a persistent CTA's tiles; each has a loop
  uint32_t registers_per_thread = 168;
  uint32_t producer_registers = 24;   // per thread, after setmaxnreg
  uint32_t consumer_registers = 240;  // per thread, after setmaxnreg
  uint32_t shared_memory_bytes = 0;

  bool eight_bit() const { return type == configs::FP8; }
  uint32_t head_dim() const { return tiles.head_dim(); }
  uint32_t element_bytes() const { return tiles.element_bytes(); }
  uint32_t consumers() const { return tile_queries / kGroupRows; }  // warpgroups
  uint32_t warpgroups() const { return consumers() + (specialized ? 1 : 0); }
  // The producer's warpgroup transposes V of 8-bit elements inside the kernel, into a separate ring: wgmma reads 8-bit operands
  // only if the summed dimension is contiguous in memory.
  bool transposes() const { return eight_bit(); }
  // A block's keys are loaded before the values of the previous block. Otherwise a block's values follow its keys.
  bool keys_ahead() const { return overlap || eight_bit(); }
  bool packed() const { return tiles.rows_of_query() > 1; }
  // CTAs draw causal tiles from a queue. With splits, each CTA has one tile, or part of one.
  bool queued() const { return tiles.causal() && splits == 1; }
  // The number of key blocks per tile is a parameter of the CTA.
  bool varies() const { return tiles.causal() || splits > 1; }
  // Warps that issue loads: one producer warp; its four warps if it copies; or the four warps of the first consumer warpgroup, with
  // a quarter of a block each. (In the library's kernels without a producer, one thread of warp 0 loads, flash_bwd_kernel.h,
  // compute_dqkv; here all warps of a warpgroup run the same program.)
  uint32_t loaders() const { return specialized && !copies ? 1 : 4; }
  uint64_t blocks() const { return tiles.query_tiles().front().full_blocks + tiles.query_tiles().front().masked_blocks; }
  uint32_t threads() const { return kGroupThreads * warpgroups(); }
  uint32_t scores() const { return tile_keys / 2; }  // per thread: 64 x keys over 128 threads, one register each
  uint32_t outputs() const { return head_dim() / 2; }
  uint32_t probabilities() const { return scores() * element_bytes() / 4; }  // registers of P, packed
  uint32_t scores_of_call() const { return 128 / threshold_bits; }           // a Philox call makes 128 random bits
  // Otherwise all scores are packed, and elements dropped, after the last exponential.
  bool packs_among_exponentials() const { return dropout == configs::NONE; }
  // Registers for the words of a Philox call and its intermediate values, or for stored bits.
  uint32_t dropout_registers() const { return dropout == configs::NONE ? 0 : dropout == configs::FUSED_PHILOX ? 12 : 4; }
  // Rows of a tile that TMA moves: none behind the last query. If there are several tiles, all count as full.
  uint32_t rows() const { return static_cast<uint32_t>(std::min<uint64_t>(tiles.queries(), tile_queries)); }
  uint32_t query_bytes() const { return tile_queries * head_dim() * element_bytes(); }  // a tile of Q in shared memory
  uint32_t key_bytes() const { return tile_keys * head_dim() * element_bytes(); }       // one block of K, or of V
  // A TMA box is as wide as the 128-byte swizzle of shared memory.
  uint32_t boxes() const { return head_dim() * element_bytes() > 128 ? head_dim() * element_bytes() / 128 : 1; }
  uint32_t score_steps() const { return head_dim() * element_bytes() / kStepBytes; }  // wgmma of Q K^T
  uint32_t output_steps() const { return tile_keys * element_bytes() / kStepBytes; }  // wgmma of P V

  static constexpr uint32_t kGroupRows = 64;  // per wgmma
  static constexpr uint32_t kGroupThreads = 128;
  static constexpr uint32_t kStepBytes = 32;         // wgmma k16 of 16-bit or k32 of 8-bit elements
  static constexpr uint32_t kOutputBytes = 2;        // O is written as 16-bit elements, also from FP8 inputs
  static constexpr uint32_t kWorkingRegisters = 16;  // below the accumulators: row statistics, addresses, counters
};

// Fails if the architecture, the combination of options, registers or shared memory do not fit.
Expected<FlashAttention3Plan> plan_flash_attention_3(const configs::FlashAttention3& attention, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
