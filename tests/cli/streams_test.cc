// Kernels and transfers side by side, each waiting for its inputs.

#include "tools/warpfold/figures/streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace warpfold::cli {
namespace {

using testing::ElementsAre;

double undisturbed(int, int) { return 1; }

TEST(Streams, HideATransferBehindAKernelThatDoesNotNeedIt) {
  // Kernel 0, its transfer of 10 us, a kernel of 6 us beside the transfer, and a kernel that waits for the transfer.
  const std::vector<JobTimes> times = run_streams({{0, 5, {}, 0}, {1, 10, {0}, 0}, {0, 6, {}, 1}, {0, 2, {1}, 2}}, undisturbed);
  EXPECT_DOUBLE_EQ(times[1].start, 5);
  EXPECT_DOUBLE_EQ(times[1].end, 15);
  EXPECT_DOUBLE_EQ(times[1].exposed_us, 4);
  EXPECT_THAT(times[1].beside, ElementsAre(2));
  EXPECT_DOUBLE_EQ(times[3].end, 17);
}

TEST(Streams, SlowKernelsBesideTransfers) {
  // The kernel does half of its pace for 4 us, then 3 us of work are left of 5.
  const std::vector<JobTimes> times = run_streams({{1, 4, {}, 0}, {0, 5, {}, 0}}, [](int, int) { return 2.0; });
  EXPECT_DOUBLE_EQ(times[1].end, 7);
  EXPECT_DOUBLE_EQ(times[0].slowed_us, 2);
  EXPECT_DOUBLE_EQ(times[0].exposed_us, 0);
}

TEST(Streams, ChargeTheTransferThatIsWaitedFor) {
  const std::vector<JobTimes> times = run_streams({{1, 9, {}, 0}, {2, 3, {}, 1}, {0, 1, {1}, 0}, {0, 1, {0}, 1}}, undisturbed);
  EXPECT_DOUBLE_EQ(times[1].exposed_us, 3);
  EXPECT_DOUBLE_EQ(times[0].exposed_us, 5);
  EXPECT_DOUBLE_EQ(times[3].end, 10);
}

// The whole time is the sum of kernels, their slowdown and exposed transfers, even if transfers end last.
TEST(Streams, AccountForTheWholeTime) {
  std::vector<Job> jobs;
  for (int i = 0; i < 40; ++i) {
    jobs.push_back({0, 1.0 + (i * 7) % 5, i > 2 ? std::vector<int>{3 * (i - 2) + 1} : std::vector<int>{}, i});
    jobs.push_back({1, 0.5 + (i * 11) % 7, {3 * i}, i});
    jobs.push_back({2, 0.25 * ((i * 13) % 9), {3 * i}, i});
  }
  const std::vector<JobTimes> times =
      run_streams(jobs, [](int kernel, int transfer) { return 1 + 0.1 * ((kernel + transfer) % 3); });
  double all = 0;
  double sum = 0;
  for (size_t j = 0; j < jobs.size(); ++j) {
    all = std::max(all, times[j].end);
    sum += (jobs[j].stream == 0 ? jobs[j].us : 0) + times[j].exposed_us + times[j].slowed_us;
  }
  EXPECT_NEAR(all, sum, 1e-9);
}

TEST(Streams, RefuseWorkThatWaitsForItself) {
  EXPECT_THROW(run_streams({{0, 1, {1}, 0}, {1, 1, {0}, 0}}, undisturbed), std::logic_error);
}

}  // namespace
}  // namespace warpfold::cli
