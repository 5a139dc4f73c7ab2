#include "sim/gpu/work_distributor.h"
#include "sim/chip/reference.h"
#include "sim/sm/make_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/sm/make_spec.h"
#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A kernel of which one CTA fills an SM, by default.
traces::Kernel adder(const std::string& name, uint64_t ctas, uint64_t trips = 50, const std::string& shared_memory = "160000") {
  return KernelText(name, "sm_90")
      .options("shared_memory=" + shared_memory)
      .ctas(ctas)
      .role("all", 4, loop(trips, {op("FADD R4, R4, R5", {.stall = 5})}))
      .kernel();
}

configs::Gpu chip(uint32_t sms) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_sm_count(sms);
  return gpu;
}

class Distributor {
 public:
  Distributor(uint32_t sms, const std::vector<sim::Launch>& launches) : spec_(sim::make_spec(chip(sms)).value()) {
    for (const sim::Launch& each : launches) images_.push_back(sim::make_image(spec_, *each.kernel).value());
    distributor_.emplace(launches, sms, sim::FoldOptions{}, true);
    classes_ = distributor_->lend_first(false);
  }
  const std::vector<sim::SmClass>& classes() const { return classes_; }
  sim::CtaSource source(size_t launch, uint32_t sm) const { return distributor_->source(launch, sm); }

 private:
  sim::Spec spec_;
  std::vector<sim::KernelImage> images_;
  std::optional<sim::WorkDistributor> distributor_;
  std::vector<sim::SmClass> classes_;
};

TEST(WorkDistributor, LendsEverySmAsManyAsThereAre) {
  const traces::Kernel kernel = adder("alike", 11);
  const Distributor distributor(4, {launch(kernel)});
  ASSERT_THAT(distributor.classes(), SizeIs(1));
  EXPECT_THAT(distributor.classes()[0].indices, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(distributor.classes()[0].ctas[0], ElementsAre(traces::CtaRun{0, 2}));
  EXPECT_EQ(distributor.source(0, 3), sim::CtaSource::kLoan);
}

TEST(WorkDistributor, HandsOutOneByOneWhatIsLessThanTwoForEach) {
  const traces::Kernel kernel = adder("alike", 7);
  const Distributor distributor(4, {launch(kernel)});
  ASSERT_THAT(distributor.classes(), SizeIs(1));
  EXPECT_THAT(distributor.classes()[0].ctas[0], IsEmpty());
  EXPECT_EQ(distributor.source(0, 0), sim::CtaSource::kQueue);
}

TEST(WorkDistributor, GivesNothingToSmsOutsideTheRange) {
  const traces::Kernel kernel = adder("alike", 9);
  std::vector<sim::Launch> launches = {launch(kernel)};
  launches[0].sms = {1, 2};
  const Distributor distributor(4, launches);
  ASSERT_THAT(distributor.classes(), SizeIs(1)) << "SMs without any launch make no class";
  EXPECT_THAT(distributor.classes()[0].indices, ElementsAre(1, 2));
  EXPECT_EQ(distributor.source(0, 0), sim::CtaSource::kList);
}

// The one CTA of the long kernel fills SM 0 to the end. CTAs of the short kernel go to SM 1 as soon as it has room:
// nine of them take nine times as long as one.
TEST(WorkDistributor, GivesTheNextCtaToTheSmThatHasRoom) {
  const traces::Kernel blocker = adder("long", 1, 5000);
  const traces::Kernel one = adder("short", 1);
  const traces::Kernel nine = adder("short", 9);
  const auto end = [&](const traces::Kernel& kernel) {
    const std::vector<sim::Launch> launches = {launch(blocker), launch(kernel, 1)};
    const sim::Outcome outcome = sim::simulate(chip(2), launches, {.fold = {.mode = sim::FoldMode::kExact}}).value();
    EXPECT_GT(outcome.kernels[0].end_cycle, outcome.kernels[1].end_cycle);
    EXPECT_EQ(outcome.kernels[1].end_cycle, sim::reference(*sim::make_spec(chip(2)), launches)[1].end);
    return outcome.kernels[1].end_cycle - outcome.kernels[1].start_cycle;
  };
  EXPECT_NEAR(static_cast<double>(end(nine)), static_cast<double>(9 * end(one)), static_cast<double>(end(one)));
}

// Three CTAs of the first kernel and one of the second, on four SMs. The second kernel's CTA goes to the empty SM. Two
// CTAs would fit on one SM but take longer.
TEST(WorkDistributor, GivesTheFirstCtaToTheSmWithMostRoom) {
  const traces::Kernel three = adder("three", 3, 1000, "0");
  const traces::Kernel single = adder("single", 1, 1000, "0");
  const sim::Outcome outcome =
      sim::simulate(chip(4), {launch(three), launch(single, 1)}, {.all_sms = true, .timeline = true}).value();
  EXPECT_EQ(outcome.sms_simulated, 4);
}

}  // namespace
}  // namespace warpfold::test
