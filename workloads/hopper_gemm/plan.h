#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"
#include "workloads/common/tile_share.h"

namespace warpfold::workloads {

// A Hopper GEMM with every default filled in and every limit checked: the choices that CUTLASS makes before the launch.
struct HopperPlan {
  configs::ElementType type = configs::FP8;
  configs::ElementType output_type = configs::BF16;
  uint32_t element_bytes = 1;
  uint32_t output_bytes = 2;
  uint32_t tile_m = 128;
  uint32_t tile_n = 128;
  uint32_t tile_k = 128;
  bool pingpong = true;
  bool promoted = false;       // FP8: partial sums are added to a second set of accumulators after every k-block
  bool scaled = false;         // promoted, each partial sum multiplied by a scale of its row and one of its columns
  bool vector_scaled = false;  // scaled, each column of B has a scale of its own
  bool select_scales = false;  // the choice between two scales of B is made at run time
  bool whole_tile = false;
  bool swizzled_store = true;
  bool persistent = true;
  bool by_columns = false;    // cooperative, each consumer with half of the columns
  uint32_t consumers = 2;     // warpgroups that multiply: one if a cooperative tile has 64 rows
  configs::GemmFusion fused;  // in terms of the tile's rows and columns, after swap_operands
  uint32_t cluster_m = 2;
  uint32_t cluster_n = 1;
  bool along_m = true;
  uint32_t swizzle = 8;  // tiles
  uint32_t registers_per_thread = 168;
  uint32_t producer_registers = 40;   // per thread, after setmaxnreg
  uint32_t consumer_registers = 232;  // per thread, after setmaxnreg
  uint32_t stages = 1;
  uint32_t shared_memory_bytes = 0;

  bool stream_k = false;             // all CTAs have nearly equal numbers of k-blocks
  uint32_t parts = 1;                // parts of k, one CTA each
  bool parallel_parts = false;       // the sums of each part are stored separately, for a reduction kernel
  uint32_t turn_polls = 0;           // SERIAL: polls of the semaphore per earlier part
  bool grouped = false;              // the launch computes several products
  bool batched = false;              // groups are consecutive products of the launch; otherwise tables give the group of a tile
  bool masked = false;               // every role looks up the group of a tile
  std::vector<uint64_t> group_rows;  // rows of the result, before swap_operands
  bool swapped = false;
  uint32_t grid_ctas = 0;        // persistent: upper limit of CTAs; 0: none
  uint64_t m = 0, n = 0, k = 0;  // in tiles' terms: with swap_operands, m counts the result's columns
  uint32_t used_rows = 128;      // rows of a tile that are not padding; TMA fills the padding with zeros and reads nothing for it
  uint32_t used_columns = 128;
  uint64_t k_blocks = 1;    // per part
  uint64_t clusters_m = 1;  // the output in whole clusters: tiles at the edges cost as much as full ones; TMA zero-fills them
  uint64_t clusters_n = 1;
  uint64_t clusters = 1;  // over all groups
  uint64_t concurrent_ctas = 1;
  std::vector<TileShare> shares;

  uint32_t a_stage_bytes() const { return tile_m * tile_k * element_bytes; }
  uint32_t b_stage_bytes() const { return tile_n * tile_k * element_bytes; }
  uint32_t a_scale_bytes() const { return scaled ? tile_m * kScaleBytes : 0; }         // per stage: one scale per row
  uint32_t b_scale_bytes() const { return vector_scaled ? tile_n * kScaleBytes : 0; }  // per stage: one scale per column
  // Blocks of 128 columns of B that a tile can touch: a tile lies inside one block only if tile_n divides 128.
  uint32_t b_scale_rows() const { return kScaledColumns % tile_n == 0 ? 1 : 2; }
  uint64_t b_scales() const { return scaled && !vector_scaled ? k_blocks * b_scale_rows() : 0; }  // per tile
  uint32_t stage_bytes() const { return a_stage_bytes() + b_stage_bytes() + a_scale_bytes() + b_scale_bytes(); }
  // Bytes that TMA loads for a stage.
  uint32_t a_load_bytes() const { return used_rows * tile_k * element_bytes; }
  uint32_t b_load_bytes() const { return used_columns * tile_k * element_bytes; }
  uint32_t a_scale_load_bytes() const { return scaled ? std::max(used_rows * kScaleBytes, kLeastCopyBytes) : 0; }
  uint32_t b_scale_load_bytes() const { return vector_scaled ? std::max(used_columns * kScaleBytes, kLeastCopyBytes) : 0; }
  uint32_t load_bytes() const { return a_load_bytes() + b_load_bytes() + a_scale_load_bytes() + b_scale_load_bytes(); }
  // The share of a whole tile's `bytes` that is not padding.
  uint32_t used_bytes(uint32_t bytes) const {
    const uint64_t used = uint64_t{bytes} * used_rows * used_columns / (uint64_t{tile_m} * tile_n);
    return std::max(static_cast<uint32_t>(used), kLeastCopyBytes);
  }
  uint32_t cluster_ctas() const { return cluster_m * cluster_n; }
  uint64_t tiles() const { return clusters * cluster_ctas(); }
  bool split() const { return parts > 1; }
  // Rows and columns of the tile that one consumer warpgroup computes.
  uint32_t warpgroup_rows() const { return pingpong || by_columns ? tile_m : tile_m / consumers; }
  uint32_t warpgroup_columns() const { return by_columns ? tile_n / consumers : tile_n; }
  uint32_t warpgroups() const { return 1 + consumers; }  // the producer included
  uint32_t threads() const { return 128 * warpgroups(); }
  uint32_t consumer_threads() const { return 128 * consumers; }
  uint32_t accumulator_blocks() const { return warpgroup_rows() / 64; }        // blocks of 64 rows: m64nN
  uint32_t accumulators_per_block() const { return warpgroup_columns() / 2; }  // registers per thread: 64 N / 128 threads
  uint32_t accumulators() const { return accumulator_blocks() * accumulators_per_block(); }
  uint32_t k_steps() const { return tile_k * element_bytes / kStepBytes; }                // wgmma steps along k in a k-block
  uint32_t sum_columns() const { return fused.activation() == configs::SWIGLU ? 2 : 1; }  // columns of sums per column of results
  uint32_t result_row_bytes() const { return warpgroup_columns() / sum_columns() * output_bytes; }  // per warpgroup
  // Bytes of a result row in the epilogue's buffer. A sub-tile takes the widest of 64, 32 and 16 bytes that divides the tile's row.
  uint32_t epilogue_row_bytes() const {
    if (whole_tile) return result_row_bytes();
    return result_row_bytes() % 64 == 0 ? 64 : result_row_bytes() % 32 == 0 ? 32 : 16;
  }
  uint32_t epilogue_bytes() const {
    return whole_tile ? tile_m * tile_n / sum_columns() * output_bytes : consumers * kEpilogueBuffers * 64 * epilogue_row_bytes();
  }
  // Passes of one STSM.x4 through the data stage.
  uint16_t store_wavefronts() const;
  // Sub-tiles of 64 rows and up to 64 bytes: 1 KB per warp.
  uint32_t epilogue_steps() const { return accumulator_blocks() * result_row_bytes() / epilogue_row_bytes(); }
  uint32_t packed_registers() const { return 64 * epilogue_row_bytes() / 128 / 4; }  // per sub-tile
  bool is_fused() const { return fused.ByteSizeLong() > 0; }

  static constexpr uint32_t kStepBytes = 32;  // wgmma k16 of 16-bit or k32 of 8-bit elements
  static constexpr uint32_t kEpilogueBuffers = 2;
  static constexpr uint32_t kScaleBytes = 4;       // FP32
  static constexpr uint32_t kScaledColumns = 128;  // columns of B that share a scale
  // Scaled sums start one register later. They then lie in the other register bank than the partial sums that FFMA reads in the
  // same instruction. assumed: as ptxas places operands where it is free to choose.
  static constexpr uint32_t kSumShift = 1;
  static constexpr uint32_t kLeastCopyBytes = 16;   // smallest TMA copy
  static constexpr uint32_t kFusionRegisters = 16;  // behind the sums: two for each of eight sums that are processed together
};

// Passes of one STSM.x4 through the data stage if consecutive result rows are `row_bytes` apart. STSM.x4 stores four 8x8 matrices.
// A matrix takes one pass if its eight rows of 16 bytes lie in different banks. At a distance of 256 bytes all eight rows lie in
// the same four banks, so a matrix takes 8 passes and the instruction 32.
//   row_bytes  64: banks 0 16 0 16 ..  4 rows each, 16 passes      row_bytes 320: banks 0 16 0 16 ..  16 passes
//   row_bytes 256: banks 0 0 0 0 ..    8 rows each, 32 passes      row_bytes 224: banks 0 24 16 8 ..   8 passes
uint16_t unswizzled_store_wavefronts(uint32_t row_bytes);

// Fails if the plan does not fit the architecture, the tile shapes of wgmma, the cluster limit, registers, or shared memory.
Expected<HopperPlan> plan_hopper_gemm(const configs::HopperGemm& gemm, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
