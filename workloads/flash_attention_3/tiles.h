#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "workloads/common/attention_shape.h"

namespace warpfold::workloads {

// Tiles of a CTA that have the same number of key blocks.
struct TilesOfLength {
  uint64_t blocks = 0;
  uint64_t tiles = 0;
  bool operator==(const TilesOfLength&) const = default;
};

// CTAs with equal tiles.
struct CtaTiles {
  uint64_t ctas = 0;
  std::vector<TilesOfLength> lengths;
  bool operator==(const CtaTiles&) const = default;
};

// The queue of causal tiles, as key blocks per tile (hopper/tile_scheduler.hpp, DynamicPersistentTileScheduler). From July to
// October 2024 heads follow one another, each from its first query on. From January 2025 on the longest tiles come first within a
// section of heads. heads_of_section() returns the heads whose keys and values take 32 MB, rounded down to a power of two, times
// the heads that share a KV head.
std::vector<uint64_t> head_after_head(const AttentionTiles& tiles);
uint64_t heads_of_section(const AttentionTiles& tiles);

// Distributes the queue among the CTAs of a persistent launch: the CTA with the least work so far draws next. `work` returns the
// work of a tile with the given number of blocks. Four heads with tiles of 1, 2 and 3 blocks, 2 CTAs, work = blocks:
//
//   queue    1 2 3 1 2 3 1 2 3 1 2 3
//   CTA 0    1   3     3     3     3      1 tile of 1 block, 4 of 3: 13 blocks
//   CTA 1      2   1 2   1 2   1 2        3 of 1, 4 of 2: 11 blocks
//
// The time of a tile is linear in its blocks, so tiles can be averaged without changing the launch's time. The CTA with the most
// work determines the end and comes first. It keeps its tiles if they have at most eight lengths; otherwise each quarter of them,
// sorted by length, takes its mean length. Of the other CTAs, up to sixteen with equally many tiles and similar work share their
// tiles evenly, quarter by quarter. The launch's tiles and blocks stay the same in total.
std::vector<CtaTiles> draw_tiles(const std::vector<uint64_t>& queue, uint64_t ctas,
                                 const std::function<uint64_t(uint64_t blocks)>& work);

}  // namespace warpfold::workloads
