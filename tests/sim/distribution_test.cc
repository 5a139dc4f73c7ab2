#include "sim/gpu/distribution.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

namespace warpfold::sim {
namespace {

traces::Kernel grid(std::vector<traces::CtaRun> runs) {
  traces::Kernel kernel;
  kernel.grid = std::move(runs);
  return kernel;
}

Launch on(const traces::Kernel& kernel, const SmRange& sms) {
  Launch launch;
  launch.kernel = &kernel;
  launch.sms = sms;
  return launch;
}

TEST(Distribution, ARoundGridNeedsOneClass) {
  const traces::Kernel kernel = grid({{0, 264}});
  const std::vector<SmClass> classes = sm_classes(deal(kernel, 132));
  ASSERT_EQ(classes.size(), 1);
  EXPECT_EQ(classes[0].sms, 132);
  EXPECT_EQ(classes[0].ctas[0], (std::vector<traces::CtaRun>{{0, 2}}));
}

TEST(Distribution, ARestSplitsTheSms) {
  const traces::Kernel kernel = grid({{0, 140}});
  std::map<uint64_t, uint64_t> sms_by_ctas;
  for (const SmClass& sm_class : sm_classes(deal(kernel, 132))) sms_by_ctas[sm_class.ctas[0][0].count] = sm_class.sms;
  EXPECT_EQ(sms_by_ctas, (std::map<uint64_t, uint64_t>{{1, 124}, {2, 8}}));
}

TEST(Distribution, IdleSmsMakeNoClass) {
  const traces::Kernel kernel = grid({{0, 5}});
  const std::vector<SmClass> classes = sm_classes(deal(kernel, 132));
  ASSERT_EQ(classes.size(), 1);
  EXPECT_EQ(classes[0].sms, 5);
}

// Each kernel's CTAs go round its own SMs; what neither has makes no class.
TEST(Distribution, RangesKeepKernelsApart) {
  const traces::Kernel one = grid({{0, 8}});
  const traces::Kernel other = grid({{0, 3}});
  const std::vector<Launch> launches = {on(one, {0, 4}), on(other, {4, 2})};
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> sms;
  const auto ctas = [](const std::vector<traces::CtaRun>& runs) { return runs.empty() ? 0 : runs[0].count; };
  for (const SmClass& sm_class : sm_classes(deal(launches, 8)))
    sms[{ctas(sm_class.ctas[0]), ctas(sm_class.ctas[1])}] = sm_class.sms;
  EXPECT_EQ(sms, (std::map<std::pair<uint64_t, uint64_t>, uint64_t>{{{2, 0}, 4}, {{0, 2}, 1}, {{0, 1}, 1}}));
}

TEST(Distribution, ARangeOfNoneIsTheWholeChip) {
  const traces::Kernel kernel = grid({{0, 8}});
  const std::vector<SmClass> classes = sm_classes(deal({on(kernel, {0, 0}), on(kernel, {2, 4})}, 8));
  uint64_t ctas = 0;
  for (const SmClass& sm_class : classes) ctas += sm_class.sms * (sm_class.ctas[0][0].count + (sm_class.ctas[1].empty() ? 0 : 2));
  EXPECT_EQ(ctas, 16);
}

TEST(Distribution, ClassesOfCtasKeepTheirOrder) {
  // Four SMs, CTAs a a a b b b b b: SM 0 gets a b, SM 3 gets b b.
  const traces::Kernel kernel = grid({{0, 3}, {1, 5}});
  std::map<std::vector<uint64_t>, uint64_t> found;
  for (const SmClass& sm_class : sm_classes(deal(kernel, 4))) {
    std::vector<uint64_t> sequence;
    for (const traces::CtaRun& run : sm_class.ctas[0]) sequence.insert(sequence.end(), run.count, run.cta_class);
    found[sequence] = sm_class.sms;
  }
  EXPECT_EQ(found, (std::map<std::vector<uint64_t>, uint64_t>{{{0, 1}, 3}, {{1, 1}, 1}}));
}

// Two SMs, CTAs of 3, 1, 1, 1, 2 instructions: the long one keeps SM 0 busy while SM 1 takes three short ones.
TEST(Distribution, UnequalCtasGoToTheSmWithTheLeastWork) {
  traces::Kernel kernel = grid({{0, 1}, {1, 3}, {2, 1}});
  kernel.parameters = {"trips"};
  kernel.cta_classes = {{"long", {3}}, {"short", {1}}, {"middle", {2}}};
  kernel.roles = {{"role", 1, {traces::Loop{{.parameter = 0}, {traces::Block{{isa::Instruction{}}}}}}}};
  std::map<std::vector<traces::CtaRun>, uint64_t, decltype([](const auto& a, const auto& b) {
             return std::ranges::lexicographical_compare(a, b, {}, &traces::CtaRun::cta_class, &traces::CtaRun::cta_class);
           })>
      found;
  for (const SmClass& sm_class : sm_classes(deal(kernel, 2))) found[sm_class.ctas[0]] = sm_class.sms;
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found.begin()->first, (std::vector<traces::CtaRun>{{0, 1}, {2, 1}}));
  EXPECT_EQ(found.rbegin()->first, (std::vector<traces::CtaRun>{{1, 3}}));
}

RC_GTEST_PROP(Distribution, DealsEveryCtaOnceAndInOrder, ()) {
  const auto sms = *rc::gen::inRange<uint32_t>(1, 20);
  std::vector<traces::Kernel> kernels;
  for (int k = 0; k < *rc::gen::inRange(1, 4); ++k) {
    std::vector<traces::CtaRun> runs;
    for (int r = 0; r < *rc::gen::inRange(1, 6); ++r)
      runs.push_back({*rc::gen::inRange<uint32_t>(0, 3), *rc::gen::inRange<uint64_t>(1, 30)});
    kernels.push_back(grid(std::move(runs)));
  }
  std::vector<Launch> launches;
  for (const traces::Kernel& kernel : kernels) launches.push_back(on(kernel, {}));
  // What each SM must receive, dealt one by one.
  std::map<std::vector<std::vector<uint32_t>>, uint64_t> expected;
  for (uint32_t sm = 0; sm < sms; ++sm) {
    std::vector<std::vector<uint32_t>> dealt(kernels.size());
    for (size_t k = 0; k < kernels.size(); ++k) {
      uint64_t index = 0;
      for (const traces::CtaRun& run : kernels[k].grid) {
        for (uint64_t i = 0; i < run.count; ++i, ++index) {
          if (index % sms == sm) dealt[k].push_back(run.cta_class);
        }
      }
    }
    const bool idle = std::ranges::all_of(dealt, [](const auto& of_kernel) { return of_kernel.empty(); });
    if (!idle) ++expected[dealt];
  }
  std::map<std::vector<std::vector<uint32_t>>, uint64_t> found;
  for (const SmClass& sm_class : sm_classes(deal(launches, sms))) {
    std::vector<std::vector<uint32_t>> dealt;
    for (const auto& runs : sm_class.ctas) {
      auto& of_kernel = dealt.emplace_back();
      for (const traces::CtaRun& run : runs) of_kernel.insert(of_kernel.end(), run.count, run.cta_class);
    }
    found[dealt] += sm_class.sms;
  }
  RC_ASSERT(found == expected);
}

// Dealt at once as one by one: to the SM with the least work, the first of equals.
RC_GTEST_PROP(Distribution, DealsUnequalCtasAsOneByOne, ()) {
  traces::Kernel kernel;
  kernel.parameters = {"trips"};
  kernel.roles = {{"role", 1, {traces::Loop{{.parameter = 0}, {traces::Block{{isa::Instruction{}}}}}}}};
  for (int c = 0; c < 3; ++c) kernel.cta_classes.push_back({"c", {*rc::gen::inRange<uint64_t>(1, 12)}});
  for (int r = 0; r < *rc::gen::inRange(1, 8); ++r)
    kernel.grid.push_back({*rc::gen::inRange<uint32_t>(0, 3), *rc::gen::inRange<uint64_t>(1, 60)});
  const auto sms = *rc::gen::inRange<uint32_t>(1, 20);
  const auto length = [&](const traces::CtaRun& run) { return kernel.cta_classes[run.cta_class].values[0]; };
  std::vector<std::vector<uint32_t>> expected(sms);
  std::vector<uint64_t> given(sms);
  for (const traces::CtaRun& run : kernel.grid) {
    for (uint64_t i = 0; i < run.count; ++i) {
      const auto least = static_cast<size_t>(std::ranges::min_element(given) - given.begin());
      expected[least].push_back(run.cta_class);
      given[least] += length(run);
    }
  }
  std::erase_if(expected, [](const auto& dealt) { return dealt.empty(); });
  std::vector<std::vector<uint32_t>> found;
  const Dealing dealing = deal(kernel, sms);
  for (const CtaList& of_sm : dealing.front()) {
    if (of_sm.empty()) continue;
    auto& dealt = found.emplace_back();
    for (const traces::CtaRun& run : of_sm) dealt.insert(dealt.end(), run.count, run.cta_class);
  }
  RC_ASSERT(found == expected);
}

TEST(Distribution, DealsAsManyAsThereAre) {
  traces::Kernel kernel = grid({{0, 1'000'000'000'000}, {1, 1}});
  kernel.parameters = {"trips"};
  kernel.cta_classes = {{"long", {7}}, {"short", {1}}};
  kernel.roles = {{"role", 1, {traces::Loop{{.parameter = 0}, {traces::Block{{isa::Instruction{}}}}}}}};
  uint64_t ctas = 0;
  for (const SmClass& sm_class : sm_classes(deal(kernel, 132))) {
    for (const traces::CtaRun& run : sm_class.ctas[0]) ctas += sm_class.sms * run.count;
  }
  EXPECT_EQ(ctas, 1'000'000'000'001);
}

}  // namespace
}  // namespace warpfold::sim
