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

// CTAs that have the same tiles.
struct CtaTiles {
  uint64_t ctas = 0;
  std::vector<TilesOfLength> lengths;
  bool operator==(const CtaTiles&) const = default;
};

// The queue of causal tiles, the key blocks of each (hopper/tile_scheduler.hpp, DynamicPersistentTileScheduler). From July to
// October 2024: head after head, from a head's first query on. From January 2025 on the longest first, within sections of as many
// heads as have keys and values of 32 MB together, rounded down to a power of two, and as many times more as heads share them.
std::vector<uint64_t> head_after_head(const AttentionTiles& tiles);
uint64_t heads_of_section(const AttentionTiles& tiles);

// What the CTAs of a persistent launch draw from the queue. The CTA whose tiles have been the least work draws next; `work` is a
// tile's of so many blocks. Four heads of tiles of 1, 2 and 3 blocks, 2 CTAs, `work` the blocks:
//
//   queue    1 2 3 1 2 3 1 2 3 1 2 3
//   CTA 0    1   3     3     3     3      1 tile of 1 block, 4 of 3: 13 blocks
//   CTA 1      2   1 2   1 2   1 2        3 of 1, 4 of 2: 11 blocks
//
// A tile's time is linear in its blocks, so not every tile need be kept for the launch's time to be. The CTA with the most work,
// for which the others are waited with, comes first and has its own tiles, unless they have more than eight lengths: then a quarter
// of them, from the shortest on, share the mean of their lengths. Of the others, up to sixteen with equally many tiles and about
// the same work share what they have drawn evenly, quarter by quarter. Tiles and blocks of the whole launch stay what they are.
std::vector<CtaTiles> draw_tiles(const std::vector<uint64_t>& queue, uint64_t ctas,
                                 const std::function<uint64_t(uint64_t blocks)>& work);

}  // namespace warpfold::workloads
