// FlashAttention-2's kernel for split keys and pages, and the tile whose warps share keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/kernels.h"
#include "workloads/flash_attention_2/flash_attention_2.h"

namespace warpfold::workloads {
namespace {

using testing::HasSubstr;

configs::FlashAttention2 decode(uint64_t batch, uint64_t keys) {
  configs::FlashAttention2 attention;
  configs::AttentionShape& shape = *attention.mutable_shape();
  shape.set_batch(batch);
  shape.set_heads(64);
  shape.set_kv_heads(8);
  shape.set_queries(1);
  shape.set_keys(keys);
  shape.set_head_dim(128);
  shape.set_type(configs::FP16);
  attention.set_splits(0);
  return attention;
}

traces::Kernel make(const configs::FlashAttention2& attention, const std::string& name = "a100_sxm") {
  return make_flash_attention_2(attention, gpu(name)).value();
}

// 64 x 8 tiles are more than two on each of 108 SMs: one part. Eight rows a tile.
TEST(FlashAttention2Decode, ManyTilesAreNotSplit) {
  const traces::Kernel kernel = make(decode(64, 512));
  EXPECT_THAT(kernel.source, HasSubstr("tile=64x128 warps=4 pack_gqa"));
  EXPECT_EQ(kernel.ctas(), 64 * 8);
  const auto bytes = bytes_by_stream(kernel);
  EXPECT_EQ(bytes.at("K"), 64ULL * 8 * 512 * 128 * 2);
  EXPECT_EQ(bytes.at("Q"), 64ULL * 64 * 128 * 2);
  EXPECT_EQ(bytes.at("O"), 64ULL * 64 * 128 * 2);
}

// 8 tiles of 64 blocks for 216 CTAs: 22 parts of three blocks fill 176 of them, 16 of four 128, 32 of two 256 of 432. 17 to 21
// parts are no shorter than 16.
TEST(FlashAttention2Decode, FewTilesAreSplitAndAddedUp) {
  configs::FlashAttention2 one = decode(1, 8192);
  const traces::Kernel kernel = make(one);
  EXPECT_THAT(kernel.source, HasSubstr(" splits=22"));
  const uint64_t parts = kernel.ctas() / 8;
  EXPECT_EQ(parts, 22);
  uint64_t blocks = 0;
  const std::vector<uint64_t> ctas = ctas_by_class(kernel);
  for (size_t i = 0; i < ctas.size(); ++i) blocks += ctas[i] * kernel.cta_classes[i].values[0];
  EXPECT_EQ(blocks, 8 * 64);
  EXPECT_EQ(bytes_by_stream(kernel).at("O"), parts * 64 * 128 * 4);  // FP32
  one.set_combine(true);
  const traces::Kernel combine = make(one);
  EXPECT_EQ(bytes_by_stream(combine).at("O_parts"), parts * 64 * 128 * 4);
  EXPECT_EQ(bytes_by_stream(combine).at("O"), 64 * 128 * 2);
  EXPECT_EQ(combine.ctas(), 64 / 4);
}

TEST(FlashAttention2Decode, PagesAreLookedUpBeforeEachCopy) {
  configs::FlashAttention2 paged = decode(64, 512);
  const uint64_t before = issued(make(paged), "LDG.E.CONSTANT");
  paged.set_page_keys(256);
  EXPECT_EQ(before, 0);
  EXPECT_EQ(issued(make(paged), "LDG.E.CONSTANT"), 64ULL * 8 * 4 * 2 * 4);  // tiles, blocks, keys and values, warps
}

// 16 rows instead of 64: a quarter of the products. Every warp has all rows of O, which are added up.
TEST(FlashAttention2Decode, WarpsThatShareKeysMultiplyFewerRows) {
  configs::FlashAttention2 shared = decode(64, 512);
  const uint64_t rows_shared = issued(make(shared), "HMMA");
  shared.set_warps_share_keys(true);
  const traces::Kernel kernel = make(shared);
  EXPECT_EQ(4 * issued(kernel, "HMMA"), rows_shared);
  EXPECT_THAT(kernel.source, HasSubstr("tile=16x128 warps=4 pack_gqa warps_share_keys"));
  EXPECT_EQ(bytes_by_stream(kernel).at("K"), 64ULL * 8 * 512 * 128 * 2);
  EXPECT_EQ(bytes_by_stream(kernel).at("O"), 64ULL * 64 * 128 * 2);
  EXPECT_EQ(make(shared, "h100_sxm").ctas(), kernel.ctas());
}

TEST(FlashAttention2Decode, RefusesWhatHasNoKernel) {
  const auto error_of = [](const configs::FlashAttention2& each) {
    const auto made = make_flash_attention_2(each, gpu("a100_sxm"));
    return made ? std::string() : made.error().message;
  };
  configs::FlashAttention2 dropping = decode(1, 8192);
  dropping.mutable_shape()->set_dropout(configs::STORED_BITS);
  EXPECT_THAT(error_of(dropping), HasSubstr("without dropout only"));
  configs::FlashAttention2 backward = decode(1, 8192);
  backward.set_pass(configs::BACKWARD);
  EXPECT_THAT(error_of(backward), HasSubstr("belong to the forward pass"));
  configs::FlashAttention2 alone = decode(1, 8192);
  alone.set_splits(1);
  alone.set_combine(true);
  EXPECT_THAT(error_of(alone), HasSubstr("of which there is one"));
}

// POD-Attention's tile of few queries: a CTA of one warp moves as many bytes as a CTA of four.
TEST(FlashAttention2Decode, TakesAStatedTile) {
  configs::FlashAttention2 attention = decode(4, 512);
  attention.clear_splits();
  attention.mutable_shape()->set_heads(8);
  attention.mutable_shape()->set_queries(8);
  const traces::Kernel library = make(attention);
  EXPECT_THAT(library.source, HasSubstr("tile=128x64 warps=4"));
  attention.set_tile_queries(16);
  attention.set_tile_keys(32);
  attention.set_warps(1);
  const traces::Kernel stated = make(attention);
  EXPECT_THAT(stated.source, HasSubstr("tile=16x32 warps=1"));
  EXPECT_EQ(stated.warps_per_cta(), 1);
  EXPECT_EQ(stated.shared_memory_bytes, (16 + 2 * 32) * 128 * 2);
  EXPECT_EQ(bytes_by_stream(stated), bytes_by_stream(library));
  EXPECT_LT(issued(stated, "HMMA"), issued(library, "HMMA") / 4);
}

}  // namespace
}  // namespace warpfold::workloads
