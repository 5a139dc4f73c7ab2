// An SM that comes to a state in which another one was, or itself, goes on from where that led; and nothing else changes.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <optional>

#include "sim/memo/memo_hit.h"

#include "tests/support/machine.h"
#include "tests/support/random_programs.h"
#include "tests/support/same_outcome.h"
#include "tests/support/share.h"

namespace warpfold::test {
namespace {

configs::Gpu sms(uint32_t count) {
  configs::Gpu gpu = one_sm("rtx_a6000");
  gpu.set_sm_count(count);
  gpu.mutable_sm()->set_cta_launch_cycles(7);
  return gpu;
}

Lines body() {
  return {op("FFMA R4, R8, R9, R4", {.stall = 2}), op("IADD3 R5, R10, R11, R12"), op("MUFU.EX2 R6, R7", {.stall = 2, .write = 0}),
          op("FADD R6, R6, R6", {.stall = 5, .wait = {0}})};
}

using Trips = std::vector<uint64_t>;

std::optional<Trips> after(const Trips& before, const Trips& there, const Trips& own, size_t common) {
  return sim::trips_after(before, there, own, common);
}

TEST(TripsAfter, AreAsManyFewerAsOnTheTrajectory) {
  EXPECT_EQ(after({9}, {4}, {9}, 1), (Trips{4}));
  EXPECT_EQ(after({9}, {4}, {20}, 1), (Trips{15}));
  EXPECT_EQ(after({9}, {4}, {6}, 1), (Trips{1}));
  EXPECT_EQ(after({9}, {4}, {5}, 1), std::nullopt) << "its last test would have ended the loop";
  EXPECT_EQ(after({9}, {9}, {2}, 1), (Trips{2})) << "none on the way";
}

TEST(TripsAfter, AreOfTheSameLoop) {
  EXPECT_EQ(after({9}, {4}, {20}, 0), std::nullopt) << "another loop";
  EXPECT_EQ(after({9}, {4}, {9}, 0), (Trips{4})) << "whatever it is, it is the same here";
  EXPECT_EQ(after({9}, {}, {20}, 0), std::nullopt) << "none any more";
  EXPECT_EQ(after({9}, {}, {9}, 0), Trips{});
  EXPECT_EQ(after({3}, {3, 7}, {8}, 1), (Trips{8, 7})) << "a loop within";
}

TEST(TripsAfter, AreOfLoopsThatAreInTheSamePass) {
  EXPECT_EQ(after({3, 9}, {3, 4}, {5, 20}, 2), (Trips{5, 15}));
  EXPECT_EQ(after({3, 9}, {2, 9}, {5, 9}, 2), (Trips{4, 9})) << "the loop within has begun anew";
  EXPECT_EQ(after({3, 9}, {2, 4}, {3, 20}, 2), std::nullopt) << "it has ended on the way, after 9 trips and not after 20";
  EXPECT_EQ(after({3, 9}, {2, 4}, {5, 9}, 2), (Trips{4, 4}));
  EXPECT_EQ(after({3, 9}, {2}, {5, 20}, 1), std::nullopt);
}

// CTAs one at a time: a loop of `t` trips, then one of `u`.
traces::Kernel one_at_a_time(const std::string& classes) {
  return KernelText("loops", "sm_86")
      .options("registers=32 shared_memory=90000")
      .classes("parameter t\nparameter u\n" + classes)
      .role("warps", 4, join(loop("t", body()), loop("u", join(body(), body()))))
      .kernel();
}

// Folds and replays, compares, returns what folding says.
sim::FoldReport both(const configs::Gpu& gpu, const std::vector<sim::Launch>& launches, uint64_t checkpoint_spacing = 40) {
  const sim::Outcome exact =
      outcome(gpu, launches, {.fold = {.mode = sim::FoldMode::kExact, .checkpoint_spacing = checkpoint_spacing}});
  const sim::Outcome off = outcome(gpu, launches, {.fold = {.mode = sim::FoldMode::kOff}});
  EXPECT_EQ(difference(exact, off), "");
  EXPECT_EQ(off.fold.memo_hits, 0);
  EXPECT_LE(exact.fold.instructions_replayed + exact.fold.instructions_shared, exact.fold.instructions_of_classes);
  return exact.fold;
}

sim::FoldReport both(const configs::Gpu& gpu, const std::string& classes) {
  const traces::Kernel kernel = one_at_a_time(classes);
  return both(gpu, {launch(kernel)});
}

// SM 0 runs x, a, a; SM 1 y, a, a: the first a begins later on one of them, in the same state.
TEST(MemoHits, FollowAnothersTrajectoryAtAnotherTime) {
  for (const std::string first : {"class x t=9 u=5\nclass y t=30 u=2\n", "class x t=30 u=2\nclass y t=9 u=5\n"}) {
    const sim::FoldReport fold = both(sms(2), first + "class a t=40 u=60\ngrid x*1 y*1 a*4\n");
    EXPECT_GT(fold.memo_hits, 0);
    EXPECT_GT(fold.instructions_shared, 0);
  }
}

// Two warps go round in 15 and in 16 cycles, together in 240. What is left when whole periods have been skipped is the beginning of
// one more.
TEST(MemoHits, FollowTheSmsOwnTrajectory) {
  const auto of_stall = [](int stall, int count) { return loop(3009, repeat(count, {op("FADD R4, R4, R5", {.stall = stall})})); };
  const traces::Kernel kernel =
      KernelText("drift", "sm_86").role("three", 1, of_stall(5, 3)).role("four", 1, of_stall(4, 4)).kernel();
  const uint64_t with = both(sms(1), {launch(kernel)}, 10).instructions_replayed;
  const uint64_t without = both(sms(1), {launch(kernel)}, 1'000'000).instructions_replayed;
  EXPECT_LT(with + 30, without);
}

// A way leads round a circle once, and who goes it must not go round as often as there are periods: what is replayed does not grow
// with them.
TEST(MemoHits, AreNoMoreWhereMoreIsLeft) {
  const auto fold = [](uint64_t trips) {
    const auto of_stall = [](int stall, int count) { return loop("t", repeat(count, {op("FADD R4, R4, R5", {.stall = stall})})); };
    const std::string classes =
        "parameter t\nclass x t=40\nclass y t=90\nclass a t=4000\nclass b t=" + std::to_string(trips) + "\ngrid x*1 y*1 a*1 b*1\n";
    const traces::Kernel kernel = KernelText("drift", "sm_86")
                                      .options("registers=32 shared_memory=90000")
                                      .classes(classes)
                                      .role("three", 1, of_stall(5, 3))
                                      .role("four", 1, of_stall(4, 4))
                                      .kernel();
    return outcome(sms(2), {launch(kernel)}, {.fold = {.mode = sim::FoldMode::kExact, .checkpoint_spacing = 10}}).fold;
  };
  const sim::FoldReport few = fold(5000);
  const sim::FoldReport many = fold(40'000'000);
  EXPECT_GT(many.memo_hits, 0);
  EXPECT_LT(many.memo_hits, 40);
  EXPECT_LT(many.instructions_replayed, few.instructions_replayed * 3 / 2);
}

// Classes that differ in the loop that they are in and in the next one, beside short CTAs and beside each other: what is of one
// class on an SM may have been of another on the way, beside some that are of the same.
TEST(RandomMemoHits, TellClassesApartThatRepresentEachOther) {
  int runs = 0;
  int memo_hits = 0;
  const bool same = rc::check([&] {
    const auto number = [](uint32_t from, uint32_t to) { return std::to_string(between(from, to)); };
    const auto cta_class = [&](const std::string& name, uint32_t least, uint32_t most) {
      const std::string t = number(least, most);
      return text({"class ", name, " t=", t, " u=", number(2, 30), "\n"});
    };
    std::string classes = "parameter t\nparameter u\n";
    for (const std::string name : {"x", "y"}) classes += cta_class(name, 30, 200);
    for (const std::string name : {"a", "b"}) classes += cta_class(name, 2, 12);
    classes += "grid";
    for (uint32_t left = between(6U, 14U); left > 0; --left) {
      const std::string name = *rc::gen::elementOf(std::vector<std::string>{"x", "y", "a", "a", "b"});
      classes += text({" ", name, "*", number(1, name == "a" ? 12 : 3)});
    }
    configs::Gpu gpu = sms(between(2U, 6U));
    gpu.set_kernel_launch_cycles(between(1U, 300U));
    const traces::Kernel kernel = KernelText("loops", "sm_86")
                                      .options(one_in(2) ? "registers=32 shared_memory=40960" : "registers=32 shared_memory=30000")
                                      .classes(classes + "\n")
                                      .role("warps", 4, join(loop("t", body()), loop("u", join(body(), body()))))
                                      .kernel();
    std::vector<sim::Launch> launches = {launch(kernel)};
    // What goes on when the first has ended on an SM, and what waits for its end on all of them.
    const traces::Kernel beside = KernelText("beside", "sm_86")
                                      .ctas(gpu.sm_count())
                                      .role("warp", 1, loop(between<uint64_t>(100, 3000), {op("FADD R4, R4, R5", {.stall = 5})}))
                                      .kernel();
    if (one_in(2)) launches.push_back(launch(beside, 1));
    if (one_in(2)) launches.push_back(launch(kernel));
    RC_LOG(text({classes, " ", std::to_string(launches.size()), " launches on ", std::to_string(gpu.sm_count()), " SMs"}));
    const sim::Outcome exact = outcome(gpu, launches, {.fold = {.mode = sim::FoldMode::kExact, .checkpoint_spacing = 20}});
    const std::string differs = difference(exact, outcome(gpu, launches, {.fold = {.mode = sim::FoldMode::kOff}}));
    if (!differs.empty()) RC_FAIL(differs);
    ++runs;
    memo_hits += exact.fold.memo_hits > 0;
  });
  ASSERT_TRUE(same);
  EXPECT_TRUE(can_be_a_share(memo_hits, runs, 0.8, "have memo hits"));
}

// Two warps issue in a cycle: until when a slot is taken is a time as well, and past.
TEST(MemoHits, LeadToAnEarlierTimeOnAMachineThatIssuesTwice) {
  configs::Gpu gpu = sms(2);
  gpu.mutable_sub_core()->mutable_issue()->set_scale(2);
  const traces::Kernel kernel = one_at_a_time("class x t=900 u=2\nclass y t=20 u=2\nclass a t=400 u=600\ngrid x*1 y*1 a*4\n");
  EXPECT_GT(both(gpu, {launch(kernel)}).memo_hits, 0);
}

// SM 1 runs a c a c ..., and what recurs there is skipped: who is there afterwards has the serials of those before. SM 0 has a b
// among them, which has other trips left: where the way leads past the skip it is no a any more.
TEST(MemoHits, TellTheWarpThatHasTakenAnothersPlace) {
  const Lines mixed =
      join(loop(4, {op("FFMA R4, R8, R9, R10", {.stall = 2}), op("FADD R6, R8, R10", {.stall = 4})}),
           loop(5, {op("FFMA R5, R8, R9, R10", {.stall = 2}), op("FADD R7, R8, R10", {.stall = 4}),
                    op("MUFU.EX2 R12, R9", {.stall = 2, .write = 0}), op("FADD R12, R12, R9", {.stall = 5, .wait = {0}})}));
  const Lines slow = {op("FFMA R4, R8, R9, R10", {.stall = 5}), op("FADD R6, R8, R10", {.stall = 5})};
  const traces::Kernel first = KernelText("first", "sm_86")
                                   .options("registers=40 shared_memory=100")
                                   .ctas(1)
                                   .role("warp", 1, {op("FADD R4, R8, R10", {.stall = 4})})
                                   .kernel();
  for (const std::string other : {"class b t=12 u=3\n", "class b t=7 u=8\n"}) {
    for (const int place : {2, 4, 6}) {
      std::string grid = "grid";
      for (int i = 0; i < 24; ++i) {
        const std::string each = i % 2 == 0 ? "a" : "c";
        grid += text({" ", i == place ? "b" : each, "*1 ", each, "*1"});
      }
      const traces::Kernel kernel =
          KernelText("loops", "sm_86")
              .options("registers=40 shared_memory=45000")
              .classes("parameter t\nparameter u\nclass a t=9 u=6\nclass c t=9 u=6\n" + other + grid + "\n")
              .role("warps", 4, join(loop("t", mixed), loop("u", loop(14, slow))))
              .kernel();
      std::vector<sim::Launch> launches = {launch(first), launch(kernel)};
      launches[0].sms = {.first = 0, .count = 1};
      for (const uint64_t checkpoint_spacing : {1285, 1347, 1409, 1471}) both(sms(2), launches, checkpoint_spacing);
    }
  }
}

// What lasts shorter than a copy takes is replayed.
TEST(MemoHits, AreNotTakenForALittle) {
  const traces::Kernel kernel = one_at_a_time("class x t=9 u=5\nclass y t=30 u=2\nclass a t=40 u=60\ngrid x*1 y*1 a*4\n");
  EXPECT_EQ(both(sms(2), {launch(kernel)}, 0).memo_hits, 0);
}

}  // namespace
}  // namespace warpfold::test
