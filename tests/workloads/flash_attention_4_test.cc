// The structure of FlashAttention-4's forward kernel, compared with counts from the shape and the source.
#include "workloads/flash_attention_4/flash_attention_4.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workloads/kernels.h"
#include "workloads/common/program.h"

namespace warpfold::workloads {
namespace {

configs::FlashAttention4 attention(uint64_t batch, uint64_t heads, uint64_t queries, uint32_t head_dim, bool causal = false) {
  configs::FlashAttention4 all;
  configs::AttentionShape& shape = *all.mutable_shape();
  shape.set_batch(batch);
  shape.set_heads(heads);
  shape.set_queries(queries);
  shape.set_head_dim(head_dim);
  shape.set_type(configs::BF16);
  shape.set_causal(causal);
  return all;
}

traces::Kernel make(const configs::FlashAttention4& all, const std::string& on = "b200") {
  return make_flash_attention_4(all, gpu(on)).value();
}

// Of one warp of a role, by opcode, in all CTAs; products by FLOP where asked.
uint64_t issued(const traces::Kernel& kernel, const std::string& role, const std::string& opcode) {
  uint64_t count = 0;
  for (const traces::Role& each : kernel.roles) {
    if (each.name != role) continue;
    for (const traces::CtaRun& run : kernel.grid) {
      for_each_instruction(each.body, kernel.cta_classes[run.cta_class], run.count,
                           [&](const isa::Instruction& instruction, uint64_t times) {
                             if (instruction.mnemonic.starts_with(opcode)) count += times;
                           });
    }
  }
  return count;
}

uint64_t tensor_flops(const traces::Kernel& kernel) {
  uint64_t flops = 0;
  for (const traces::CtaRun& run : kernel.grid) {
    for_each_instruction(kernel.roles[3].body, kernel.cta_classes[run.cta_class], run.count,
                         [&](const isa::Instruction& instruction, uint64_t times) {
                           flops += times * 2 * 16 * instruction.effect.rows * instruction.effect.columns;
                         });
  }
  return flops;
}

TEST(FlashAttention4, MultipliesWhatTheShapeSays) {
  for (const auto& all : {attention(4, 16, 4096, 128), attention(8, 32, 2048, 64)}) {
    const traces::Kernel kernel = make(all);
    EXPECT_EQ(tensor_flops(kernel), kernel.flops);
  }
  // Of causal tiles the two blocks at the diagonal are multiplied whole: 2 + 4 + ... + 16 of 8 x 16.
  const traces::Kernel causal = make(attention(2, 16, 2048, 128, true));
  EXPECT_EQ(tensor_flops(causal), causal.flops * 2 * 72 / 128);
}

// A thread a row: 128 exponentials per block, 24 or 16 fewer with the polynomial, and one for the factor by which earlier results
// shrink.
TEST(FlashAttention4, EmulatesTheLibrarysShareOfExponentials) {
  const auto of_block = [](const configs::FlashAttention4& all, const std::string& on) {
    const traces::Kernel kernel = make(all, on);
    const uint64_t blocks = 64 * 8 * 16;  // heads, tiles, blocks of keys
    const uint64_t behind_first = 64 * 8 * 15;
    return (issued(kernel, "softmax0", "MUFU.EX2") - behind_first) / blocks;
  };
  configs::FlashAttention4 all = attention(4, 16, 2048, 128);
  EXPECT_EQ(of_block(all, "b200"), 128 - 24);
  EXPECT_EQ(of_block(all, "b300"), 128);
  all.set_two_ctas(false);
  EXPECT_EQ(of_block(all, "b200"), 128 - 16);
  all.set_emulated_exponential_share(0.75);
  EXPECT_EQ(of_block(all, "b200"), 128 - 96);
  all.set_emulated_exponential_share(0);
  EXPECT_EQ(of_block(all, "b200"), 128);
}

// Loads that return their largest score save the comparisons: 63 per row and block after the first, of three numbers each.
TEST(FlashAttention4, TakesTheMaximumOfLoadsOnSm103) {
  configs::FlashAttention4 all = attention(4, 16, 2048, 128);
  const auto loads = [&](const std::string& on) { return issued(make(all, on), "softmax0", "LDTM.STAT"); };
  const auto comparisons = [&](const std::string& on) { return issued(make(all, on), "softmax0", "FMNMX"); };
  const uint64_t behind_first = 64 * 8 * 15;
  EXPECT_EQ(loads("b200"), 0);
  EXPECT_EQ(loads("b300"), 4 * behind_first);
  const uint64_t fewest = comparisons("b300");
  all.set_maximum_of_load(false);
  EXPECT_EQ(loads("b300"), 0);
  EXPECT_GT(comparisons("b300"), fewest + 60 * behind_first);
}

// O is read, multiplied and written 16 columns at a time at so many of the fifteen blocks behind a tile's first, and read once
// more.
TEST(FlashAttention4, RescalesTheShareThatIsNotSkipped) {
  for (const auto& [share, rescaled] : {std::pair{0.0, 0U}, std::pair{0.1, 2U}, std::pair{0.5, 8U}, std::pair{1.0, 15U}}) {
    configs::FlashAttention4 all = attention(4, 16, 2048, 128);
    all.set_rescale_share(share);
    const traces::Kernel kernel = make(all);
    const uint64_t tiles = 64 * 16;  // of 128 queries
    EXPECT_EQ(issued(kernel, "correction", "STTM"), tiles * 8 * rescaled) << share;
    EXPECT_EQ(issued(kernel, "correction", "LDTM"), tiles * 8 * (rescaled + 1)) << share;
  }
}

TEST(FlashAttention4, APairReadsHalfOfEachBlock) {
  configs::FlashAttention4 all = attention(4, 16, 2048, 128);
  const traces::Kernel pair = make(all);
  all.set_two_ctas(false);
  const traces::Kernel single = make(all);
  EXPECT_EQ(pair.cluster_ctas, 2);
  EXPECT_EQ(single.cluster_ctas, 1);
  EXPECT_EQ(pair.rings[0].depth, 6);  // half a block a stage
  EXPECT_EQ(single.rings[0].depth, 3);
  EXPECT_EQ(issued(pair, "load", "UTMALDG"), issued(single, "load", "UTMALDG"));
  EXPECT_GT(issued(pair, "multiply", "UTCHMMA.2CTA"), 0);
  EXPECT_EQ(pair.flops, single.flops);
}

// A CTA for each causal tile, those with the most blocks first.
TEST(FlashAttention4, CausalTilesComeLongestFirst) {
  configs::FlashAttention4 all = attention(1, 4, 1024, 128, true);
  const traces::Kernel kernel = make(all);
  ASSERT_EQ(kernel.grid.size(), 4);
  EXPECT_EQ(kernel.cta_classes[kernel.grid.front().cta_class].name, "blocks8");
  EXPECT_EQ(kernel.grid.front().count, 4);
  EXPECT_EQ(kernel.cta_classes[kernel.grid.back().cta_class].name, "blocks2");
  all.set_longest_first(false);
  const traces::Kernel in_order = make(all);
  EXPECT_EQ(in_order.cta_classes[in_order.grid.front().cta_class].name, "blocks2");
  EXPECT_EQ(in_order.ctas(), 16);
}

TEST(FlashAttention4, HeadsThatShareKeysAreRowsOfOneTile) {
  configs::FlashAttention4 all = attention(1, 32, 1024, 128, true);
  all.mutable_shape()->set_kv_heads(8);
  EXPECT_EQ(make(all).ctas(), 8 * 4 * 1024 / 256);
}

TEST(FlashAttention4, TakesWhatTheLibraryTakesOfAnSm) {
  const traces::Kernel kernel = make(attention(4, 16, 2048, 128));
  EXPECT_EQ(kernel.warps_per_cta(), 16);
  EXPECT_EQ(kernel.tensor_memory_columns, 512);
  EXPECT_LE(kernel.shared_memory_bytes, gpu("b200").sm().shared_memory().bytes_per_cta_max());
  EXPECT_LE(registers_named({kernel.roles[0], kernel.roles[1]}), 176);
  EXPECT_LE(registers_named({kernel.roles[2]}), 64);
}

// Two multiplications a round: with 32 bits an element a call of 14 for four scores, with 8 as counted, 43 for four calls of 16.
// The numbers stand in the softmax warps, whose registers hold them.
TEST(FlashAttention4, DrawsARowsRandomNumbersInItsSoftmaxWarps) {
  configs::FlashAttention4 all = attention(4, 16, 2048, 128);
  const uint64_t blocks = 64 * 8 * 16;  // heads, tiles, blocks of keys
  const auto with = [&](uint32_t bits) {
    all.mutable_shape()->set_dropout(configs::FUSED_PHILOX);
    all.mutable_shape()->set_threshold_bits(bits);
    return make(all);
  };
  const traces::Kernel wide = with(32);
  EXPECT_EQ(issued(wide, "softmax0", "IMAD.WIDE.U32"), blocks * 32 * 14);
  EXPECT_EQ(issued(wide, "softmax1", "FSEL"), issued(make(attention(4, 16, 2048, 128)), "softmax1", "FSEL") + blocks * 128);
  const traces::Kernel narrow = with(8);
  EXPECT_EQ(issued(narrow, "softmax0", "IMAD.WIDE.U32"), blocks * 2 * 43);
  EXPECT_EQ(issued(narrow, "softmax0", "HSET2"), blocks * 2 * 32);
  for (const traces::Kernel* kernel : {&wide, &narrow}) {
    for (const std::string role : {"correction", "multiply", "load", "epilogue"}) EXPECT_EQ(issued(*kernel, role, "IMAD.WIDE"), 0);
    EXPECT_LE(registers_named({kernel->roles[0], kernel->roles[1]}), 192);
    EXPECT_EQ(kernel->streams.size(), 5);
  }
}

// 128 bits a row and block: 512 bytes a warp.
TEST(FlashAttention4, ReadsStoredBits) {
  configs::FlashAttention4 all = attention(4, 16, 2048, 128);
  all.mutable_shape()->set_dropout(configs::STORED_BITS);
  const traces::Kernel kernel = make(all);
  EXPECT_EQ(bytes_by_stream(kernel).at("mask"), uint64_t{4} * 16 * 2048 * 2048 / 8);
  EXPECT_EQ(issued(kernel, "softmax0", "IMAD.WIDE"), 0);
}

TEST(FlashAttention4, SaysWhatItCannotDo) {
  const auto error = [](const configs::FlashAttention4& all, const std::string& on) {
    return make_flash_attention_4(all, gpu(on)).error().message;
  };
  EXPECT_EQ(error(attention(1, 1, 512, 128), "h100_sxm"),
            "flash_attention_4 needs a GPU of architecture sm_100 or sm_103, this one is sm_90");
  configs::FlashAttention4 causal = attention(1, 1, 512, 128, true);
  causal.set_two_ctas(true);
  EXPECT_EQ(error(causal, "b200"),
            "flash_attention_4: two_ctas is a kernel of head_dim 128 without causal mask and with more than 256 queries");
  configs::FlashAttention4 dense = attention(1, 1, 512, 128);
  dense.set_longest_first(true);
  EXPECT_EQ(error(dense, "b200"),
            "flash_attention_4: longest_first is an order of causal tiles; without causal all tiles are of one length");
  configs::FlashAttention4 maxima = attention(1, 1, 512, 128);
  maxima.set_maximum_of_load(true);
  EXPECT_EQ(error(maxima, "b200"), "flash_attention_4: maximum_of_load is an instruction of sm_103, this GPU is sm_100");
  causal = attention(1, 1, 1024, 128, true);
  causal.mutable_shape()->set_keys(512);
  EXPECT_EQ(error(causal, "b200"),
            "flash_attention_4: causal with 512 keys for 1024 queries leaves a tile of queries without keys");
}

}  // namespace
}  // namespace warpfold::workloads
