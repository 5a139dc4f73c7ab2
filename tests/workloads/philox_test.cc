#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "tests/workloads/kernels.h"
#include "workloads/philox/philox.h"

namespace warpfold::workloads {
namespace {

configs::Philox mask(uint64_t heads, uint64_t sequence) {
  configs::Philox philox;
  philox.set_heads(heads);
  philox.set_queries(sequence);
  philox.set_keys(sequence);
  return philox;
}

const traces::Block& loop_body(const traces::Kernel& kernel) {
  return std::get<traces::Block>(std::get<traces::Loop>(kernel.roles.front().body[1]).body.front());
}

// Warp instructions a Philox call, as counted in the disassembly of CUDA 13.0 code before the loops were recorded (one decimal;
// counters that change in both multiplied words, one STG.32 a pass).
struct Count {
  const char* gpu;
  uint32_t rounds;
  uint32_t threshold_bits;
  double per_call;
};
const Count kCounts[] = {
    {"a100_sxm", 3, 8, 45.0},  {"a100_sxm", 5, 8, 53.0},  {"a100_sxm", 7, 8, 61.0},  {"a100_sxm", 10, 8, 73.0},
    {"a100_sxm", 3, 16, 47.5}, {"a100_sxm", 5, 16, 55.5}, {"a100_sxm", 7, 16, 63.2}, {"a100_sxm", 10, 16, 75.5},
    {"a100_sxm", 3, 32, 28.2}, {"a100_sxm", 5, 32, 36.4}, {"a100_sxm", 7, 32, 44.4}, {"a100_sxm", 10, 32, 56.4},
    {"h100_sxm", 3, 8, 45.5},  {"h100_sxm", 5, 8, 55.0},  {"h100_sxm", 7, 8, 63.0},  {"h100_sxm", 10, 8, 75.0},
    {"h100_sxm", 3, 16, 47.2}, {"h100_sxm", 5, 16, 55.2}, {"h100_sxm", 7, 16, 63.2}, {"h100_sxm", 10, 16, 75.2},
    {"h100_sxm", 3, 32, 28.1}, {"h100_sxm", 5, 32, 36.1}, {"h100_sxm", 7, 32, 44.1}, {"h100_sxm", 10, 32, 56.1},
};

TEST(Philox, LoopsHaveTheCountedInstructionsAndStoreOneBitAnElement) {
  for (const Count& count : kCounts) {
    SCOPED_TRACE(std::string(count.gpu) + " rounds " + std::to_string(count.rounds) + " bits " +
                 std::to_string(count.threshold_bits));
    configs::Philox philox = mask(64, 1024);
    philox.set_rounds(count.rounds);
    philox.set_threshold_bits(count.threshold_bits);
    const traces::Kernel kernel = make_philox(philox, gpu(count.gpu)).value();
    const uint64_t calls = count.threshold_bits / 4;  // 32 elements a pass and thread, 128 random bits a call
    EXPECT_NEAR(static_cast<double>(loop_body(kernel).code.size()) / static_cast<double>(calls), count.per_call, 0.0501);
    const uint64_t elements = 64ULL * 1024 * 1024;
    EXPECT_EQ(bytes_by_stream(kernel).at("mask"), elements / 8);
    // Two IMAD.WIDE a round; the recorded counter is hoisted nowhere.
    EXPECT_EQ(issued(kernel, "IMAD.WIDE.U32") - kernel.ctas() * 4, elements / 1024 * calls * 2 * count.rounds);
    EXPECT_LE(kernel.registers_per_thread, 32U);
    EXPECT_GE(kernel.registers_per_thread, count.threshold_bits == 8 ? 24U : 32U);
  }
}

TEST(Philox, CallsPerThreadMakesCtasThatReplaceEachOther) {
  configs::Philox philox = mask(3, 1024);  // 3 Mi elements = 3072 warp passes = 768 CTA passes
  philox.set_threshold_bits(16);
  philox.set_calls_per_thread(40);  // ten passes of four calls
  const traces::Kernel kernel = make_philox(philox, gpu("h100_sxm")).value();
  ASSERT_EQ(kernel.cta_classes.size(), 2U);
  EXPECT_EQ(kernel.ctas(), 77U);  // ceil(768 / 10): 75 CTAs of ten passes and two of nine
  EXPECT_EQ(kernel.cta_classes[0].values, std::vector<uint64_t>{10});
  EXPECT_EQ(kernel.cta_classes[1].values, std::vector<uint64_t>{9});
  EXPECT_EQ(kernel.grid[0].count, 75U);
  EXPECT_EQ(kernel.grid[1].count, 2U);
}

TEST(Philox, GridStrideLaunchFillsTheChip) {
  configs::Philox philox = mask(64, 2048);  // 65536 CTA passes
  philox.set_ctas_per_sm(4);
  const traces::Kernel kernel = make_philox(philox, gpu("h100_sxm")).value();
  EXPECT_EQ(kernel.ctas(), 4U * 132U);
  EXPECT_EQ(bytes_by_stream(kernel).at("mask"), 64ULL * 2048 * 2048 / 8);
  philox.clear_ctas_per_sm();  // 64 warp slots, four warps a CTA
  EXPECT_EQ(make_philox(philox, gpu("h100_sxm"))->ctas(), 16U * 132U);
}

TEST(Philox, RaggedMasksAreRoundedUpToWholeCtas) {
  configs::Philox philox = mask(1, 65);  // 4225 elements: more than one CTA pass of 4096
  EXPECT_EQ(bytes_by_stream(make_philox(philox, gpu("h100_sxm")).value()).at("mask"), 2U * 4096 / 8);
}

TEST(Philox, Rtx3090ClassRunsTheAmpereCode) {
  const traces::Kernel ga100 = make_philox(mask(8, 512), gpu("a100_sxm")).value();
  const traces::Kernel ga102 = make_philox(mask(8, 512), gpu("rtx_a6000")).value();
  EXPECT_EQ(ga102.architecture, "sm_86");
  EXPECT_EQ(loop_body(ga102).code.size(), loop_body(ga100).code.size());
}

TEST(Philox, UnrecordedVariantsFail) {
  configs::Philox philox = mask(8, 512);
  philox.set_rounds(8);
  EXPECT_EQ(make_philox(philox, gpu("h100_sxm")).error().message, "philox: rounds 8 was not recorded; expected 3, 5, 7 or 10");
  philox = mask(8, 512);
  philox.set_threshold_bits(4);
  EXPECT_EQ(make_philox(philox, gpu("h100_sxm")).error().message,
            "philox: threshold_bits 4 was not recorded; expected 8, 16 or 32");
  philox = mask(8, 512);
  philox.set_threads_per_cta(100);
  EXPECT_EQ(make_philox(philox, gpu("h100_sxm")).error().message,
            "philox: threads_per_cta 100 must be a multiple of 32 up to 1024");
  EXPECT_EQ(make_philox(mask(0, 512), gpu("h100_sxm")).error().message, "philox: heads, queries and keys must be at least 1");
}

}  // namespace
}  // namespace warpfold::workloads
