#include "sim/sm/return_path.h"

#include <gtest/gtest.h>

#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

constexpr sim::Cycle kMargin = 100;

TEST(ReturnPath, GivesTheFirstCyclesThatAreFreeAtTheArrivalOrLater) {
  sim::ReturnPath path;
  EXPECT_EQ(path.take(0, kMargin, 608, 8, 0).end, 608);
  EXPECT_EQ(path.take(0, kMargin, 100, 8, 1).end, 100) << "500 cycles before the other";
  const sim::ReturnPath::Return third = path.take(0, kMargin, 604, 8, 1);
  EXPECT_EQ(third.end, 616);
  EXPECT_EQ(third.waited_for, 0);
  EXPECT_EQ(path.take(0, kMargin, 604, 4, 2).end, 620) << "[596, 600) has passed at 604";
  EXPECT_EQ(path.take(0, kMargin, 600, 4, 2).end, 600);
  EXPECT_EQ(path.take(0, kMargin, 601, 4, 2).end, 624) << "no gap of four cycles before 620";
}

TEST(ReturnPath, ForgetsWhatNoLoadCanMeet) {
  sim::ReturnPath path;
  sim::ReturnPath fresh;
  path.take(0, kMargin, 50, 8, 1);
  path.take(200, kMargin, 300, 8, 0);
  fresh.take(200, kMargin, 300, 8, 0);
  EXPECT_EQ(path, fresh);
}

// A load that L1 serves passes an earlier load that DRAM serves.
TEST(ReturnPath, LetsAHitPassAMiss) {
  const auto second_has_come = [](std::string_view hit) {
    const traces::Kernel kernel =
        KernelText("k", "sm_90")
            .declare("stream missed read dram=1/1")
            .declare(text({"stream other read ", hit}))
            .role("one", 1,
                  {op("LDG.E R4, [R2.64]", {.stall = 4, .write = 0}, "bytes=128 stream=0"),
                   op("LDG.E R5, [R2.64]", {.stall = 4, .write = 1}, "bytes=128 stream=1"), op("NOP", {.wait = {1}})})
            .kernel();
    return replay(one_sm("h100_sxm"), kernel).warp(0).at(2);
  };
  const configs::Gpu gpu = one_sm("h100_sxm");
  EXPECT_LT(second_has_come("dram=0/1 l1=1/1"), second_has_come("dram=0/1"));
  EXPECT_LT(second_has_come("dram=0/1") + 100, second_has_come("dram=1/1"));
}

}  // namespace
}  // namespace warpfold::test
