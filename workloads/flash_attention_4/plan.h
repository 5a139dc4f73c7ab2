#pragma once

#include <cstdint>

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "workloads/common/attention_shape.h"

namespace warpfold::workloads {

// FlashAttention-4 forward with every default filled in and every limit checked: the choices that the library makes before the
// launch.
struct FlashAttention4Plan {
  AttentionTiles tiles;  // per CTA
  configs::ElementType type = configs::BF16;
  bool pair = false;           // two CTAs multiply together; each holds half of each block of keys
  bool persistent = true;      // CTAs process many tiles; otherwise one each
  bool longest_first = false;  // causal tiles: order of launch
  configs::Dropout dropout = configs::NONE;
  uint32_t philox_rounds = 7;
  uint32_t threshold_bits = 8;       // random bits per element
  bool maximum_of_load = false;      // blocks without a mask: LDTM.STAT returns the maximum of the loaded values
  uint32_t emulated_pairs = 0;       // pairs of exponentials, of 64 per row and block, that FMAs compute
  double rescale_share = 0.1;        // share of the blocks after a tile's first that rescale O
  uint32_t stages = 3;               // blocks of K or V in shared memory
  uint32_t softmax_registers = 192;  // per thread, after setmaxnreg
  uint32_t correction_registers = 80;
  uint32_t other_registers = 48;
  uint32_t shared_memory_bytes = 0;

  uint32_t head_dim() const { return tiles.head_dim(); }
  uint64_t blocks() const { return tiles.query_tiles().front().full_blocks + tiles.query_tiles().front().masked_blocks; }
  uint32_t query_bytes() const { return kTileRows * head_dim() * kElementBytes; }  // Q of one of the two tiles, and O
  uint32_t stage_bytes() const { return kTileKeys * head_dim() * kElementBytes / (pair ? 2 : 1); }
  uint32_t scores_of_call() const { return 128 / threshold_bits; }  // a Philox call makes 128 random bits
  // A TMA box is as wide as the 128-byte swizzle of shared memory.
  uint32_t boxes() const { return head_dim() * kElementBytes / 128; }
  uint32_t score_steps() const { return head_dim() / kStepKeys; }  // products of Q K^T, each of 128 columns
  // Products of P V, each of head_dim columns. The first of them run as soon as three quarters of P are stored.
  static constexpr uint32_t output_steps() { return kTileKeys / kStepKeys; }
  static constexpr uint32_t early_output_steps() { return output_steps() * 3 / 4; }

  static constexpr uint32_t kTiles = 2;  // per CTA, each of 128 rows
  static constexpr uint32_t kTileRows = 128;
  static constexpr uint32_t kTileKeys = 128;
  static constexpr uint32_t kStepKeys = 16;  // k of a product: 32 bytes
  static constexpr uint32_t kElementBytes = 2;
  static constexpr uint32_t kThreads = 512;
  static constexpr uint32_t kRegistersPerThread = 128;  // limit at launch
  static constexpr uint32_t kTensorMemoryColumns = 512;
  static constexpr uint32_t kFragmentScores = 32;  // scores of a row that are loaded, processed and stored together
  static constexpr uint32_t kFragments = kTileKeys / kFragmentScores;
};

// Fails if the architecture, the combination of options or the shape is not supported.
Expected<FlashAttention4Plan> plan_flash_attention_4(const configs::FlashAttention4& attention, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
