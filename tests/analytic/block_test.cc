// The transformer block: its operations, checked by hand, and the shapes that it refuses.

#include "sim/analytic/block.h"

#include <gmock/gmock.h>

#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

// One SM, 64 bytes a cycle from L2, 32 from DRAM.
configs::Gpu hopper_sm() {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.mutable_l2()->set_read_bytes_per_clk(64);
  gpu.set_clock_mhz(1000);
  gpu.mutable_dram()->set_bandwidth_gb_per_s(32);
  gpu.mutable_dram()->set_efficiency_percent(100);
  return gpu;
}

sim::Block block(const sim::BlockShape& shape, const sim::BlockMachine& machine = {}) {
  return sim::make_block(hopper_sm(), shape, machine).value();
}

const sim::BlockShape kSmall{.sequence = 256, .embedding = 512};

TEST(Block, GemmsMultiplyAtTheTensorRateAndReadTheirInputsOnce) {
  const sim::Block one = block(kSmall);
  // Sequence x embedding x outputs at 4096 FP8 multiply-adds a cycle.
  EXPECT_EQ(one.gemms[0].cycles_of("mma"), 256.0 * 512 * 1536 / 4096);
  EXPECT_EQ(one.gemms[3].cycles_of("mma"), 256.0 * 2048 * 512 / 4096);
  EXPECT_EQ(one.gemms[0].cycles_of("hbm_read"), (256.0 * 512 + 1536.0 * 512) / 32);
  // A for each of 12 column tiles, B for each of 2 row tiles, clusters of two by two.
  EXPECT_EQ(one.gemms[0].cycles_of("l2_read"), 512.0 * (256 * 12 + 1536 * 2) / 2 / 64);
}

TEST(Block, AttentionIsCountedByBlocksOf64QueriesAnd128Keys) {
  const sim::Block one = block(kSmall);
  const double blocks = 4 * (256 / 64.0) * (256 / 128.0);  // of four heads, a warp on each sub-core
  EXPECT_EQ(one.attention.cycles_of("issue"), blocks * 470);
  EXPECT_EQ(one.attention.cycles_of("mufu"), blocks * 66 * 8);
  EXPECT_EQ(one.attention.cycles_of("register_read"), blocks * 788 / 2);
  EXPECT_EQ(one.attention.cycles_of("mma"), blocks * 2 * 64 * 128 * 128 / 4096);
  EXPECT_GT(one.dropping_attention.cycles_of("hbm_read"), one.attention.cycles_of("hbm_read"));
}

TEST(Block, FlashAttention2ReadsItsOperandsFromRegisters) {
  const sim::Block one = block(kSmall, {.attention = sim::AttentionCode::kFlashAttention2});
  const double blocks = 4 * (256 / 64.0) * (256 / 128.0);
  EXPECT_EQ(one.attention.cycles_of("register_read"), blocks * 3595 / 2);
  EXPECT_EQ(one.dropping_attention.cycles_of("issue"), blocks * 998);
  EXPECT_EQ(one.rng.cycles(), block(kSmall).rng.cycles());
}

TEST(Block, RandomNumbersTakeACallForFourElementsOfAThread) {
  const double calls = 4 * 256.0 * 256 / 128 / 4;  // of a sub-core's warps
  EXPECT_EQ(block(kSmall).rng.cycles_of("issue"), calls * 44.125);
  EXPECT_EQ(block(kSmall).rng.cycles_of("fma_heavy"), calls * (5.25 * 2 + 14 * 4));
  EXPECT_EQ(block(kSmall, {.wide_multiply_cycles = 2}).rng.cycles_of("fma_heavy"), calls * (5.25 * 2 + 14 * 2));
}

TEST(Block, FusedAttentionDoesBothWithoutReadingBits) {
  const sim::Block one = block(kSmall);
  EXPECT_DOUBLE_EQ(one.fused_attention.cycles_of("issue"), one.dropping_attention.cycles_of("issue") + one.rng.cycles_of("issue"));
  EXPECT_EQ(one.fused_attention.cycles_of("hbm_read"), one.attention.cycles_of("hbm_read"));
}

TEST(Block, ScalesAsThePaperSays) {
  const sim::ChainTimes one = block(kSmall).times();
  const sim::ChainTimes longer = block({.sequence = 512, .embedding = 512}).times();
  EXPECT_DOUBLE_EQ(longer.rng, 4 * one.rng);
  EXPECT_DOUBLE_EQ(longer.attention, 4 * one.attention);
  const sim::Block wide = block({.sequence = 256, .embedding = 1024});
  EXPECT_DOUBLE_EQ(wide.gemms[0].cycles_of("mma"), 4 * block(kSmall).gemms[0].cycles_of("mma"));
  EXPECT_DOUBLE_EQ(wide.times().rng, 2 * one.rng);
}

TEST(Block, MayHaveOneGemmBesideTheRandomNumbers) {
  const sim::Block one = block(kSmall);
  const sim::ChainTimes qkv = one.times(0);
  EXPECT_EQ(qkv.gemm, one.gemms[0].cycles());
  EXPECT_DOUBLE_EQ(qkv.gemm + qkv.others, one.times().gemm);
}

TEST(Block, TwiceTheTensorThroughputTouchesNothingElse) {
  const sim::Block one = block(kSmall);
  configs::Gpu fast = hopper_sm();
  fast.mutable_sm()->mutable_tensor()->set_scale(2);
  const sim::Block twice = sim::make_block(fast, kSmall).value();
  EXPECT_EQ(twice.gemms[0].cycles_of("mma"), one.gemms[0].cycles_of("mma") / 2);
  EXPECT_EQ(twice.gemms[0].cycles_of("l2_read"), one.gemms[0].cycles_of("l2_read"));
  EXPECT_EQ(twice.rng.cycles(), one.rng.cycles());
}

std::string refusal(const sim::BlockShape& shape) {
  const auto refused = sim::make_block(hopper_sm(), shape);
  return refused ? "" : refused.error().text();
}

TEST(Block, RefusesWhatWasNotCounted) {
  EXPECT_EQ(refusal({.head_dim = 64}), "the block's attention was counted for head_dim 128, not 64");
  EXPECT_EQ(refusal({.rounds = 6}), "Philox was counted with 3, 5, 7 and 10 rounds, not 6");
  EXPECT_EQ(refusal({.sequence = 100}), "the block's sequence and embedding must be multiples of 128, its tiles, not 100 and 8192");
  EXPECT_EQ(refusal({.batch = 0}), "the block's sequence, embedding and batch must be at least 1");
  const auto ampere = sim::make_block(one_sm("a100_sxm"), {});
  ASSERT_FALSE(ampere.has_value());
  EXPECT_THAT(ampere.error().text(), testing::HasSubstr("was counted in code for sm_90"));
}

}  // namespace
}  // namespace warpfold::test
