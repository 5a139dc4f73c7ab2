// Gates of the ChipSampler: each run meets the gate that should keep the sampler from taking work.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "sim/sampling/chip_sampler.h"
#include "sim/sm/make_spec.h"
#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

using sim::Cycle;
using sim::SamplingGate;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;

// Runs a sampler at each loop end and notes which gate is closed.
class Gates : public sim::SmObserver {
 public:
  explicit Gates(Cycle limit) : limit_(limit) {}

  void loop_ended(sim::Sm& sm, Cycle now, Cycle /*limit*/) override {
    if (!sampler_) sampler_.emplace(sim::FoldOptions{.error = 0.05});
    if (const auto skip = sampler_->look(now, limit_, {{0, 1, &sm}}, 0)) {
      sampler_->take(*skip);
      ++taken;
    }
    names.emplace(sim::gate_name(sampler_->blocking_gate()));
  }

  std::set<std::string> names;
  int taken = 0;

 private:
  Cycle limit_;
  std::optional<sim::ChipSampler> sampler_;
};

struct Sampled {
  std::set<std::string> gates;
  int taken = 0;
};

traces::Kernel looping(const std::string& name, uint64_t ctas, uint64_t trips) {
  const Lines body = {op("FFMA R4, R8, R9, R4", {.stall = 2}), op("IADD3 R5, R10, R11, R12"),
                      op("MUFU.EX2 R6, R7", {.stall = 2, .write = 0}), op("FADD R6, R6, R6", {.stall = 5, .wait = {0}})};
  // An SM has room for two CTAs at a time.
  return KernelText(name, "sm_86")
      .options("registers=32 shared_memory=40960")
      .ctas(ctas)
      .role("warps", 4, loop(trips, body))
      .kernel();
}

// Runs the kernels on one SM until cycle `end`. `released`: for each kernel, the cycle from which on it may place CTAs.
Sampled sample(const std::vector<traces::Kernel>& kernels, const std::vector<Cycle>& released, Cycle end,
               Cycle limit = sim::kNever) {
  const sim::Spec spec = *sim::make_spec(one_sm("rtx_a6000"));
  std::vector<sim::KernelImage> images;
  for (const traces::Kernel& kernel : kernels) images.push_back(*sim::make_image(spec, kernel));
  std::vector<sim::SmLaunch> launches;
  for (size_t l = 0; l < images.size(); ++l)
    launches.push_back({{}, &images[l], kernels[l].grid, static_cast<int>(l), 0, images[l].ctas_per_sm});
  sim::Sm sm(spec, std::move(launches));
  Gates gates(limit);
  sm.observe_with(gates);
  for (size_t l = 0; l < images.size(); ++l) sm.release_launch(static_cast<int>(l), released[l]);
  while (sm.run(end) < end) {
  }
  return {gates.names, gates.taken};
}

TEST(SamplingGates, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (int gate = 0; gate < sim::kSamplingGates; ++gate) names.emplace(sim::gate_name(static_cast<SamplingGate>(gate)));
  EXPECT_EQ(names.size(), sim::kSamplingGates);
  EXPECT_THAT(names, Not(Contains(IsEmpty())));
}

TEST(SamplingGates, AreOpenWhereALongKernelRunsByItself) {
  const Sampled sampled = sample({looping("long", 2, 100'000)}, {0}, 100'000);
  EXPECT_GT(sampled.taken, 0);
  EXPECT_THAT(sampled.gates, Contains("few_batches"));
  EXPECT_THAT(sampled.gates, Contains("open"));
}

TEST(SamplingGates, ALaunchThatIsDueIsNotSkippedPast) {
  const Sampled sampled = sample({looping("long", 2, 100'000), looping("later", 2, 10)}, {0, 15'000}, 15'000);
  EXPECT_EQ(sampled.taken, 0);
  EXPECT_THAT(sampled.gates, Contains("nothing_left_to_take"));
}

// When CTAs of the first kernel end, and leave room for the second, depends on the distances between them.
TEST(SamplingGates, ALaunchThatWaitsForRoomIsNotPutOff) {
  const Sampled sampled = sample({looping("first", 2000, 300), looping("waiting", 2, 10)}, {0, 0}, 200'000);
  EXPECT_EQ(sampled.taken, 0);
  EXPECT_THAT(sampled.gates, Contains("launch_waits"));
}

// CTAs that read memory come first. The CTAs left after them read little.
TEST(SamplingGates, CtasOfAnotherKindAreNotTakenAtTheRateOfThoseBefore) {
  Lines body = loop("m", {op("LDG.E R4, [R2.64]", {.write = 0}, "bytes=128 stream=0"), op("FADD R4, R4, R5", {.wait = {0}})});
  std::ranges::copy(loop("n", {op("FADD R6, R6, R7", {.stall = 5})}), std::back_inserter(body));
  const traces::Kernel kernel =
      KernelText("k", "sm_86")
          .options("registers=32 shared_memory=40960")
          .classes("parameter m\nparameter n\nclass reads m=20 n=1\nclass adds m=1 n=20\ngrid reads*1000 adds*1000\n")
          .declare("stream data read dram=1/1")
          .role("warps", 4, body)
          .kernel();
  const Sampled sampled = sample({kernel}, {0}, 300'000);
  EXPECT_THAT(sampled.gates, Contains("other_work"));
}

TEST(SamplingGates, NothingIsTakenPastTheLimitOfTheRun) {
  const Sampled sampled = sample({looping("long", 2, 100'000)}, {0}, 100'000, 1);
  EXPECT_EQ(sampled.taken, 0);
  EXPECT_THAT(sampled.gates, Contains("nothing_left_to_take"));
}

}  // namespace
}  // namespace warpfold::test
