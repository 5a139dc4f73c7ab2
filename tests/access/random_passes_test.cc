// Passes of lanes at random words of shared memory.

#include "traces/access/random_passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "traces/access/shared_wavefronts.h"

namespace warpfold::test {
namespace {

using traces::access::LaneAccess;
using traces::access::random_passes;
using traces::access::shared_wavefronts;

// The mean over many warps whose lanes lie at random in a memory so large that two rarely share a word.
double drawn(uint32_t bytes) {
  std::mt19937_64 random(1);
  constexpr int kWarps = 20'000;
  uint64_t passes = 0;
  for (int warp = 0; warp < kWarps; ++warp) {
    LaneAccess access{.addresses = {}, .mask = 0xffffffff, .bytes = bytes};
    for (uint64_t& address : access.addresses) address = random() % (uint64_t{1} << 40) / bytes * bytes;
    passes += shared_wavefronts(access);
  }
  return static_cast<double>(passes) / kWarps;
}

TEST(RandomPasses, AreTheMeanOverWarpsAtRandom) {
  for (const uint32_t bytes : {4U, 8U, 16U}) EXPECT_NEAR(random_passes(32, bytes), drawn(bytes), 0.03) << bytes;
}

TEST(RandomPasses, FewLanes) {
  EXPECT_DOUBLE_EQ(random_passes(0, 4), 0);
  EXPECT_DOUBLE_EQ(random_passes(1, 4), 1);
  EXPECT_NEAR(random_passes(2, 4), 1 + 1.0 / 32, 1e-12);
  EXPECT_DOUBLE_EQ(random_passes(1, 16), 1);
}

}  // namespace
}  // namespace warpfold::test
