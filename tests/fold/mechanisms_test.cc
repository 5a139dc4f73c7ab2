// Each mechanism of exact folding may be switched off, alone or with the others: results stay the same bits.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/support/machine.h"
#include "tests/support/same_outcome.h"

namespace warpfold::test {
namespace {

traces::Kernel looping(const std::string& name, const std::string& grid) {
  const Lines body = {op("FFMA R4, R8, R9, R4", {.stall = 2}), op("IADD3 R5, R10, R11, R12"),
                      op("MUFU.EX2 R6, R7", {.stall = 2, .write = 0}), op("FADD R6, R6, R6", {.stall = 5, .wait = {0}})};
  return KernelText(name, "sm_86")
      .options("registers=32 shared_memory=40960")
      .classes("parameter t\n" + grid)
      .role("warps", 4, loop("t", body))
      .kernel();
}

// Two SMs receive different CTAs of the first kernel and the same CTAs of the second.
TEST(Mechanisms, ChangeNoResult) {
  configs::Gpu gpu = one_sm("rtx_a6000");
  gpu.set_sm_count(2);
  gpu.mutable_sm()->set_cta_launch_cycles(7);
  gpu.set_kernel_launch_cycles(500);
  const traces::Kernel first = looping("first", "class a t=60\nclass b t=50\ngrid a*1 b*1 a*20\n");
  const traces::Kernel second = looping("second", "class a t=300\ngrid a*25\n");
  const std::vector<sim::Launch> launches = {launch(first), launch(second)};
  const sim::Outcome replayed = outcome(gpu, launches, {.fold = {.mode = sim::FoldMode::kOff}});
  const auto folded = [&](uint32_t disabled) {
    const sim::Outcome run = outcome(gpu, launches, {.fold = {.mode = sim::FoldMode::kExact, .disabled = disabled}});
    EXPECT_EQ(difference(run, replayed), "") << "disabled: " << disabled;
    return run.fold;
  };
  constexpr uint32_t kAll = (1U << sim::kMechanisms) - 1;
  for (int m = 0; m < sim::kMechanisms; ++m) folded(1U << m);
  EXPECT_LT(folded(0).instructions_replayed, replayed.fold.instructions_replayed);
  const sim::Outcome apart = outcome(gpu, launches, {.fold = {.mode = sim::FoldMode::kOff, .disabled = kAll}});
  EXPECT_EQ(folded(kAll).instructions_replayed, apart.fold.instructions_replayed) << "nothing is left that saves replay";
}

TEST(Mechanisms, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (int m = 0; m < sim::kMechanisms; ++m) names.emplace(sim::mechanism_name(static_cast<sim::Mechanism>(m)));
  EXPECT_EQ(names.size(), sim::kMechanisms);
}

}  // namespace
}  // namespace warpfold::test
