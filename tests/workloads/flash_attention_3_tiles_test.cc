#include "workloads/flash_attention_3/tiles.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "workloads/common/longest_first.h"

namespace warpfold::workloads {
namespace {

configs::AttentionShape causal(uint64_t heads, uint64_t queries) {
  configs::AttentionShape shape;
  shape.set_heads(heads);
  shape.set_queries(queries);
  shape.set_head_dim(128);
  shape.set_causal(true);
  return shape;
}

uint64_t blocks(uint64_t of_tile) { return of_tile; }

using Lengths = std::vector<TilesOfLength>;

TEST(TileQueue, HeadAfterHeadOrTheLongestOfASectionFirst) {
  const AttentionTiles short_heads(causal(2, 384), 128, 128);
  EXPECT_EQ(head_after_head(short_heads), (std::vector<uint64_t>{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(longest_first(short_heads, heads_of_section(short_heads)), (std::vector<uint64_t>{3, 3, 2, 2, 1, 1}));
  // 8192 keys of 128 x 2 bytes and as many values are 4 MB: sections of eight heads, and a last one of four.
  configs::AttentionShape half = causal(12, 8192);
  half.set_type(configs::FP16);
  const AttentionTiles tiles(half, 128, 128);
  const auto queue = longest_first(tiles, heads_of_section(tiles));
  ASSERT_EQ(queue.size(), 12 * 64);
  EXPECT_EQ(std::ranges::count(queue.begin(), queue.begin() + 8, 64), 8);
  EXPECT_EQ(queue[8], 63);
  EXPECT_EQ(queue[8 * 64 - 1], 1);
  EXPECT_EQ(std::ranges::count(queue.begin() + 8 * 64, queue.begin() + 8 * 64 + 4, 64), 4);
  EXPECT_EQ(queue[8 * 64 + 4], 63);
}

// Longest first leaves no CTA with a long tile at the end: 24 heads of eleven tiles, 18 or 19 blocks each.
TEST(TileQueue, LongestFirstEndsEvenly) {
  const AttentionTiles tiles(causal(24, 2048), 192, 128);
  const auto drawn = draw_tiles(longest_first(tiles, heads_of_section(tiles)), 132, blocks);
  for (const CtaTiles& each : drawn) {
    uint64_t own = 0;
    for (const TilesOfLength& length : each.lengths) own += length.blocks * length.tiles;
    EXPECT_GE(own, 18);
    EXPECT_LE(own, 19);
  }
}

// The worked example of the header.
TEST(DrawTiles, TheCtaWithTheLeastWorkDrawsNext) {
  const auto drawn = draw_tiles(head_after_head(AttentionTiles(causal(4, 384), 128, 128)), 2, blocks);
  ASSERT_EQ(drawn.size(), 2);
  EXPECT_EQ(drawn[0], (CtaTiles{1, Lengths{{1, 1}, {3, 4}}}));
  EXPECT_EQ(drawn[1].ctas, 1);
  uint64_t rest = 0;
  for (const TilesOfLength& each : drawn[1].lengths) rest += each.blocks * each.tiles;
  EXPECT_EQ(rest, 11);
}

// If every tile is much work besides its blocks, the CTAs take turns: six tiles each, not five and seven as by the blocks.
TEST(DrawTiles, WorkDecidesAndNotBlocks) {
  const auto drawn =
      draw_tiles(head_after_head(AttentionTiles(causal(4, 384), 128, 128)), 2, [](uint64_t each) { return each + 100; });
  ASSERT_EQ(drawn.size(), 2);
  for (const CtaTiles& each : drawn) {
    uint64_t tiles = 0;
    for (const TilesOfLength& length : each.lengths) tiles += length.tiles;
    EXPECT_EQ(tiles, 6);
  }
}

// 2048 tiles of 1 to 128 blocks on 132 CTAs: few lengths per CTA, few kinds of CTA, and no tile or block lost. The busiest CTA is
// nearly a tile ahead of the mean, since the longest tiles come last.
TEST(DrawTiles, ManyLengthsShareLoopsAndKeepTheirBlocks) {
  const auto drawn = draw_tiles(head_after_head(AttentionTiles(causal(16, 16384), 128, 128)), 132, blocks);
  EXPECT_LE(drawn.size(), 40);
  uint64_t ctas = 0;
  uint64_t tiles = 0;
  uint64_t all = 0;
  std::vector<uint64_t> of_cta;
  for (const CtaTiles& each : drawn) {
    EXPECT_LE(each.lengths.size(), 9);
    uint64_t own = 0;
    for (const TilesOfLength& length : each.lengths) {
      EXPECT_GE(length.blocks, 1);
      tiles += each.ctas * length.tiles;
      own += length.blocks * length.tiles;
    }
    ctas += each.ctas;
    all += each.ctas * own;
    of_cta.push_back(own);
  }
  EXPECT_EQ(ctas, 132);
  EXPECT_EQ(tiles, 2048);
  EXPECT_EQ(all, 16 * 128 * 129 / 2);
  EXPECT_EQ(std::ranges::max(of_cta), of_cta.front());
  EXPECT_GT(of_cta.front(), all / 132);
  EXPECT_LT(of_cta.front(), all / 132 + 128);
}

}  // namespace
}  // namespace warpfold::workloads
