// Attention cut into tiles: the numbers were worked out by hand from the triangle of visible keys.
#include "workloads/common/attention_shape.h"

#include <gtest/gtest.h>

namespace warpfold::workloads {
namespace {

configs::AttentionShape shape_of(uint64_t heads, uint64_t queries, uint32_t head_dim) {
  configs::AttentionShape shape;
  shape.set_heads(heads);
  shape.set_queries(queries);
  shape.set_head_dim(head_dim);
  shape.set_type(configs::BF16);
  return shape;
}

configs::AttentionShape causal_of(uint64_t queries) {
  configs::AttentionShape shape = shape_of(1, queries, 64);
  shape.set_causal(true);
  return shape;
}

using Tiles = std::vector<QueryTile>;

TEST(AttentionTiles, FillsInWhatIsNotGiven) {
  const AttentionTiles tiles(shape_of(12, 256, 64), 128, 128);
  EXPECT_EQ(tiles.batch(), 1);
  EXPECT_EQ(tiles.kv_heads(), 12);
  EXPECT_EQ(tiles.keys(), 256);
  EXPECT_EQ(tiles.element_bytes(), 2);
  EXPECT_FALSE(tiles.causal());
}

// 300 queries are 2 1/3 tiles, 300 keys are 2 whole blocks and one that the end cuts.
TEST(AttentionTiles, CutsTheLastBlockOfKeys) {
  const AttentionTiles tiles(shape_of(1, 300, 64), 128, 128);
  EXPECT_EQ(tiles.query_tiles(), (Tiles{{2, 1}, {2, 1}, {2, 1}}));
  EXPECT_EQ(tiles.key_blocks(), 9);
}

TEST(AttentionTiles, HasNoCutBlockWhereTheTileDividesTheKeys) {
  const AttentionTiles tiles(shape_of(1, 256, 64), 128, 64);
  EXPECT_EQ(tiles.query_tiles(), (Tiles{{4, 0}, {4, 0}}));
}

// 128 x 128: the diagonal cuts one block of every tile.
TEST(AttentionTiles, CausalSquareTilesAreCutOnce) {
  const AttentionTiles tiles(causal_of(512), 128, 128);
  EXPECT_EQ(tiles.query_tiles(), (Tiles{{0, 1}, {1, 1}, {2, 1}, {3, 1}}));
  EXPECT_EQ(tiles.key_blocks(), 10);
}

// 128 queries, 80 keys. Tile 1 is queries 128-255: its first sees 129 keys, one whole block; its last 256, up to the 4th block.
// Tile 2: 257 keys are 3 whole blocks, 384 reach into the 5th.
TEST(AttentionTiles, CausalTilesOfOtherShapesAreCutSeveralTimes) {
  const AttentionTiles tiles(causal_of(384), 128, 80);
  EXPECT_EQ(tiles.query_tiles(), (Tiles{{0, 2}, {1, 3}, {3, 2}}));
}

// 192 x 128, 500 queries: the last tile is queries 384-499, of 500 keys.
TEST(AttentionTiles, CausalAndRagged) {
  const AttentionTiles tiles(causal_of(500), 192, 128);
  EXPECT_EQ(tiles.query_tiles(), (Tiles{{0, 2}, {1, 2}, {3, 1}}));
}

// The last query sees the last key: 128 queries behind 384 earlier keys see 385 to 512.
TEST(AttentionTiles, CausalWithMoreKeysThanQueries) {
  configs::AttentionShape shape = causal_of(128);
  shape.set_keys(512);
  EXPECT_EQ(AttentionTiles(shape, 128, 128).query_tiles(), (Tiles{{3, 1}}));
}

// Queries 0-255 of 384 come before the first of 128 keys.
TEST(AttentionTiles, CausalWithFewerKeysThanQueries) {
  configs::AttentionShape shape = causal_of(384);
  shape.set_keys(128);
  EXPECT_EQ(AttentionTiles(shape, 128, 128).query_tiles(), (Tiles{{0, 0}, {0, 0}, {0, 1}}));
}

TEST(AttentionTiles, CountsFlopsAsFlashAttentionDoes) {
  configs::AttentionShape shape = shape_of(16, 1000, 128);
  shape.set_batch(3);
  EXPECT_EQ(AttentionTiles(shape, 128, 128).forward_flops(), 4ULL * 3 * 16 * 1000 * 1000 * 128);
  shape.set_causal(true);
  EXPECT_EQ(AttentionTiles(shape, 128, 128).forward_flops(), 2ULL * 3 * 16 * 1000 * 1000 * 128);
}

constexpr uint64_t kL2 = 50ULL << 20;

// 8 tiles of 128 queries read the same keys: an eighth comes from DRAM.
TEST(AttentionKeys, ComeFromDramOnce) {
  EXPECT_EQ(AttentionTiles(shape_of(16, 1024, 128), 128, 128).key_stream("K", 132, kL2), (traces::MemoryStream{"K", false, 1, 8}));
}

// Four heads share a head of keys and values: 32 tiles read it.
TEST(AttentionKeys, ServeAllHeadsOfTheirGroup) {
  configs::AttentionShape shape = shape_of(16, 1024, 128);
  shape.set_kv_heads(4);
  EXPECT_EQ(AttentionTiles(shape, 128, 128).key_stream("K", 132, kL2), (traces::MemoryStream{"K", false, 1, 32}));
}

// Causal tiles read 1 + 2 + 3 + 4 blocks of the four.
TEST(AttentionKeys, AreReadLessOftenWhereCausal) {
  EXPECT_EQ(AttentionTiles(causal_of(512), 128, 128).key_stream("V", 132, kL2), (traces::MemoryStream{"V", false, 2, 5}));
}

// One query tile a head: 132 heads run at a time, of 2 x 4096 x 128 x 2 bytes each, 277 MB.
TEST(AttentionKeys, ComeFromDramEveryTimeWhereTheHeadsThatRunDoNotFitL2) {
  configs::AttentionShape shape = shape_of(256, 128, 128);
  shape.set_keys(4096);
  EXPECT_EQ(AttentionTiles(shape, 128, 128).key_stream("K", 132, kL2), (traces::MemoryStream{"K", false, 1, 1}));
}

TEST(AttentionShape, IsDescribedWithItsDefaults) {
  configs::AttentionShape shape = causal_of(512);
  shape.set_dropout(configs::FUSED_PHILOX);
  EXPECT_EQ(
      describe(shape),
      "batch=1 heads=1 kv_heads=1 queries=512 keys=512 head_dim=64 BF16 causal dropout=FUSED_PHILOX rounds=7 threshold_bits=8");
}

}  // namespace
}  // namespace warpfold::workloads
