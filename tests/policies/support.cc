#include "tests/policies/support.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "configs/load.h"
#include "tests/source_dir.h"
#include "tools/warpfold/run/runner.h"
#include "traces/trace_file.h"

namespace warpfold::policies {

Bench::Bench(uint32_t sms) {
  std::string path = (std::filesystem::temp_directory_path() / "warpfold_policy_XXXXXX").string();
  folder_ = mkdtemp(path.data());
  gpu_ = "gpu_file: \"" WARPFOLD_SOURCE_DIR "/configs/gpus/h100_sxm.textproto\"\ngpu { sm_count: " + std::to_string(sms) +
         " kernel_launch_cycles: 0 sm { cta_launch_cycles: 0 cta_turnaround_cycles: 0 } }\n";
}

Bench::~Bench() { std::filesystem::remove_all(folder_); }

Bench& Bench::add(const traces::Kernel& kernel, const std::string& fields) {
  const std::string file = kernel.name + ".wft";
  if (const auto written = traces::write_trace(folder_ + "/" + file, {kernel}); !written) throw std::runtime_error(file);
  return add("kernel { name: \"" + kernel.name + "\" " + fields + " trace { path: \"" + file + "\" } }");
}

Bench& Bench::add(const std::string& kernel_in_full) {
  kernels_ += kernel_in_full + "\n";
  return *this;
}

Bench& Bench::policy(const std::string& fields) {
  policy_ = "policy { " + fields + " }\n";
  return *this;
}

configs::Scenario Bench::scenario(configs::PolicyKind kind) const {
  std::ofstream(file()) << gpu_ << kernels_ << policy_;
  auto scenario = configs::load_scenario(file(), {"policy.kind=" + configs::PolicyKind_Name(kind)});
  if (!scenario) throw std::runtime_error(scenario.error().text());
  return std::move(*scenario);
}

configs::Result Bench::run(configs::PolicyKind kind, const std::string& fold) const {
  cli::RunOptions options;
  options.folding.options.mode = fold == "off" ? sim::FoldMode::kOff : sim::FoldMode::kExact;
  workloads::KernelMaker kernels(file());
  const auto results = cli::Runner(kernels, "", options).run({{scenario(kind), plan(kind)}});
  if (!results) throw std::runtime_error(results.error().text);
  return results->front();
}

Plan Bench::plan(configs::PolicyKind kind) const {
  workloads::KernelMaker kernels(file());
  auto plan = make_plan(scenario(kind), kernels);
  if (!plan) throw std::runtime_error(plan.error().text());
  return std::move(*plan);
}

std::string Bench::refusal(configs::PolicyKind kind) const {
  workloads::KernelMaker kernels("s.textproto");
  const auto plan = make_plan(scenario(kind), kernels);
  return plan ? "accepted" : plan.error().text();
}

const configs::KernelResult& kernel(const configs::Result& result, const std::string& name) {
  const auto found = std::ranges::find(result.kernels(), name, &configs::KernelResult::name);
  if (found == result.kernels().end()) throw std::runtime_error("no kernel " + name);
  return *found;
}

const traces::Kernel& kernel(const Plan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.kernels, name, [](const PlannedKernel& each) { return each.kernel.name; });
  if (found == plan.kernels.end()) throw std::runtime_error("no kernel " + name);
  return found->kernel;
}

uint64_t issued(const Plan& plan, const std::string& name) { return traces::issued_instructions(kernel(plan, name)); }

}  // namespace warpfold::policies
