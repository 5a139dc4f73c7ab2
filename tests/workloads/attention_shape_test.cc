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

KeyReaders on_h100() { return {.concurrent = 132, .l2_bytes = 50ULL << 20}; }

// Bytes of K from DRAM over the whole launch.
double dram_bytes(const AttentionTiles& tiles, const KeyReaders& readers, uint32_t tile_keys) {
  const traces::MemoryStream stream = tiles.key_stream("K", readers);
  const uint64_t blocks = tiles.batch() * tiles.heads() * tiles.key_blocks();
  return static_cast<double>(blocks * tile_keys * tiles.head_dim() * tiles.element_bytes()) *
         static_cast<double>(stream.dram_numerator) / static_cast<double>(stream.dram_denominator);
}

// A decode step: 16 sequences of 8192 keys, 64 heads.
configs::AttentionShape decode(uint64_t kv_heads, uint64_t queries = 1) {
  configs::AttentionShape shape = shape_of(64, queries, 128);
  shape.set_batch(16);
  shape.set_kv_heads(kv_heads);
  shape.set_keys(8192);
  return shape;
}

// 8 tiles of 128 queries read the same keys: an eighth comes from DRAM.
TEST(AttentionKeys, ComeFromDramOnce) {
  EXPECT_EQ(AttentionTiles(shape_of(16, 1024, 128), 128, 128).key_stream("K", on_h100()),
            (traces::MemoryStream{"K", false, 1, 8, 16 * 1024 * 128 * 2}));
}

// Four heads share a head of keys and values: 32 tiles read it.
TEST(AttentionKeys, ServeAllHeadsOfTheirGroup) {
  configs::AttentionShape shape = shape_of(16, 1024, 128);
  shape.set_kv_heads(4);
  EXPECT_EQ(AttentionTiles(shape, 128, 128).key_stream("K", on_h100()),
            (traces::MemoryStream{"K", false, 1, 32, 4 * 1024 * 128 * 2}));
}

// Causal tiles read 1 + 2 + 3 + 4 blocks of the four.
TEST(AttentionKeys, AreReadLessOftenWhereCausal) {
  EXPECT_EQ(AttentionTiles(causal_of(512), 128, 128).key_stream("V", on_h100()),
            (traces::MemoryStream{"V", false, 2, 5, 512 * 64 * 2}));
}

// One query tile a head: 132 heads run at a time, of 2 x 4096 x 128 x 2 bytes each, 277 MB.
TEST(AttentionKeys, ComeFromDramEveryTimeWhereTheHeadsThatRunDoNotFitL2) {
  configs::AttentionShape shape = shape_of(256, 128, 128);
  shape.set_keys(4096);
  EXPECT_EQ(AttentionTiles(shape, 128, 128).key_stream("K", on_h100()),
            (traces::MemoryStream{"K", false, 1, 1, 256 * 4096 * 128 * 2}));
}

// The heads of a group run together and read the same keys, which therefore come once. If the end of a wave splits a group, the
// next wave reads the group's keys again.
TEST(AttentionKeys, OfADecodeStepComeOnceForAllHeadsThatShareThem) {
  for (const uint64_t kv_heads : {1, 2, 4, 8, 16, 32, 64}) {
    const double data = 16.0 * static_cast<double>(kv_heads) * 8192 * 128 * 2;
    const double moved = dram_bytes(AttentionTiles(decode(kv_heads), 128, 176), on_h100(), 176);
    EXPECT_GE(moved, data) << kv_heads;
    EXPECT_LE(moved, 1.05 * data) << kv_heads;
  }
}

TEST(AttentionKeys, GrowWithHeadsAndQueries) {
  double before = 0;
  for (const uint64_t kv_heads : {1, 2, 4, 8, 16, 32, 64}) {
    const double moved = dram_bytes(AttentionTiles(decode(kv_heads), 128, 176), on_h100(), 176);
    EXPECT_GT(moved, before) << kv_heads;
    before = moved;
  }
  // More tiles of a head: more waves that cut it.
  const double data = 16.0 * 8 * 8192 * 128 * 2;
  for (const uint64_t queries : {1, 64, 128, 256, 512, 1024, 4096}) {
    const double moved = dram_bytes(AttentionTiles(decode(8, queries), 128, 176), on_h100(), 176);
    EXPECT_GE(moved, data) << queries;
    EXPECT_LE(moved, 1.5 * data) << queries;
  }
}

// Two waves walk the same keys: the second one finds them in L2, half of them, or none.
TEST(AttentionKeys, LeaveL2ByDegrees) {
  configs::AttentionShape shape = shape_of(2, 132 * 128, 128);
  shape.set_kv_heads(1);
  const auto again = [&](uint64_t keys) {  // of a KV head of 512 bytes a key
    shape.set_keys(keys);
    return dram_bytes(AttentionTiles(shape, 128, 128), on_h100(), 128) / (static_cast<double>(keys) * 128 * 2) - 1;
  };
  // Besides keys a wave moves 9 MB of queries and outputs through the 52 MB of L2.
  EXPECT_NEAR(again(25600), 0, 0.01);
  EXPECT_NEAR(again(64000), 0.2, 0.1);
  EXPECT_NEAR(again(85504), 0.5, 0.1);
  EXPECT_NEAR(again(115200), 0.9, 0.1);
  EXPECT_NEAR(again(204800), 1, 0.01);
}

// FlashAttention-2 hands out the same head of all sequences first: the heads of a group are as many tiles apart.
TEST(AttentionKeys, OfHeadsThatRunFarApartComeAgain) {
  KeyReaders readers = on_h100();
  readers.order = KeyReaders::Order::kBatchByBatch;
  configs::AttentionShape shape = decode(8);
  shape.set_batch(132);
  const AttentionTiles tiles(shape, 128, 128);
  const double data = 132.0 * 8 * 8192 * 128 * 2;
  EXPECT_LT(dram_bytes(tiles, on_h100(), 128), 1.1 * data);
  EXPECT_GT(dram_bytes(tiles, readers, 128), 7 * data);
}

TEST(KeyReuse, SharesAReadAmongTilesOfOneStep) {
  const KeyWalks walks{.tiles = std::vector<KeyWalk>(4, KeyWalk{0, 0, 10}), .concurrent = 4, .piece_bytes = 1 << 20, .l2_bytes = 1};
  const KeyReuse reuse = key_reuse(walks);
  EXPECT_EQ(reuse.requested, 40);
  EXPECT_EQ(reuse.distinct, 10);
  EXPECT_EQ(reuse.read_again, 0);
}

TEST(KeyReuse, ReadsAgainWhatTheTilesBetweenHavePushedOut) {
  // One tile at a time: the second one walks the ten pieces of the first.
  KeyWalks walks{.tiles = std::vector<KeyWalk>(2, KeyWalk{0, 0, 10}), .concurrent = 1, .piece_bytes = 1 << 20};
  walks.l2_bytes = 100 << 20;
  EXPECT_LT(key_reuse(walks).read_again, 0.001);
  walks.l2_bytes = 1 << 20;
  EXPECT_GT(key_reuse(walks).read_again, 9.9);
}

// 16 ways: of the lines used a whole L2 ago, half are gone; a quarter ago nearly none, two ago nearly all.
TEST(KeyReuse, ForgetsByTheReuseDistance) {
  EXPECT_NEAR(probability_of_miss(1 << 20, 1 << 20), 0.53, 0.01);
  EXPECT_LT(probability_of_miss(1 << 18, 1 << 20), 1e-4);
  EXPECT_GT(probability_of_miss(1 << 21, 1 << 20), 0.999);
  EXPECT_EQ(probability_of_miss(0, 1 << 20), 0);
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
