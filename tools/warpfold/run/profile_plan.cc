#include "tools/warpfold/run/profile_plan.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "sim/analytic/limiters.h"
#include "tools/warpfold/run/validation_points.h"
#include "workloads/workloads.h"

namespace warpfold::cli {
namespace {

namespace fs = std::filesystem;

// A kernel's name in a scenario: the row of the report, "vectorized_elementwise_kernel_6".
std::string scenario_name(const PlanCandidate& candidate) {
  std::string name;
  for (const char c : candidate.short_name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') break;
    name += c;
  }
  return (name.empty() ? "kernel" : name) + "_" + std::to_string(candidate.row);
}

// The candidate's kernel, whose files are found from anywhere.
configs::Kernel kernel_of(const PlanCandidate& candidate, const std::string& name, uint32_t stream) {
  configs::Kernel kernel = candidate.run.scenario.kernel(0);
  kernel.set_name(name);
  kernel.set_stream(stream);
  if (kernel.has_listing() && fs::path(kernel.listing().path()).is_relative())
    kernel.mutable_listing()->set_path(fs::absolute(fs::path(candidate.run.file).parent_path() / kernel.listing().path()).string());
  return kernel;
}

class Planner {
 public:
  Planner(const std::vector<PlanCandidate>& candidates, const profile::Independence& independence, const configs::Gpu& gpu,
          std::string gpu_file, const std::string& command_line, const RunOptions& how, configs::ProfileReport& report)
      : candidates_(candidates),
        independence_(independence),
        gpu_(gpu),
        gpu_file_(std::move(gpu_file)),
        fold_error_(how.folding.options.error),
        points_(how, command_line, ""),
        report_(report) {}

  // First each alone, on the GPU that both of a pair have: a row of measurements may set the clock of its own kernel.
  Outcome<void> plan() {
    for (size_t c = 0; c < candidates_.size(); ++c) points_.add(run_of({c}), false);
    if (auto simulated = points_.simulate_all(); !simulated) return simulated;
    find_pairs();
    for (const Pair& pair : pairs_) {
      if (!pair.simulated) continue;
      points_.add(run_of({pair.one, pair.other}), false);
      points_.add(run_of({pair.other, pair.one}), false);
    }
    if (auto simulated = points_.simulate_all(); !simulated) return simulated;
    for (const Pair& pair : pairs_) take(pair);
    choose();
    return {};
  }

 private:
  struct Pair {
    size_t one;
    size_t other;
    bool simulated;  // the bound leaves something to gain
    configs::ProfiledPair* said;
  };

  void find_pairs() {
    for (size_t one = 0; one < candidates_.size(); ++one) {
      for (size_t other = one + 1; other < candidates_.size(); ++other) {
        const bool stated = independence_.states(candidates_[one].name, candidates_[other].name);
        if (!independence_.empty() && !stated) continue;
        add_pair(one, other, stated || std::ranges::find(candidates_[one].together, other) != candidates_[one].together.end());
      }
    }
  }

  void add_pair(size_t one, size_t other, bool independent) {
    const PlanCandidate &a = candidates_[one], &b = candidates_[other];
    configs::ProfiledPair& said = *report_.add_pairs();
    said.set_one(a.short_name);
    said.set_other(b.short_name);
    said.set_one_row(a.row);
    said.set_other_row(b.row);
    said.set_independent(independent);
    said.set_times(std::min(a.launches, b.launches));
    Pair pair{one, other, false, &said};
    pairs_.push_back(pair);
    const auto &first_alone = points_.find(run_of({one}), false), &second_alone = points_.find(run_of({other}), false);
    if (!first_alone || !second_alone) return said.set_not_run((first_alone ? second_alone : first_alone).error().text);
    said.set_sequential_us(us(*first_alone) + us(*second_alone));
    workloads::KernelMaker maker(a.run.file);
    const auto first = maker.make(kernel_of(a, "a", 0), gpu_), second = maker.make(kernel_of(b, "b", 1), gpu_);
    if (!first || !second) {
      said.set_not_run((first ? second : first).error().message);
    } else if (const auto bound = sim::limiters_of_any_policy(gpu_, {&*first, &*second}); !bound) {
      said.set_not_run(bound.error().message);
    } else {
      // Neither is faster beside the other than alone.
      said.set_bound_us(std::max({bound->lower_bound() / gpu_.clock_mhz(), us(*first_alone), us(*second_alone)}));
      pairs_.back().simulated = said.bound_us() < said.sequential_us();
    }
  }

  static double us(const configs::SimulatedPoint& point) { return static_cast<double>(point.total_cycles()) / point.clock_mhz(); }

  // Candidates beside each other, a stream each, the first with priority: its CTAs are placed before those of the other.
  validation::Run run_of(const std::vector<size_t>& together) const {
    validation::Run run;
    run.file = candidates_[together.front()].run.file;
    run.scenario.set_name("profile");
    *run.scenario.mutable_gpu() = gpu_;
    for (uint32_t stream = 0; stream < together.size(); ++stream)
      *run.scenario.add_kernel() = kernel_of(candidates_[together[stream]], stream == 0 ? "a" : "b", stream);
    if (together.size() > 1) run.scenario.mutable_kernel(0)->set_priority(1);
    run.scenario.mutable_policy()->set_kind(configs::CONCURRENT);
    return run;
  }

  // A gain within the error of bounded folding is none.
  void take(const Pair& pair) {
    if (!pair.simulated) return;
    const auto& one_first = points_.find(run_of({pair.one, pair.other}), false);
    const auto& other_first = points_.find(run_of({pair.other, pair.one}), false);
    if (!one_first || !other_first) return pair.said->set_not_run((one_first ? other_first : one_first).error().text);
    const bool one = us(*one_first) <= us(*other_first);
    const double together_us = us(one ? *one_first : *other_first);
    pair.said->set_first_row(candidates_[one ? pair.one : pair.other].row);
    pair.said->set_concurrent_us(together_us);
    const double gain = pair.said->sequential_us() - together_us;
    const double error = fold_error_ * (pair.said->sequential_us() + together_us);
    if (gain < 0 || gain > error) pair.said->set_gain_us(gain * static_cast<double>(pair.said->times()));
  }

  void choose() {
    std::vector<Gain> gains;
    for (const Pair& pair : pairs_) gains.push_back({pair.one, pair.other, pair.said->gain_us()});
    configs::Scenario scenario;
    scenario.set_name("profile_plan");
    scenario.set_gpu_file(gpu_file_);
    scenario.mutable_policy()->set_kind(configs::CONCURRENT);
    std::vector<std::string> before;
    for (const size_t chosen : best_matching(candidates_.size(), gains)) {
      const Pair& pair = pairs_[chosen];
      pair.said->set_planned(true);
      report_.set_gain_us(report_.gain_us() + pair.said->gain_us());
      std::vector<std::string> names;
      for (const size_t each : {pair.one, pair.other}) {
        names.push_back(scenario_name(candidates_[each]));
        configs::Kernel& kernel = *scenario.add_kernel();
        kernel = kernel_of(candidates_[each], names.back(), each == pair.one ? 0 : 1);
        if (candidates_[each].row == pair.said->first_row()) kernel.set_priority(1);
        for (const std::string& name : before) kernel.add_after(name);
      }
      before = std::move(names);
    }
    if (scenario.kernel().empty()) return;
    std::string text;
    google::protobuf::TextFormat::PrintToString(scenario, &text);
    report_.set_plan("# One launch of each pair of the plan, the pairs one after the other.\n" + text);
  }

  const std::vector<PlanCandidate>& candidates_;
  const profile::Independence& independence_;
  const configs::Gpu& gpu_;
  std::string gpu_file_;
  double fold_error_;
  ValidationPoints points_;
  configs::ProfileReport& report_;
  std::vector<Pair> pairs_{};
};

}  // namespace

std::vector<size_t> best_matching(size_t kernels, const std::vector<Gain>& gains) {
  // best[s]: the largest gain within the subset s, and the pair that its highest member takes; none: it stays alone.
  struct Best {
    double gain = 0;
    size_t pair = SIZE_MAX;
  };
  std::vector<Best> best(size_t{1} << kernels);
  for (size_t subset = 1; subset < best.size(); ++subset) {
    size_t highest = 0;
    for (size_t k = 0; k < kernels; ++k) highest = (subset >> k & 1) != 0 ? k : highest;
    best[subset] = {best[subset & ~(size_t{1} << highest)].gain, SIZE_MAX};
    for (size_t g = 0; g < gains.size(); ++g) {
      const size_t pair = size_t{1} << gains[g].one | size_t{1} << gains[g].other;
      if (std::max(gains[g].one, gains[g].other) != highest || (subset & pair) != pair || gains[g].gain <= 0) continue;
      const double gain = gains[g].gain + best[subset & ~pair].gain;
      if (gain > best[subset].gain) best[subset] = {gain, g};
    }
  }
  std::vector<size_t> chosen;
  for (size_t subset = best.size() - 1; subset != 0;) {
    size_t highest = 0;
    for (size_t k = 0; k < kernels; ++k) highest = (subset >> k & 1) != 0 ? k : highest;
    const size_t pair = best[subset].pair;
    if (pair != SIZE_MAX) chosen.push_back(pair);
    subset &= pair == SIZE_MAX ? ~(size_t{1} << highest) : ~(size_t{1} << gains[pair].one | size_t{1} << gains[pair].other);
  }
  std::ranges::sort(chosen);
  return chosen;
}

Outcome<void> plan_pairs(const std::vector<PlanCandidate>& candidates, const profile::Independence& independence,
                         const configs::Gpu& gpu, const std::string& gpu_file, const std::string& command_line,
                         const RunOptions& how, configs::ProfileReport& report) {
  return Planner(candidates, independence, gpu, gpu_file, command_line, how, report).plan();
}

}  // namespace warpfold::cli
