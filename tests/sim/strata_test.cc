// Of many SM classes that are unlike, which are simulated, and what they say of the others.

#include "sim/sampling/strata.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/sm/make_spec.h"
#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

using sim::SmClass;
using sim::Stratum;

// CTAs of 200,000 instructions a warp, of which an SM holds one.
class Strata : public testing::Test {
 protected:
  // Class c of `count` has c + 1 CTAs.
  std::vector<SmClass> classes(uint64_t count) const {
    std::vector<SmClass> all;
    for (uint64_t c = 0; c < count; ++c) all.push_back({.sms = 1, .ctas = {{{0, c + 1}}}});
    return all;
  }
  std::vector<Stratum> stratify(const std::vector<SmClass>& all, bool may_err = true) const {
    return sim::stratify(all, {image_}, may_err);
  }

  traces::Kernel kernel_ = KernelText("k", "sm_90")
                               .options("registers=64")
                               .classes("parameter t\nclass a t=100000\ngrid a*1\n")
                               .role("warps", 32, loop("t", {op("IADD3 R0, R1, R2, R3"), op("IADD3 R1, R0, R2, R3")}))
                               .kernel();
  sim::Spec spec_ = *sim::make_spec(one_sm("h100_sxm"));
  sim::KernelImage image_ = *sim::make_image(spec_, kernel_);
};

uint64_t ctas(const SmClass& of) { return of.ctas[0][0].count; }

TEST_F(Strata, FewClassesAreAllSimulated) {
  EXPECT_EQ(stratify(classes(16)).size(), 16);
  EXPECT_EQ(stratify(classes(100), false).size(), 100);
}

TEST_F(Strata, TheClassWithMostIsApartAndOfTheOthersTheMeanIsSimulated) {
  const std::vector<Stratum> strata = stratify(classes(100));
  ASSERT_EQ(strata.size(), 16);
  EXPECT_EQ(ctas(strata.front().sm_class), 100);
  EXPECT_TRUE(strata.front().others.empty());
  for (const Stratum& each : strata) {
    EXPECT_LE(each.sm_class.sms, 13);
    uint64_t sum = ctas(each.sm_class);
    for (const Stratum::Other& other : each.others) sum += ctas(other.sm_class);
    EXPECT_NEAR(static_cast<double>(sum) / static_cast<double>(each.sm_class.sms), static_cast<double>(ctas(each.sm_class)), 0.5);
  }
}

// Their order is what they differ in.
TEST_F(Strata, AsManyAreSimulatedWhereAllHaveAsMuch) {
  EXPECT_EQ(stratify(std::vector<SmClass>(40, classes(9).back())).size(), 16);
}

TEST_F(Strata, EverySmIsOfOneStratumAndItsWorkIsAccountedFor) {
  const std::vector<SmClass> all = classes(100);
  uint64_t sms = 0;
  uint64_t dealt = 0;
  for (const Stratum& each : stratify(all)) {
    sms += each.sm_class.sms;
    EXPECT_EQ(each.sm_class.sms, each.others.size() + 1);
    dealt += each.sm_class.sms * ctas(each.sm_class) - each.less[0].ctas;
  }
  EXPECT_EQ(sms, 100);
  EXPECT_EQ(dealt, 100 * 101 / 2);
}

TEST_F(Strata, ClassesWithOtherLaunchesAreOfOtherStrata) {
  std::vector<SmClass> all;
  for (uint64_t c = 0; c < 40; ++c) {
    const sim::CtaList some{{0, c + 1}};
    all.push_back({.sms = 1, .ctas = {c % 2 == 0 ? some : sim::CtaList{}, c % 2 == 1 ? some : sim::CtaList{}}});
  }
  for (const Stratum& each : sim::stratify(all, {image_, image_}, true)) {
    for (const Stratum::Other& other : each.others) EXPECT_EQ(other.sm_class.ctas[0].empty(), each.sm_class.ctas[0].empty());
  }
}

sim::LaunchEnd sms(uint64_t count, double instructions, double bytes, double end = 0) {
  return {count, {instructions, bytes, instructions, bytes, 1}, end};
}
// Twenty SMs on which an instruction takes 2 cycles, a byte 5 and a launch 100, and every second one `apart` more or less.
std::vector<sim::LaunchEnd> simulated(double apart) {
  std::vector<sim::LaunchEnd> all;
  for (int i = 0; i < 20; ++i) {
    const double instructions = 100 + 10 * (i / 4);
    const double bytes = 50 + 10 * (i / 2 % 2);
    all.push_back(sms(1, instructions, bytes, 2 * instructions + 5 * bytes + 100 + (i % 2 == 0 ? apart : -apart)));
  }
  return all;
}

TEST(LatestEnd, IsKnownWhereEndsAreWhatIsReckoned) {
  EXPECT_EQ(sim::latest_end_uncertainty(simulated(0), {}), 0);
  EXPECT_NEAR(sim::latest_end_uncertainty(simulated(0), {sms(1, 130, 60)}), 0, 1e-9);
  EXPECT_NEAR(sim::latest_end_uncertainty(simulated(0), {sms(1, 140, 72)}), 740.0 / 680 - 1, 1e-6);
}

TEST(LatestEnd, IsTheLaterTheMoreSmsMayBeIt) {
  const double scatter = 10 * std::sqrt(20.0 / (20 - 3));  // three features tell the ends
  EXPECT_NEAR(sim::latest_end_uncertainty(simulated(10), {sms(1, 140, 60)}), (680 + 1.645 * scatter) / 690 - 1, 1e-3);
  EXPECT_NEAR(sim::latest_end_uncertainty(simulated(10), {sms(10, 140, 60)}), (680 + 2.576 * scatter) / 690 - 1, 1e-3);
  EXPECT_EQ(sim::latest_end_uncertainty(simulated(10), {sms(1, 50, 50)}), 0);
}

TEST(LatestEnd, IsUnknownAfterOneEnd) { EXPECT_EQ(sim::latest_end_uncertainty({sms(1, 100, 0, 210)}, {sms(1, 50, 0)}), 1); }

}  // namespace
}  // namespace warpfold::test
