#pragma once

#include <cstdint>
#include <string>

#include "configs/diagnostic.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// The order in which a GEMM's output tiles are assigned to CTAs, in clusters of cluster_m x cluster_n tiles, and the capacity of
// L2.
struct Raster {
  uint64_t clusters_m = 1;
  uint64_t clusters_n = 1;
  uint32_t cluster_m = 1;
  uint32_t cluster_n = 1;
  bool along_m = true;               // bands run along M and follow each other along N; otherwise along N and M
  uint64_t band_clusters = 1;        // width of a band, in clusters
  uint64_t concurrent_clusters = 1;  // clusters that run at a time: a wave
  uint64_t a_panel_bytes = 0;        // tile_m rows of A over all of K
  uint64_t b_panel_bytes = 0;        // tile_n columns of B over all of K
  uint64_t l2_bytes = 0;
  // Copies of each element in an operand's panel: L2 delivers all of them, and holds and reads from DRAM one.
  uint32_t a_repeats = 1;
  uint32_t b_repeats = 1;
};

// Bytes of one operand over the whole launch.
struct OperandTraffic {
  uint64_t requested = 0;  // bytes requested from L2; a panel that is multicast to a whole cluster counts once
  uint64_t dram = 0;       // the part of `requested` that DRAM delivers
  bool operator==(const OperandTraffic&) const = default;
};

struct RasterTraffic {
  OperandTraffic a;
  OperandTraffic b;
};

// Estimates the traffic wave by wave. The CTAs of a wave advance through K together, so a panel that several of them read comes
// from DRAM once. If the panels of a wave fit in L2, they stay there after the wave; the least recently used panels leave first. A
// wave whose panels exceed L2 leaves nothing useful behind, since the starts of its panels, which the next wave would need first,
// have been evicted. Writes of C are assumed to displace no panels.
//
//   2 x 4 tiles, one CTA each, waves of 4, L2 of 4 panels, along M, band 1:    N: 0 1 2 3      wave 0: A0 A1 B0 B1   4 from DRAM
//                                                                          M 0: 0 0 1 1      wave 1: A0 A1 B2 B3   2 from DRAM
//                                                                          M 1: 0 0 1 1
// Fails for more than 2^26 clusters, which take about a second.
Expected<RasterTraffic> raster_traffic(const Raster& raster);

// An operand as a memory stream. Each of the `receivers` CTAs of a multicast counts the tile among its bytes; L2 and DRAM read it
// once.
traces::MemoryStream read_stream(const std::string& name, const OperandTraffic& bytes, uint32_t receivers, uint64_t matrix_bytes);

}  // namespace warpfold::workloads
