// Composition rules with numbers that can be followed in the head.

#include "sim/analytic/composition.h"

#include <gtest/gtest.h>

#include "sim/analytic/stored_bits.h"

namespace warpfold::sim {
namespace {

const Interference kMeasured{"measured", 1.1, 2.0, 1.2, {}};

TEST(Composition, InSequenceAddsUp) {
  const Composition whole = sequential({.gemm = 100, .rng = 30, .attention = 50, .others = 7}, kMeasured);
  EXPECT_DOUBLE_EQ(whole.total, 100 + 30 + 1.2 * 50 + 7);
  EXPECT_DOUBLE_EQ(whole.exposed_rng, 30);
}

TEST(Composition, FusedTakesTheMergedStreamUnlessAShareIsPublished) {
  const ChainTimes times{.gemm = 100, .rng = 30, .attention = 50, .merged = 75};
  EXPECT_DOUBLE_EQ(fused(times, kMeasured).total, 175);
  Interference published = kMeasured;
  published.hidden_by_fusion = 0.5;
  EXPECT_DOUBLE_EQ(fused(times, published).total, 100 + 60 + 15);
}

TEST(Composition, OverlappedIsTheSlowedGemmWhereRandomNumbersAreHidden) {
  const Composition whole = overlapped({.gemm = 100, .rng = 55, .attention = 50}, kMeasured);
  EXPECT_DOUBLE_EQ(whole.total, 110 + 60);
  EXPECT_NEAR(whole.exposed_rng, 0, 1e-12);
}

// In 110 the random numbers complete 55; the remainder runs at full speed.
TEST(Composition, RandomNumbersThatOutlastTheGemmsGoOnAtFullSpeed) {
  const Composition whole = overlapped({.gemm = 100, .rng = 65, .attention = 50}, kMeasured);
  EXPECT_DOUBLE_EQ(whole.exposed_rng, 10);
  EXPECT_DOUBLE_EQ(whole.total, 110 + 10 + 60);
}

TEST(Regions, FollowTheShareOfTheRandomNumbers) {
  EXPECT_EQ(region_of({.gemm = 1000, .rng = 90, .attention = 10}, kMeasured), Region::kGemmDominates);
  EXPECT_EQ(region_of({.gemm = 100, .rng = 50, .attention = 50}, kMeasured), Region::kBalanced);
  EXPECT_EQ(region_of({.gemm = 100, .rng = 56, .attention = 50}, kMeasured), Region::kRngExposed);
}

TEST(StoredBits, AreOneBitAnElement) {
  // 64 heads of 8192 x 8192: 512 MiB.
  EXPECT_EQ((StoredBits{.heads = 64, .queries = 8192, .keys = 8192}).bytes(), uint64_t{512} << 20);
}

TEST(StoredBits, AreSplitOverGpusAndHeldForTwoSegments) {
  const StoredBits bits{.heads = 64, .queries = 8192, .keys = 8192, .gpus = 8, .segments = 16};
  EXPECT_EQ(bits.bytes_per_gpu(), (uint64_t{512} << 20) / 8 * 2 / 16);
  const StoredBits whole{.heads = 64, .queries = 8192, .keys = 8192, .gpus = 8, .segments = 1};
  EXPECT_EQ(whole.bytes_per_gpu(), uint64_t{64} << 20);
}

TEST(StoredBits, AreSplitOnlyEvenly) {
  const StoredBits bits{.heads = 12, .queries = 1024, .keys = 1024, .gpus = 8};
  EXPECT_FALSE(splits_evenly(bits, Parallelism::kTensor));
  EXPECT_TRUE(splits_evenly(bits, Parallelism::kSequence));
}

}  // namespace
}  // namespace warpfold::sim
