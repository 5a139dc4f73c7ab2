// FlashAttention-3 for few queries: packed heads, split keys, pages, and the kernel that adds the parts up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/flash_attention_3.h"
#include "workloads/common/key_splits.h"

namespace warpfold::workloads {
namespace {

using testing::HasSubstr;

configs::FlashAttention3 decode(uint64_t batch, uint64_t kv_heads, uint64_t keys, uint32_t splits) {
  configs::FlashAttention3 one = attention(batch, 64, 1, 128);
  one.mutable_shape()->set_kv_heads(kv_heads);
  one.mutable_shape()->set_keys(keys);
  one.set_splits(splits);
  return one;
}

SplitQuestion question(uint64_t tiles, uint64_t sms, uint64_t key_blocks) {
  return {.tiles = tiles, .sms = sms, .key_blocks = key_blocks, .query_tiles = 1, .kv_head_bytes = 1 << 20};
}

// The example of the library's own comment: 48 tiles on 108 SMs fill 0.89 of them in two parts, 0.67 in three.
TEST(Splits, AreTheFewestThatFillTheSms) {
  EXPECT_EQ(splits_by_rule(question(48, 108, 64)), 2);
  EXPECT_EQ(splits_by_rule(question(1, 132, 1000)), 109);  // of at most 128 parts the first with 0.85 of 128
  EXPECT_EQ(splits_by_rule(question(8, 132, 64)), 15);     // 120 of 132; 16 fill 128
  EXPECT_EQ(splits_by_rule(question(8, 132, 10)), 9);      // 72 SMs; ten blocks allow 80
}

TEST(Splits, AreNoneWhereTilesFillTheSmsOrKeysAreFew) {
  EXPECT_EQ(splits_by_rule(question(106, 132, 64)), 1);
  EXPECT_EQ(splits_by_rule(question(105, 132, 64)), 5);  // 3.98 of 4 waves
  EXPECT_EQ(splits_by_rule(question(8, 132, 4)), 1);
}

TEST(Splits, CutAKvHeadThatOutgrowsL2IfItIsWalkedTwice) {
  SplitQuestion large{.tiles = 264, .sms = 132, .key_blocks = 2000, .query_tiles = 264, .kv_head_bytes = 120ULL << 20};
  EXPECT_EQ(splits_by_rule(large), 3);
  large.causal = true;
  EXPECT_EQ(splits_by_rule(large), 1);
  large.causal = false;
  large.query_tiles = 263;
  EXPECT_EQ(splits_by_rule(large), 1);
}

// 2 sequences x 8 KV heads: 16 tiles of the 8 heads that share keys, 47 blocks of 176 keys in 7 parts of 6 and one of 5.
TEST(FlashAttention3Decode, PartsOfATileAreCtasOfTheirOwn) {
  const traces::Kernel kernel = make(decode(2, 8, 8192, 0));
  EXPECT_THAT(kernel.source, HasSubstr("pack_gqa splits=8"));
  EXPECT_EQ(kernel.ctas(), 16 * 8);
  uint64_t blocks = 0;
  const std::vector<uint64_t> ctas = ctas_by_class(kernel);
  for (size_t i = 0; i < ctas.size(); ++i) {
    EXPECT_EQ(kernel.cta_classes[i].values[0], 1);  // one tile
    EXPECT_EQ(kernel.cta_classes[i].values[1], 0);  // none masked
    blocks += ctas[i] * (1 + kernel.cta_classes[i].values[3]);
  }
  EXPECT_EQ(blocks, 16 * 47);
  EXPECT_EQ(kernel.cluster_ctas, 1);
  const auto bytes = bytes_by_stream(kernel);
  EXPECT_EQ(bytes.at("K"), 16ULL * 47 * 176 * 128 * 2);
  EXPECT_EQ(bytes.at("Q"), 16ULL * 8 * 8 * 128 * 2);  // eight rows a tile, for each part
  EXPECT_EQ(bytes.at("O"), 16ULL * 8 * 8 * 128 * 4);  // FP32
  EXPECT_EQ(issued(kernel, "UTMASTG"), 0);
}

TEST(FlashAttention3Decode, HeadsArePackedWhereTilesFillBetter) {
  configs::FlashAttention3 few = attention(16, 64, 1, 128);
  few.mutable_shape()->set_kv_heads(8);
  few.mutable_shape()->set_keys(8192);
  EXPECT_EQ(make(few).flops, 4ULL * 16 * 64 * 8192 * 128);
  EXPECT_EQ(bytes_by_stream(make(few)).at("K"), 16ULL * 8 * 47 * 176 * 128 * 2);
  few.set_pack_gqa(false);
  EXPECT_EQ(bytes_by_stream(make(few)).at("K"), 16ULL * 64 * 47 * 176 * 128 * 2);
  few.clear_pack_gqa();
  few.mutable_shape()->set_queries(128);  // whole tiles
  EXPECT_EQ(make(few), [&] {
    few.set_pack_gqa(false);
    return make(few);
  }());
}

// 4 warps, a quarter of a block each; 128 keys in a block.
TEST(FlashAttention3Decode, PagesAreCopiedByFourWarps) {
  configs::FlashAttention3 paged = decode(16, 8, 4096, 1);
  paged.set_page_keys(16);
  const traces::Kernel kernel = make(paged);
  EXPECT_EQ(role(kernel, "producer").warps, 4);
  EXPECT_EQ(kernel.warps_per_cta(), 12);
  const uint64_t keys = 16ULL * 8 * 4096 * 128 * 2;
  EXPECT_EQ(bytes_by_stream(kernel).at("K"), keys);
  EXPECT_EQ(bytes_by_stream(kernel).at("V"), keys);
  EXPECT_EQ(issued(kernel, "LDGSTS"), 2 * keys / 512);
  EXPECT_EQ(issued(kernel, "LDG.E.CONSTANT"), 16 * 8 * 32 * 4);  // a look-up for each block and warp
  // Whole blocks of a page by TMA, once tiles are full.
  paged.set_page_keys(352);
  paged.mutable_shape()->set_queries(64);
  EXPECT_EQ(role(make(paged), "producer").warps, 1);
}

// 512 queries behind 1536 keys: the first tile sees 1536 + 128 of them, the last all 2048.
TEST(FlashAttention3Decode, PrefillBehindACacheSeesTheKeysBeforeIt) {
  configs::FlashAttention3 chunk = causal(1, 8, 512, 128);
  chunk.mutable_shape()->set_keys(2048);
  const traces::Kernel kernel = make(chunk);
  EXPECT_EQ(bytes_by_stream(kernel).at("K"), 8ULL * (13 + 14 + 15 + 16) * 128 * 128 * 2);
  EXPECT_EQ(kernel.flops, 4ULL * 8 * 128 * (512 * 2048 - 512 * 511 / 2));
  // Packed, the rows of a tile are 16 queries of eight heads: of the 32 tiles four see the same blocks.
  chunk.mutable_shape()->set_kv_heads(1);
  chunk.set_pack_gqa(true);
  const traces::Kernel packed = make(chunk);
  EXPECT_EQ(bytes_by_stream(packed).at("K"), 8ULL * (13 + 14 + 15 + 16) * 128 * 128 * 2);
  EXPECT_EQ(packed.flops, kernel.flops);
  // Split, only the last part is masked.
  chunk.set_splits(4);
  const traces::Kernel split = make(chunk);
  EXPECT_EQ(bytes_by_stream(split).at("K"), bytes_by_stream(packed).at("K"));
  uint64_t masked = 0;
  const std::vector<uint64_t> ctas = ctas_by_class(split);
  for (size_t i = 0; i < ctas.size(); ++i) masked += split.cta_classes[i].values[1] > 0 ? ctas[i] : 0;
  EXPECT_LE(masked, 32);
  EXPECT_GT(masked, 0);
}

// 2 x 64 rows of 128 columns in 8 parts of FP32.
TEST(FlashAttention3Decode, TheSecondKernelAddsThePartsUp) {
  configs::FlashAttention3 both = decode(2, 8, 8192, 0);
  both.set_combine(true);
  const traces::Kernel kernel = make(both);
  EXPECT_EQ(kernel.ctas(), 2 * 64 / 8);
  const auto bytes = bytes_by_stream(kernel);
  EXPECT_EQ(bytes.at("O_parts"), 2ULL * 64 * 8 * 128 * 4);
  EXPECT_EQ(bytes.at("O"), 2ULL * 64 * 128 * 2);
  EXPECT_EQ(bytes.at("LSE_parts"), 2ULL * 64 * 8 * 4);
  EXPECT_EQ(issued(kernel, "FFMA.FTZ"), 16 * 8 * (8 * 4 + 1));
  EXPECT_EQ(kernel.streams[0].dram_numerator, 0);  // 0.5 MB written by the kernel before
}

TEST(FlashAttention3Decode, NothingIsAddedUpWhereTheRuleTakesOnePart) {
  configs::FlashAttention3 one = decode(16, 8, 8192, 0);
  one.set_combine(true);
  EXPECT_EQ(make(one).ctas(), 1);
  one.set_splits(1);
  EXPECT_THAT(make_flash_attention_3(one, gpu("h100_sxm")).error().message, HasSubstr("of which there is one"));
}

TEST(FlashAttention3Decode, RefusesWhatHasNoKernel) {
  const auto error_of = [](const configs::FlashAttention3& each) {
    const auto made = make_flash_attention_3(each, gpu("h100_sxm"));
    return made ? std::string() : made.error().message;
  };
  configs::FlashAttention3 dropping = decode(1, 8, 8192, 4);
  dropping.mutable_shape()->set_dropout(configs::STORED_BITS);
  EXPECT_THAT(error_of(dropping), HasSubstr("without dropout only"));
  configs::FlashAttention3 eight = decode(1, 8, 8192, 1);
  eight.mutable_shape()->set_type(configs::FP8);
  eight.set_page_keys(16);
  EXPECT_THAT(error_of(eight), HasSubstr("no kernel for FP8"));
  configs::FlashAttention3 queue = decode(1, 8, 8192, 4);
  queue.mutable_shape()->set_causal(true);
  queue.set_longest_first(true);
  EXPECT_THAT(error_of(queue), HasSubstr("with splits each CTA has one tile"));
}

}  // namespace
}  // namespace warpfold::workloads
