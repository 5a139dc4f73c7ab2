// The cause that a report names first is what more of would help: doubling its resource is among the three largest gains.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "configs/resources.h"
#include "tests/source_dir.h"
#include "tools/warpfold/figures/reason.h"
#include "tools/warpfold/run/what_if_runs.h"

namespace warpfold::test {
namespace {

const std::filesystem::path kScenarios = WARPFOLD_SOURCE_DIR "/configs/scenarios";

configs::Result ask(const std::string& file, bool all_resources) {
  cli::WhatIfQuestion question;
  question.scenario.file = file;
  for (const configs::ScalableResource& resource : configs::scalable_resources()) {
    if (!resource.many && all_resources) question.resources.push_back(&resource);
  }
  cli::RunOptions how;
  how.jobs = 2;
  auto result = cli::ask_what_if(question, how);
  if (!result) throw std::runtime_error(file + ": " + result.error().text);
  return *result;
}

// How many causes there were, and how many of them the what-if confirmed. A cause that no machine has more of (kernels that do not
// overlap, idle SMs) is no question for it.
struct Confirmed {
  int causes = 0;
  int confirmed = 0;

  double share() const { return causes == 0 ? 1 : static_cast<double>(confirmed) / causes; }
};

void hold(const std::string& name, Confirmed& sum) {
  constexpr int kLargest = 3;
  const configs::Result result = ask(kScenarios / (name + ".textproto"), true);
  const cli::Reason reason = cli::reason_of(result);
  std::cout << name << ": " << reason.text;
  if (reason.resource.empty()) {
    std::cout << "; no resource\n";
    return;
  }
  const auto& resources = result.what_if().resources();
  const auto place = std::ranges::find(resources, reason.resource, &configs::VariedResource::resource) - resources.begin();
  ++sum.causes;
  sum.confirmed += place < kLargest;
  std::cout << "; " << reason.resource << " is number " << place + 1 << ", after " << resources[0].resource() << " with "
            << resources[0].better().speedup() << (place < kLargest ? "" : "  NOT CONFIRMED") << "\n";
}

void expect_nine_in_ten(const Confirmed& sum) {
  std::cout << sum.confirmed << " of " << sum.causes << " causes confirmed, " << 100 * sum.share() << " %\n";
  EXPECT_GE(sum.share(), 0.9);
}

TEST(Cause, IsAmongTheThreeLargestGains) {
  Confirmed sum;
  for (const char* name : {"qkv_philox_small", "decode_h100", "stream_copy_h100", "gemm_h100_bf16_8192", "moe_up_h100",
                           "gemm_relu_h100", "xqa_decode_h200"})
    hold(name, sum);
  EXPECT_EQ(sum.confirmed, sum.causes);
  expect_nine_in_ten(sum);
}

}  // namespace
}  // namespace warpfold::test
