// How much of each kernel's slowdown the account explains, on the paper's overlap: GEMMs beside random numbers.

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "configs/load.h"
#include "tests/claims/claim.h"
#include "tests/source_dir.h"
#include "tools/warpfold/run/runner.h"

namespace warpfold::test {
namespace {

using Settings = std::vector<std::string>;

// Each is simulated once.
const configs::Result& result_of(const std::string& scenario, const Settings& settings) {
  static std::map<std::pair<std::string, Settings>, configs::Result> known;
  const auto at = known.find({scenario, settings});
  if (at != known.end()) return at->second;
  const std::string file = std::string(WARPFOLD_SOURCE_DIR "/configs/scenarios/") + scenario + ".textproto";
  auto loaded = configs::load_scenario(file, settings);
  if (!loaded) throw std::runtime_error(loaded.error().text());
  workloads::KernelMaker kernels(file);
  auto planned = cli::plan_scenario(std::move(*loaded), kernels);
  if (!planned) throw std::runtime_error(planned.error().text());
  auto results = cli::Runner(kernels, "", {}).run({*planned});
  if (!results) throw std::runtime_error(results.error().text);
  return known[{scenario, settings}] = std::move(results->front());
}

// Of a kernel, whose losses have to sum to its slowdown.
double explained(const configs::Result& result, const std::string& name) {
  for (const configs::KernelResult& kernel : result.kernels()) {
    if (kernel.name() != name) continue;
    const configs::Slowdown& slowdown = kernel.slowdown();
    double sum = 0;
    for (const configs::Loss& loss : slowdown.losses()) sum += loss.cycles();
    const double more = static_cast<double>(slowdown.cycles()) - static_cast<double>(slowdown.solo_cycles());
    EXPECT_NEAR(sum, more, 1) << name;
    return slowdown.explained();
  }
  throw std::runtime_error("no kernel " + name);
}

// Neither less nor, by as much, more than there is.
void expect_explained(const std::string& scenario, const std::string& policy, const std::string& kernel, Settings settings = {}) {
  settings.push_back("policy.kind=" + policy);
  expect_between({"share of the slowdown of " + kernel + " that the account explains, " + policy, 1,
                  explained(result_of(scenario, settings), kernel)},
                 0.9, 1.1);
}

TEST(Explained, RandomNumbersWithACarveOutWithin10Percent) { expect_explained("qkv_philox_llama3_70b", "CARVE_OUT", "rng"); }
TEST(Explained, RandomNumbersSideBySideWithin10Percent) { expect_explained("qkv_philox_llama3_70b", "CONCURRENT", "rng"); }
TEST(Explained, RandomNumbersBesideTheGemmsOfABlockWithin10Percent) { expect_explained("block_llama3_70b", "CARVE_OUT", "rng"); }

// A GEMM that loses: promoted sums, and the issue slot to the youngest warp.
TEST(Explained, TheGemmBesideRandomNumbersWithin10Percent) {
  expect_explained("qkv_philox_llama3_70b", "CARVE_OUT", "qkv",
                   {"gpu.sub_core.issue_policy=CGGTY", "kernel.qkv.hopper_gemm.fp8_accumulation=PROMOTED"});
}

}  // namespace
}  // namespace warpfold::test
