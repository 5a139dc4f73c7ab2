// Measures the effect of each mechanism of exact acceleration (sim/memo/memoizer.h):  bench_mechanisms [--fold exact] SCENARIO...
//
// Compares all policies of each scenario with all mechanisms and with each mechanism switched off, and prints a table in Markdown:
// millions of instructions replayed, and seconds of processor time. Instructions that several policies share count in each policy.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "configs/load.h"
#include "sim/memo/fold.h"
#include "tools/warpfold/run/planned.h"
#include "tools/warpfold/run/runner.h"
#include "workloads/policies/policy.h"

namespace warpfold {
namespace {

struct Cost {
  double millions = 0;  // instructions replayed
  double seconds = 0;
  std::vector<uint64_t> cycles{};  // of each policy
};

std::vector<cli::Planned> plan_all(workloads::KernelMaker& kernels) {
  std::vector<cli::Planned> planned;
  for (const policies::Policy* policy : policies::all()) {
    configs::Places places;
    auto scenario = configs::load_scenario(kernels.file(), {"policy.kind=" + configs::PolicyKind_Name(policy->kind())}, &places);
    if (!scenario) continue;
    auto each = cli::plan_scenario(std::move(*scenario), kernels, places);
    if (each) planned.push_back(std::move(*each));
  }
  return planned;
}

Cost cost_of(const std::string& file, sim::FoldMode mode, uint32_t disabled) {
  workloads::KernelMaker kernels(file);
  const std::vector<cli::Planned> planned = plan_all(kernels);
  cli::RunOptions options;
  options.folding.options.mode = mode;
  options.folding.options.disabled = disabled;
  const std::clock_t begin = std::clock();
  const auto results = cli::Runner(kernels, "", options).run(planned);
  if (!results) {
    std::fprintf(stderr, "%s: %s\n", file.c_str(), results.error().text.c_str());
    std::exit(1);
  }
  Cost cost{.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC};
  for (const configs::Result& result : *results) {
    cost.millions += static_cast<double>(result.instructions_replayed()) / 1e6;
    cost.cycles.push_back(result.total_cycles());
  }
  return cost;
}

std::string row(const std::string& name, const std::vector<Cost>& costs) {
  std::string text = "| " + name + " |";
  for (const Cost& cost : costs) {
    char cell[64];
    std::snprintf(cell, sizeof cell, " %.1f, %.1f s |", cost.millions, cost.seconds);
    text += cell;
  }
  return text;
}

int run(const std::vector<std::string>& files, sim::FoldMode mode) {
  std::string header = "| scenario | all |";
  std::string line = "|---|---|";
  for (int m = 0; m < sim::kMechanisms; ++m) {
    header += " no " + std::string(sim::mechanism_name(static_cast<sim::Mechanism>(m))) + " |";
    line += "---|";
  }
  std::printf("%s\n%s\n", header.c_str(), line.c_str());
  std::vector<Cost> sums(sim::kMechanisms + 1);
  for (const std::string& file : files) {
    std::vector<Cost> costs = {cost_of(file, mode, 0)};
    for (int m = 0; m < sim::kMechanisms; ++m) costs.push_back(cost_of(file, mode, 1U << m));
    for (size_t c = 0; c < costs.size(); ++c) {
      sums[c].millions += costs[c].millions;
      sums[c].seconds += costs[c].seconds;
      if (mode == sim::FoldMode::kExact && costs[c].cycles != costs.front().cycles)
        std::printf("%s: cycles differ without mechanism %zu\n", file.c_str(), c);
    }
    const size_t slash = file.find_last_of('/') + 1;
    std::printf("%s\n", row(file.substr(slash, file.find(".textproto") - slash), costs).c_str());
    std::fflush(stdout);
  }
  std::printf("%s\n", row("all", sums).c_str());
  return 0;
}

}  // namespace
}  // namespace warpfold

int main(int argc, char** argv) {
  std::vector<std::string> files(argv + 1, argv + argc);
  auto mode = warpfold::sim::FoldMode::kAuto;
  if (files.size() > 2 && files[0] == "--fold" && files[1] == "exact") {
    mode = warpfold::sim::FoldMode::kExact;
    files.erase(files.begin(), files.begin() + 2);
  }
  return warpfold::run(files, mode);
}
