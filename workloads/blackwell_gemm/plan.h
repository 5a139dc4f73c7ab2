#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "workloads/common/tile_share.h"

namespace warpfold::workloads {

// A Blackwell GEMM with every default filled in and every limit checked.
struct BlackwellPlan {
  configs::ElementType type = configs::BF16;
  configs::ElementType output_type = configs::BF16;
  uint32_t element_bits = 16;
  uint32_t output_bytes = 2;
  uint32_t scaled_elements = 0;  // elements of k that share a scale; 0: UNSCALED
  uint32_t tile_m = 128;         // per CTA
  uint32_t tile_n = 256;         // per CTA: both CTAs of a pair have the same columns
  uint32_t tile_k = 64;
  uint32_t cta_group = 2;
  bool persistent = true;
  uint32_t cluster_m = 2;
  uint32_t cluster_n = 1;
  bool along_m = true;
  uint32_t swizzle = 8;  // tiles
  uint32_t accumulators = 2;
  uint32_t stages = 2;
  uint32_t shared_memory_bytes = 0;
  uint32_t parts = 1;  // parts of k
  bool swapped = false;
  uint32_t grid_ctas = 0;        // persistent: upper limit of CTAs; 0: none
  uint64_t m = 0, n = 0, k = 0;  // in tiles' terms: with swap_operands, m counts the result's columns
  uint32_t used_rows = 128;      // rows of a tile that are not padding; TMA reads nothing for padding
  uint32_t used_columns = 256;
  uint64_t k_blocks = 1;    // per part
  uint64_t clusters_m = 1;  // the result in whole clusters: partial tiles at the edges cost as much as full tiles
  uint64_t clusters_n = 1;
  uint64_t concurrent_ctas = 1;
  std::vector<TileShare> shares;

  uint32_t bytes_of(uint32_t elements) const { return elements * element_bits / 8; }
  uint32_t step_elements() const { return 8 * kStepBytes / element_bits; }
  // Columns of B that one CTA holds: half of them in a pair.
  uint32_t b_columns() const { return tile_n / cta_group; }
  // Scales of a stage, one byte each, in whole groups of 128 rows (DeepGEMM, get_sf_uttcp_aligned_block_sizes). Each CTA of a pair
  // holds the scales of all columns.
  uint32_t scale_bytes(uint32_t rows) const {
    return scaled_elements == 0 ? 0 : (rows + 127) / 128 * 128 * tile_k / scaled_elements;
  }
  // Copies of scales to tensor memory per k-block. The scales of A and of B are separate there, and every copy has its full size.
  uint32_t scale_copies() const { return copies_of(scale_bytes(tile_m)) + copies_of(scale_bytes(tile_n)); }
  static uint32_t copies_of(uint32_t bytes) { return (bytes + kScaleCopyBytes - 1) / kScaleCopyBytes; }
  uint32_t stage_bytes() const { return bytes_of((tile_m + b_columns()) * tile_k) + scale_bytes(tile_m) + scale_bytes(tile_n); }
  // Bytes that TMA loads for a stage.
  uint32_t a_load_bytes() const { return bytes_of(used_rows * tile_k) + scale_bytes(tile_m); }
  uint32_t b_load_bytes() const {
    return std::max(bytes_of(used_columns * tile_k) / cta_group, kLeastCopyBytes) + scale_bytes(tile_n);
  }
  uint32_t scale_columns() const { return scaled_elements == 0 ? 0 : (tile_m + 127) / 128 * 4 + (tile_n + 127) / 128 * 4; }
  uint32_t tensor_memory_columns() const;
  uint32_t epilogue_bytes() const { return kStoreBuffers * tile_m * kStoreRowBytes; }
  uint32_t cluster_ctas() const { return cluster_m * cluster_n; }
  uint64_t tiles() const { return clusters_m * clusters_n * cluster_ctas(); }
  uint32_t k_steps() const { return tile_k / step_elements(); }  // tcgen05.mma per k-block
  // CTAs that receive a bulk load of A or of B.
  uint32_t a_receivers() const { return cluster_n; }
  uint32_t b_receivers() const { return cluster_m / cta_group; }

  static constexpr uint32_t kStepBytes = 32;  // bytes of k per tcgen05.mma: PTX ISA
  static constexpr uint32_t kLeastCopyBytes = 16;
  static constexpr uint32_t kScaleCopyBytes = 512;  // per UTCCP.4x32dp128bit: PTX ISA, tcgen05.cp .32x128b
  static constexpr uint32_t kStoreBuffers = 2;      // DeepGEMM, kNumTMAStoreStages
  static constexpr uint32_t kStoreRowBytes = 128;   // row of a result buffer: the widest swizzle (DeepGEMM, get_storage_config)
  static constexpr uint32_t kEpilogueColumns = 32;  // per LDTM.x32, by which a warp reads tensor memory
  // DeepGEMM launches 256 threads: one warp for TMA, one for tcgen05.mma, two idle warps, and four that store.
  static constexpr uint32_t kWarps = 8;
  static constexpr uint32_t kEpilogueWarps = 4;
  // Per thread. Two such CTAs fit the registers of an SM. assumed: no role needs more.
  static constexpr uint32_t kRegisters = 128;
};

// Fails if the plan does not fit the architecture, the shapes of tcgen05.mma, the cluster limit, tensor memory, or shared memory.
Expected<BlackwellPlan> plan_blackwell_gemm(const configs::BlackwellGemm& gemm, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
