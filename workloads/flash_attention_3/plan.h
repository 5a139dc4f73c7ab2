#pragma once

#include <algorithm>
#include <cstdint>

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "workloads/common/attention_shape.h"

namespace warpfold::workloads {

// FlashAttention-3 forward with every default filled in and every limit checked: what the library decides before it launches.
struct FlashAttention3Plan {
  AttentionTiles tiles;
  configs::ElementType type = configs::FP16;
  configs::Dropout dropout = configs::NONE;
  uint32_t philox_rounds = 7;
  uint32_t threshold_bits = 8;
  uint32_t tile_queries = 128;
  uint32_t tile_keys = 128;
  uint32_t stages = 2;  // of the K ring and of the V ring
  uint32_t cluster = 1;
  bool pingpong = true;  // consumers issue their products in turn
  bool overlap = true;   // within a warpgroup: Q K of a block is issued together with P V of the block before
  // A producer warpgroup loads and persistent CTAs work through many tiles; else consumers load and each CTA has one tile.
  bool specialized = true;
  bool longest_first = false;  // of causal tiles
  uint32_t splits = 1;         // of a tile's keys
  uint32_t page_keys = 0;      // 0: no pages
  // Pages are found by a table and copied by cp.async, by four producer warps; else TMA loads.
  bool copies = false;
  uint32_t lengths = 1;  // distinct lengths of a persistent CTA's tiles: one loop each
  uint32_t registers_per_thread = 168;
  uint32_t producer_registers = 24;   // a thread, after setmaxnreg
  uint32_t consumer_registers = 240;  // a thread, after setmaxnreg
  uint32_t shared_memory_bytes = 0;

  bool eight_bit() const { return type == configs::FP8; }
  uint32_t head_dim() const { return tiles.head_dim(); }
  uint32_t element_bytes() const { return tiles.element_bytes(); }
  uint32_t consumers() const { return tile_queries / kGroupRows; }  // warpgroups
  uint32_t warpgroups() const { return consumers() + (specialized ? 1 : 0); }
  // V of 8-bit elements is transposed inside the kernel, by the producer's warpgroup, into a ring of its own: wgmma reads 8-bit
  // operands only with the summed dimension running along memory.
  bool transposes() const { return eight_bit(); }
  // A block's keys are loaded before the values of the block in front of it; else its own values follow them.
  bool keys_ahead() const { return overlap || eight_bit(); }
  bool packed() const { return tiles.rows_of_query() > 1; }
  // CTAs draw causal tiles from a queue; with splits each has one tile, or part of one.
  bool queued() const { return tiles.causal() && splits == 1; }
  // Key blocks of a tile are a parameter of its CTA.
  bool varies() const { return tiles.causal() || splits > 1; }
  // Warps that issue loads: one producer, or its four where it copies; or the four of the first consumer warpgroup, a quarter of a
  // block each. (In the library's kernels without a producer one thread of warp 0 loads, flash_bwd_kernel.h, compute_dqkv; here
  // the warps of a warpgroup have one program.)
  uint32_t loaders() const { return specialized && !copies ? 1 : 4; }
  uint64_t blocks() const { return tiles.query_tiles().front().full_blocks + tiles.query_tiles().front().masked_blocks; }
  uint32_t threads() const { return kGroupThreads * warpgroups(); }
  uint32_t scores() const { return tile_keys / 2; }  // of a thread: 64 x keys over 128 threads, in as many registers
  uint32_t outputs() const { return head_dim() / 2; }
  uint32_t probabilities() const { return scores() * element_bytes() / 4; }  // registers of P, packed
  uint32_t scores_of_call() const { return 128 / threshold_bits; }           // a Philox call makes 128 random bits
  // Else all scores are packed, and elements dropped, when the last exponential has been made.
  bool packs_among_exponentials() const { return dropout == configs::NONE; }
  // The words of a Philox call and what they are made of; or the mask's.
  uint32_t dropout_registers() const { return dropout == configs::NONE ? 0 : dropout == configs::FUSED_PHILOX ? 12 : 4; }
  // TMA moves no rows behind the last one; of several tiles all are taken to be whole.
  uint32_t rows() const { return static_cast<uint32_t>(std::min<uint64_t>(tiles.queries(), tile_queries)); }
  uint32_t query_bytes() const { return tile_queries * head_dim() * element_bytes(); }  // in shared memory
  uint32_t key_bytes() const { return tile_keys * head_dim() * element_bytes(); }       // of one block of K, and of V
  // TMA boxes are as wide as the 128-byte swizzle of shared memory.
  uint32_t boxes() const { return head_dim() * element_bytes() > 128 ? head_dim() * element_bytes() / 128 : 1; }
  uint32_t score_steps() const { return head_dim() * element_bytes() / kStepBytes; }  // wgmma of Q K^T
  uint32_t output_steps() const { return tile_keys * element_bytes() / kStepBytes; }  // wgmma of P V

  static constexpr uint32_t kGroupRows = 64;  // of a wgmma
  static constexpr uint32_t kGroupThreads = 128;
  static constexpr uint32_t kStepBytes = 32;         // wgmma k16 of 16-bit or k32 of 8-bit elements
  static constexpr uint32_t kOutputBytes = 2;        // O is written as 16-bit elements, also from FP8 inputs
  static constexpr uint32_t kWorkingRegisters = 16;  // below the accumulators: row statistics, addresses, counters
};

// Fails with what does not fit: the architecture, the options together, registers, shared memory.
Expected<FlashAttention3Plan> plan_flash_attention_3(const configs::FlashAttention3& attention, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
