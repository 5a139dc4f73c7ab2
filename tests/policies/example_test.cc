// The worked example of docs/policies.md, as it stands there.
#include <gtest/gtest.h>

#include "tests/policies/longest_first_kind.h"
#include "tests/policies/support.h"
#include "tests/support/machine.h"

namespace warpfold::policies {

const Policy& longest_first();

namespace {

traces::Kernel work(const std::string& name, uint64_t ctas) {
  return test::KernelText(name, "sm_90").options("registers=64").ctas(ctas).role("w", 4, {test::op("NOP")}).kernel();
}

TEST(Example, GivesTheLongerKernelPriority) {
  EXPECT_EQ(longest_first().kind(), configs::LONGEST_FIRST);
  Bench bench;
  bench.add(work("short", 8), "stream: 0").add(work("long", 9), "stream: 1");
  workloads::KernelMaker kernels(bench.file());
  const Plan plan = longest_first().plan(bench.scenario(configs::CONCURRENT), kernels).value();
  EXPECT_GT(plan.kernels[1].priority, plan.kernels[0].priority);
}

TEST(Example, RefusesASingleKernel) {
  Bench bench;
  bench.add(work("short", 8), "");
  workloads::KernelMaker kernels(bench.file());
  EXPECT_EQ(longest_first().plan(bench.scenario(configs::CONCURRENT), kernels).error().message, "there is only one kernel");
}

}  // namespace
}  // namespace warpfold::policies
