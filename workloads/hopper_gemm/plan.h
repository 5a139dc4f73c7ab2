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

// A Hopper GEMM with every default filled in and every limit checked: what CUTLASS decides before it launches.
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
  bool select_scales = false;  // which of two scales of B a sum takes is known at run time alone
  bool whole_tile = false;
  bool swizzled_store = true;
  bool persistent = true;
  bool by_columns = false;    // cooperative, each consumer with half of the columns
  uint32_t consumers = 2;     // warpgroups that multiply: one for a cooperative tile of 64 rows
  configs::GemmFusion fused;  // of the tile's rows and columns: operands that changed places have changed them here as well
  uint32_t cluster_m = 2;
  uint32_t cluster_n = 1;
  bool along_m = true;
  uint32_t swizzle = 8;  // tiles
  uint32_t registers_per_thread = 168;
  uint32_t producer_registers = 40;   // a thread, after setmaxnreg
  uint32_t consumer_registers = 232;  // a thread, after setmaxnreg
  uint32_t stages = 1;
  uint32_t shared_memory_bytes = 0;

  bool stream_k = false;  // CTAs have equal numbers of k-blocks
  uint32_t parts = 1;     // of k, each a CTA's; PARALLEL: stored as they are
  bool parallel_parts = false;
  uint32_t turn_polls = 0;           // SERIAL: looks at the semaphore until one part has added its sums
  bool grouped = false;              // several products in the launch, or one in a kernel for several
  bool batched = false;              // groups: products behind each other; else tables say which group a tile is of
  bool masked = false;               // looked up by every role
  std::vector<uint64_t> group_rows;  // of the result, before operands change places
  bool swapped = false;
  uint32_t grid_ctas = 0;        // persistent: at most
  uint64_t m = 0, n = 0, k = 0;  // of the tiles: m is the result's columns where the operands have changed places
  uint32_t used_rows = 128;      // of a tile that are not padding; TMA fills the others with zeros and reads nothing for them
  uint32_t used_columns = 128;
  uint64_t k_blocks = 1;    // of a part
  uint64_t clusters_m = 1;  // the output in whole clusters: ragged edges are computed as full tiles, as TMA zero-fills them
  uint64_t clusters_n = 1;
  uint64_t clusters = 1;  // of all groups
  uint64_t concurrent_ctas = 1;
  std::vector<TileShare> shares;

  uint32_t a_stage_bytes() const { return tile_m * tile_k * element_bytes; }
  uint32_t b_stage_bytes() const { return tile_n * tile_k * element_bytes; }
  uint32_t a_scale_bytes() const { return scaled ? tile_m * kScaleBytes : 0; }  // of a stage: one scale a row
  // Rows of 128 columns of B that a tile can touch: its columns share one scale only where 128 is a multiple of tile_n.
  uint32_t b_scale_rows() const { return kScaledColumns % tile_n == 0 ? 1 : 2; }
  uint64_t b_scales() const { return scaled ? k_blocks * b_scale_rows() : 0; }  // of a tile
  uint32_t stage_bytes() const { return a_stage_bytes() + b_stage_bytes() + a_scale_bytes(); }
  // What TMA moves of a stage.
  uint32_t a_load_bytes() const { return used_rows * tile_k * element_bytes; }
  uint32_t b_load_bytes() const { return used_columns * tile_k * element_bytes; }
  uint32_t a_scale_load_bytes() const { return scaled ? std::max(used_rows * kScaleBytes, kLeastCopyBytes) : 0; }
  uint32_t load_bytes() const { return a_load_bytes() + b_load_bytes() + a_scale_load_bytes(); }
  // Of `bytes` of a whole tile, those that are not padding.
  uint32_t used_bytes(uint32_t bytes) const {
    const uint64_t used = uint64_t{bytes} * used_rows * used_columns / (uint64_t{tile_m} * tile_n);
    return std::max(static_cast<uint32_t>(used), kLeastCopyBytes);
  }
  uint32_t cluster_ctas() const { return cluster_m * cluster_n; }
  uint64_t tiles() const { return clusters * cluster_ctas(); }
  bool split() const { return parts > 1; }
  // Rows of the tile that one consumer warpgroup computes.
  uint32_t warpgroup_rows() const { return pingpong || by_columns ? tile_m : tile_m / consumers; }
  uint32_t warpgroup_columns() const { return by_columns ? tile_n / consumers : tile_n; }
  uint32_t warpgroups() const { return 1 + consumers; }  // and a producer
  uint32_t threads() const { return 128 * warpgroups(); }
  uint32_t consumer_threads() const { return 128 * consumers; }
  uint32_t accumulator_blocks() const { return warpgroup_rows() / 64; }        // of m64nN
  uint32_t accumulators_per_block() const { return warpgroup_columns() / 2; }  // registers a thread: 64 N / 128 threads
  uint32_t accumulators() const { return accumulator_blocks() * accumulators_per_block(); }
  uint32_t k_steps() const { return tile_k * element_bytes / kStepBytes; }                          // wgmma deep in a k-block
  uint32_t sum_columns() const { return fused.activation() == configs::SWIGLU ? 2 : 1; }            // of which one result is made
  uint32_t result_row_bytes() const { return warpgroup_columns() / sum_columns() * output_bytes; }  // of a warpgroup's
  // Bytes of a result row in the buffer that the epilogue writes: sub-tiles are as wide as divides the tile.
  uint32_t epilogue_row_bytes() const {
    if (whole_tile) return result_row_bytes();
    return result_row_bytes() % 64 == 0 ? 64 : result_row_bytes() % 32 == 0 ? 32 : 16;
  }
  uint32_t epilogue_bytes() const {
    return whole_tile ? tile_m * tile_n / sum_columns() * output_bytes : consumers * kEpilogueBuffers * 64 * epilogue_row_bytes();
  }
  // Data-stage passes of one STSM.x4.
  uint16_t store_wavefronts() const;
  // Sub-tiles of 64 rows, up to 64 bytes wide: 1 KB a warp.
  uint32_t epilogue_steps() const { return accumulator_blocks() * result_row_bytes() / epilogue_row_bytes(); }
  uint32_t packed_registers() const { return 64 * epilogue_row_bytes() / 128 / 4; }  // of a sub-tile
  bool is_fused() const { return fused.ByteSizeLong() > 0; }

  static constexpr uint32_t kStepBytes = 32;  // wgmma k16 of 16-bit or k32 of 8-bit elements
  static constexpr uint32_t kEpilogueBuffers = 2;
  static constexpr uint32_t kScaleBytes = 4;       // FP32
  static constexpr uint32_t kScaledColumns = 128;  // of B that share a scale
  // Scaled sums start one register further, in the other bank than the partial sums that FFMA reads beside them. assumed: as ptxas
  // places operands where it may choose.
  static constexpr uint32_t kSumShift = 1;
  static constexpr uint32_t kLeastCopyBytes = 16;   // of TMA
  static constexpr uint32_t kFusionRegisters = 16;  // behind the sums: two for each of eight at a time
};

// Passes of one STSM.x4 through the data stage where result rows stand `row_bytes` apart. It stores four 8x8 matrices, one a pass
// when their eight rows of 16 bytes fall into different banks. 256 bytes apart all eight meet in four banks: 8 passes each, 32
// together.
//   row_bytes  64: banks 0 16 0 16 ..  4 rows each, 16 passes      row_bytes 320: banks 0 16 0 16 ..  16 passes
//   row_bytes 256: banks 0 0 0 0 ..    8 rows each, 32 passes      row_bytes 224: banks 0 24 16 8 ..   8 passes
uint16_t unswizzled_store_wavefronts(uint32_t row_bytes);

// Fails with what does not fit: the architecture, tile shapes that wgmma has not, clusters, registers, shared memory.
Expected<HopperPlan> plan_hopper_gemm(const configs::HopperGemm& gemm, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
