// The part of earlier kernels' data that a kernel finds in L2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/policies/support.h"
#include "workloads/common/key_reuse.h"

namespace warpfold::policies {
namespace {

constexpr uint64_t kMB = 1 << 20;
constexpr uint64_t kL2 = 52'428'800;

std::string pass(const std::string& name, const std::string& operation, uint64_t bytes, const std::string& fields) {
  return "kernel { name: \"" + name + "\" " + fields + " elementwise { operation: " + operation +
         " elements: " + std::to_string(bytes / 4) + " } }";
}
std::string reads(const std::string& stream, const std::string& of) {
  return " l2: AS_LEFT tensor { stream: \"" + stream + "\" of: \"" + of + "\" } ";
}

uint64_t found(const Bench& bench, const std::string& name, configs::PolicyKind kind = configs::SEQUENTIAL) {
  const Plan plan = bench.plan(kind);
  const auto planned = std::ranges::find(plan.kernels, name, &PlannedKernel::of);
  return planned->found_in_l2_bytes;
}

// Of N bytes that are read after so much has been touched since, by the place in them.
double expected(uint64_t bytes, uint64_t first, uint64_t last) {
  constexpr int kPlaces = 10'000;
  double there = 0;
  for (int place = 0; place < kPlaces; ++place) {
    const double part = (place + 0.5) / kPlaces;
    const double distance = (1 - part) * static_cast<double>(first) + part * static_cast<double>(last);
    there += 1 - workloads::probability_of_miss(static_cast<uint64_t>(distance), kL2);
  }
  return there / kPlaces * static_cast<double>(bytes);
}

TEST(L2AsLeft, AllOfASmallTensorIsThere) {
  Bench bench(132);
  bench.add(pass("fill", "FILL", 4 * kMB, "")).add(pass("copy", "COPY", 4 * kMB, reads("in", "fill.out")));
  EXPECT_EQ(found(bench, "copy"), 4 * kMB);
  const Plan plan = bench.plan(configs::SEQUENTIAL);
  EXPECT_EQ(kernel(plan, "copy").streams[0].dram_numerator, 0);
  EXPECT_EQ(kernel(plan, "copy").streams[1].dram_numerator, 1) << "what is written goes to DRAM";
}

TEST(L2AsLeft, NothingOfALargeOneIs) {
  Bench bench(132);
  bench.add(pass("fill", "FILL", 400 * kMB, "")).add(pass("copy", "COPY", 400 * kMB, reads("in", "fill.out")));
  EXPECT_EQ(found(bench, "copy"), 0);
}

// 32 MB are written; the first byte is read 32 MB later and the last byte 64 MB later: the pass's own reads and writes.
TEST(L2AsLeft, TheReuseDistanceSaysHowMuch) {
  Bench bench(132);
  bench.add(pass("fill", "FILL", 32 * kMB, "")).add(pass("copy", "COPY", 32 * kMB, reads("in", "fill.out")));
  const double share = expected(32 * kMB, 32 * kMB, 64 * kMB);
  EXPECT_GT(share, 16 * kMB);
  EXPECT_LT(share, 24 * kMB);
  EXPECT_NEAR(static_cast<double>(found(bench, "copy")), share, 32.0 * kMB / 1024);
}

TEST(L2AsLeft, OnlyWithTheTensorNamed) {
  Bench bench(132);
  bench.add(pass("fill", "FILL", 4 * kMB, "")).add(pass("copy", "COPY", 4 * kMB, "l2: AS_LEFT"));
  EXPECT_EQ(found(bench, "copy"), 0);
}

TEST(L2AsLeft, AKernelBetweenDrivesItOut) {
  const auto with = [](uint64_t between, const std::string& operation) {
    Bench bench(132);
    bench.add(pass("fill", "FILL", 8 * kMB, ""))
        .add(pass("between", operation, between, ""))
        .add(pass("copy", "COPY", 8 * kMB, reads("in", "fill.out")));
    return static_cast<double>(found(bench, "copy"));
  };
  EXPECT_NEAR(with(40 * kMB, "FILL"), expected(8 * kMB, 48 * kMB, 56 * kMB), 8.0 * kMB / 1024);
  EXPECT_NEAR(with(20 * kMB, "COPY"), expected(8 * kMB, 48 * kMB, 56 * kMB), 8.0 * kMB / 1024);
  EXPECT_EQ(with(200 * kMB, "FILL"), 0);
}

// Two kernels read one tensor: the second finds the lines that the first read.
TEST(L2AsLeft, WhatWasReadIsThereToo) {
  Bench bench(132);
  bench.add(pass("fill", "FILL", 8 * kMB, ""))
      .add(pass("flush", "FILL", 400 * kMB, ""))
      .add(pass("first", "COPY", 8 * kMB, reads("in", "fill.out")))
      .add(pass("second", "COPY", 8 * kMB, reads("in", "first.in")));
  EXPECT_EQ(found(bench, "first"), 0);
  EXPECT_NEAR(static_cast<double>(found(bench, "second")), 8.0 * kMB, 8.0 * kMB / 1024);
}

// All that a kernel beside touches comes in between; beside the reader it does not matter that it has not ended before.
TEST(L2AsLeft, KernelsBesideCountAsBetween) {
  Bench bench(132);
  bench.add(pass("fill", "FILL", 8 * kMB, ""))
      .add(pass("beside", "FILL", 40 * kMB, "stream: 1 after: \"fill\""))
      .add(pass("copy", "COPY", 8 * kMB, reads("in", "fill.out")));
  EXPECT_NEAR(static_cast<double>(found(bench, "copy", configs::CONCURRENT)), expected(8 * kMB, 48 * kMB, 56 * kMB),
              8.0 * kMB / 1024);
}

// Nothing is read from a kernel that has not ended before.
TEST(L2AsLeft, AKernelBesideLeavesNothing) {
  Bench bench(132);
  bench.add(pass("fill", "FILL", 8 * kMB, "")).add(pass("copy", "COPY", 8 * kMB, "stream: 1" + reads("in", "fill.out")));
  EXPECT_EQ(found(bench, "copy", configs::CONCURRENT), 0);
}

// A and B of 8 MB each: the reuse distances in a GEMM are the bytes that both kernels touch.
TEST(L2AsLeft, AGemmsResultIsThePassesInput) {
  Bench bench(132);
  bench.add("kernel { name: \"gemm\" hopper_gemm { m: 2048 n: 2048 k: 2048 type: BF16 tile_m: 128 tile_n: 128 tile_k: 64 } }")
      .add(pass("relu", "SCALE", 8'388'608, reads("in", "gemm.C")));
  EXPECT_NEAR(static_cast<double>(found(bench, "relu")), expected(8 * kMB, 24 * kMB, 16 * kMB), 8.0 * kMB / 1024);
  const Plan plan = bench.plan(configs::SEQUENTIAL);
  for (const traces::MemoryStream& stream : kernel(plan, "gemm").streams) EXPECT_EQ(stream.footprint, 8'388'608) << stream.name;
}

TEST(L2AsLeft, SaysSoInTheResult) {
  Bench bench(132);
  bench.add(pass("fill", "FILL", 4 * kMB, "")).add(pass("copy", "COPY", 4 * kMB, reads("in", "fill.out")));
  const configs::Result result = bench.run(configs::SEQUENTIAL, "exact");
  EXPECT_EQ(kernel(result, "copy").l2(), "AS_LEFT");
  EXPECT_EQ(kernel(result, "copy").found_in_l2_bytes(), 4 * kMB);
  EXPECT_EQ(kernel(result, "fill").l2(), "");
  EXPECT_EQ(result.alone(1).cycles(), kernel(result, "copy").solo_cycles()) << "alone it finds what it finds in sequence";
}

// After a memset, L2 has its maximum of dirty lines: a pass evicts as much as it reads and writes. On a clean L2 its reads evict
// its own lines alone, so that some of them stay (D32). 16 MB read and 16 MB written at 3.18 TB/s, with a seventh more for evicted
// lines, take 11.3 us, the reads alone 5.3.
TEST(L2AsLeft, DirtyLinesOfTheKernelBeforeAreWrittenBack) {
  const auto us = [](bool behind) {
    Bench bench(132);
    if (behind) bench.add(pass("memset", "FILL", 64 * kMB, ""));
    bench.add(pass("copy", "COPY", 16 * kMB, ""));
    return kernel(bench.run(configs::SEQUENTIAL), "copy").time_us();
  };
  const double rate = 3.350e6 * 0.95;  // bytes a us
  EXPECT_GT(us(false), 16.0 * kMB / rate);
  EXPECT_LT(us(false), 0.95 * us(true));
  EXPECT_NEAR(us(true), (16 + 16 * 1.15) * kMB / rate, 1.5);
}

TEST(L2AsLeft, RefusesATensorThatIsNotThere) {
  Bench bench(132);
  bench.add(pass("fill", "FILL", kMB, "")).add(pass("copy", "COPY", kMB, reads("inn", "fill.out")));
  EXPECT_THAT(bench.refusal(configs::SEQUENTIAL), testing::HasSubstr("kernel copy has no stream \"inn\"; did you mean \"in\"?"));
  Bench other(132);
  other.add(pass("fill", "FILL", kMB, "")).add(pass("copy", "COPY", kMB, reads("in", "fill.ou")));
  EXPECT_THAT(other.refusal(configs::SEQUENTIAL), testing::HasSubstr("kernel fill has no stream \"ou\"; did you mean \"out\"?"));
}

TEST(L2AsLeft, RefusesAKernelThatIsJoined) {
  Bench bench(132);
  bench.add(pass("fill", "FILL", kMB, ""))
      .add(pass("beside", "FILL", kMB, "stream: 1"))
      .add(pass("copy", "COPY", kMB, "stream: 2 after: \"fill\" after: \"beside\"" + reads("in", "fill.out")));
  EXPECT_THAT(bench.refusal(configs::CTA_INTERLEAVED),
              testing::HasSubstr("kernel fill is cut or joined with another one, so that what copy finds in L2 AS_LEFT is not "
                                 "known; expected COLD or WARM"));
}

}  // namespace
}  // namespace warpfold::policies
