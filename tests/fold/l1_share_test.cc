// A share of a stream's requests hits in L1: its effect on bytes and time, and its accumulator in the state.

#include <gtest/gtest.h>

#include "tests/support/machine.h"
#include "tests/support/same_outcome.h"

namespace warpfold::test {
namespace {

traces::Kernel loads(const std::string& stream, const std::string& effect = "bytes=512 stream=0", uint64_t trips = 240) {
  return KernelText("k", "sm_90")
      .ctas(2)
      .declare("stream in read " + stream)
      .role("warps", 4,
            loop(trips,
                 {op("LDG.E.128 R4, [R2.64]", {.stall = 2, .write = 0}, effect), op("FADD R8, R4, R5", {.stall = 4, .wait = {0}})}))
      .kernel();
}

TEST(L1Share, AllHitsAreAnL1Hit) {
  const configs::Gpu gpu = one_sm("h100_sxm");
  const Replay all = replay(gpu, loads("dram=1/1 l1=1/1"));
  const Replay hit = replay(gpu, loads("dram=0/1", ""));
  EXPECT_EQ(all.outcome.total_cycles, hit.outcome.total_cycles);
  EXPECT_EQ(all.outcome.kernels[0].l2_bytes, 0);
  EXPECT_EQ(all.outcome.kernels[0].dram_bytes, 0);
}

// One request in four misses. The other three take only L1's latency.
TEST(L1Share, OnlyMissesMoveBytesAndWaitForThem) {
  const configs::Gpu gpu = one_sm("h100_sxm");
  const Replay share = replay(gpu, loads("dram=1/2 l1=3/4"));
  const uint64_t missed = 2ULL * 4 * 240 / 4 * 512;
  EXPECT_EQ(share.outcome.kernels[0].l2_bytes, missed);
  EXPECT_EQ(share.outcome.kernels[0].l2_bytes_served, missed);
  EXPECT_EQ(share.outcome.kernels[0].dram_bytes, missed / 2);
  EXPECT_EQ(share.busy("l2_read"), missed);
  const uint64_t none = replay(gpu, loads("dram=1/2")).outcome.total_cycles;
  const uint64_t all = replay(gpu, loads("dram=1/2 l1=1/1")).outcome.total_cycles;
  EXPECT_LT(share.outcome.total_cycles, none * 7 / 10);
  EXPECT_GT(share.outcome.total_cycles, all);
}

sim::Outcome folded(const traces::Kernel& kernel, sim::FoldMode mode, const std::string& omitted = "") {
  return outcome(one_sm("h100_sxm"), {launch(kernel)}, {.fold = {.mode = mode, .omitted_field = omitted}});
}

TEST(L1Share, FoldsWhereItIsAFractionOfAPowerOfTwo) {
  for (const char* stream : {"dram=1/2 l1=3/4", "dram=0/1 l1=5/8", "dram=1/1 l1=1/16"}) {
    const traces::Kernel kernel = loads(stream, "bytes=512 stream=0", 4000);
    const sim::Outcome exact = folded(kernel, sim::FoldMode::kExact);
    EXPECT_EQ(difference(exact, folded(kernel, sim::FoldMode::kOff)), "") << stream;
    EXPECT_EQ(exact.fold.mode, sim::Folded::kExact) << stream;
  }
}

// The accumulators of these shares come back only after 16,384 requests. Without the accumulator in the key, a
// recurrence is found earlier, and the result is wrong.
TEST(L1Share, IsPartOfTheKey) {
  bool noticed = false;
  for (const char* stream : {"dram=1/2 l1=1/3", "dram=1/5 l1=2/7", "dram=1/1 l1=1/17"}) {
    const traces::Kernel kernel = loads(stream, "bytes=512 stream=0", 4000);
    const sim::Outcome replayed = folded(kernel, sim::FoldMode::kOff);
    EXPECT_EQ(difference(folded(kernel, sim::FoldMode::kExact), replayed), "") << stream;
    try {
      noticed = noticed || !difference(folded(kernel, sim::FoldMode::kExact, "l1_fraction"), replayed).empty();
    } catch (const std::logic_error&) {
      noticed = true;
    }
  }
  EXPECT_TRUE(noticed) << "l1_fraction may be left out of the key";
}

}  // namespace
}  // namespace warpfold::test
