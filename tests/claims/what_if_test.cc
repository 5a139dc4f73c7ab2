// More of the resource that binds a kernel must help most: the first resource of the ranking, for kernels with known limits.

#include <gtest/gtest.h>

#include <stdexcept>

#include "configs/resources.h"
#include "tests/source_dir.h"
#include "tools/warpfold/run/what_if_runs.h"

namespace warpfold::test {
namespace {

configs::WhatIf ask(const std::string& scenario, std::vector<std::string> settings = {}) {
  cli::WhatIfQuestion question;
  question.scenario.file = WARPFOLD_SOURCE_DIR "/configs/scenarios/" + scenario + ".textproto";
  question.scenario.settings = std::move(settings);
  for (const configs::ScalableResource& resource : configs::scalable_resources()) {
    if (!resource.many) question.resources.push_back(&resource);
  }
  cli::RunOptions how;
  how.jobs = 2;
  auto result = cli::ask_what_if(question, how);
  if (!result) throw std::runtime_error(result.error().text);
  return result->what_if();
}

std::string first_of(const configs::WhatIf& what_if) { return what_if.resources(0).resource(); }

TEST(WhatIf, OfAGemmIsTheTensorCores) {
  const configs::WhatIf what_if = ask("gemm_h100_bf16_8192", {"size=4096"});
  EXPECT_EQ(first_of(what_if), "tensor");
  EXPECT_GT(what_if.resources(0).better().speedup(), 1.05 * what_if.resources(1).better().speedup());
}

TEST(WhatIf, OfRandomNumbersIsWhatTheyComputeWith) {
  const std::string first = first_of(ask("philox_h100", {"seq=2048"}));
  EXPECT_TRUE(first == "fma_heavy" || first == "alu" || first == "issue_slot") << first;
}

TEST(WhatIf, OfACopyIsDram) {
  const configs::WhatIf what_if = ask("stream_copy_h100");
  EXPECT_EQ(first_of(what_if), "dram");
  EXPECT_GT(what_if.resources(0).better().speedup(), 1.05 * what_if.resources(1).better().speedup());
}

}  // namespace
}  // namespace warpfold::test
