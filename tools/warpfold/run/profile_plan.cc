#include "tools/warpfold/run/profile_plan.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "sim/analytic/limiters.h"
#include "tools/warpfold/run/validation_points.h"
#include "workloads/workloads.h"

namespace warpfold::cli {
namespace {

namespace fs = std::filesystem;

// Returns a kernel's name in a scenario, with its row of the report: "vectorized_elementwise_kernel_6".
std::string scenario_name(const PlanCandidate& candidate) {
  std::string name;
  for (const char c : candidate.short_name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') break;
    name += c;
  }
  return (name.empty() ? "kernel" : name) + "_" + std::to_string(candidate.row);
}

// Returns the run's kernel with absolute paths of its files.
configs::Kernel kernel_of(const validation::Run& run, const std::string& name, uint32_t stream) {
  configs::Kernel kernel = run.scenario.kernel(0);
  kernel.set_name(name);
  kernel.set_stream(stream);
  if (kernel.has_listing() && fs::path(kernel.listing().path()).is_relative())
    kernel.mutable_listing()->set_path(fs::absolute(fs::path(run.file).parent_path() / kernel.listing().path()).string());
  return kernel;
}

double us(const configs::SimulatedPoint& point) { return static_cast<double>(point.total_cycles()) / point.clock_mhz(); }

// The candidates' runs alone, under one assumption about the demands of opaque kernels.
class DemandAssumption {
 public:
  DemandAssumption(const std::vector<PlanCandidate>& candidates, const PlanRequest& request)
      : candidates_(candidates), request_(request) {}

  // `demand`: of all opaque kernels; none: each has the demand of its candidate.
  Outcome<void> fit(std::optional<configs::OpaqueDemand> demand, ValidationPoints& points) {
    std::vector<OpaqueLaunch> launches;
    for (const PlanCandidate& candidate : candidates_) {
      if (!candidate.opaque) continue;
      launches.push_back(*candidate.opaque);
      launches.back().demand = demand.value_or(launches.back().demand);
    }
    auto fitted = stand_ins(launches, request_.gpu, points);
    if (!fitted) return std::unexpected(fitted.error());
    auto next = fitted->begin();
    for (const PlanCandidate& candidate : candidates_) {
      if (!candidate.opaque) {
        alone_.emplace_back(candidate.run);
        continue;
      }
      const Outcome<StandIn>& stand_in = *next++;
      alone_.push_back(stand_in ? Outcome<validation::Run>(stand_in->run) : std::unexpected(stand_in.error()));
    }
    return {};
  }

  const Outcome<validation::Run>& alone(size_t candidate) const { return alone_[candidate]; }
  bool has(size_t one, size_t other) const { return alone_[one] && alone_[other]; }

  // Returns a run of candidates side by side, with a stream for each. The first has priority: its CTAs are placed before those of
  // the other. All use the request's GPU, since a row of measurements may set the clock for its own kernel only.
  validation::Run together(const std::vector<size_t>& together) const {
    validation::Run run;
    run.file = alone_[together.front()]->file;
    run.scenario.set_name("profile");
    *run.scenario.mutable_gpu() = request_.gpu;
    for (uint32_t stream = 0; stream < together.size(); ++stream)
      *run.scenario.add_kernel() = kernel_of(*alone_[together[stream]], stream == 0 ? "a" : "b", stream);
    if (together.size() > 1) run.scenario.mutable_kernel(0)->set_priority(1);
    run.scenario.mutable_policy()->set_kind(configs::CONCURRENT);
    return run;
  }

 private:
  const std::vector<PlanCandidate>& candidates_;
  const PlanRequest& request_;
  std::vector<Outcome<validation::Run>> alone_{};
};

class Planner {
 public:
  Planner(const std::vector<PlanCandidate>& candidates, const PlanRequest& request, configs::ProfileReport& report)
      : candidates_(candidates), request_(request), points_(request.how, request.command_line, ""), report_(report) {}

  Outcome<void> plan() {
    if (auto fitted = assumed_.fit(std::nullopt, points_); !fitted) return fitted;
    if (std::ranges::any_of(candidates_, [](const PlanCandidate& candidate) { return candidate.opaque.has_value(); })) {
      for (const configs::OpaqueDemand demand : {configs::LATENCY, configs::DRAM, configs::ISSUE}) {
        if (auto fitted = others_.emplace_back(candidates_, request_).fit(demand, points_); !fitted) return fitted;
      }
    }
    add_alone(assumed_);
    for (const DemandAssumption& assumption : others_) add_alone(assumption);
    if (auto simulated = points_.simulate_all(); !simulated) return simulated;
    add_stand_ins();
    find_pairs();
    for (const Pair& pair : pairs_) {
      if (!pair.simulated) continue;
      add_points(assumed_, pair);
      for (const DemandAssumption& assumption : others_) {
        if (pair.said->opaque() && assumption.has(pair.one, pair.other)) add_points(assumption, pair);
      }
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
    bool simulated;  // the bound leaves room for a gain
    configs::ProfiledPair* said;
  };
  // The faster of the two runs, each with priority for another kernel.
  struct Together {
    double us;
    bool one_first;
  };

  void add_stand_ins() {
    for (size_t c = 0; c < candidates_.size(); ++c) {
      if (!candidates_[c].opaque || !assumed_.alone(c)) continue;
      const auto& alone = points_.find(assumed_.together({c}), false);
      if (!alone) continue;
      configs::ProfiledKernel& said = *report_.mutable_kernels(static_cast<int>(candidates_[c].row) - 1);
      said.set_stand_in_us(us(*alone));
      said.set_stand_in_demand(configs::OpaqueDemand_Name(candidates_[c].opaque->demand));
    }
  }

  void add_alone(const DemandAssumption& assumption) {
    for (size_t c = 0; c < candidates_.size(); ++c) {
      if (assumption.alone(c)) points_.add(assumption.together({c}), false);
    }
  }

  void add_points(const DemandAssumption& assumption, const Pair& pair) {
    points_.add(assumption.together({pair.one, pair.other}), false);
    points_.add(assumption.together({pair.other, pair.one}), false);
  }

  void find_pairs() {
    for (size_t one = 0; one < candidates_.size(); ++one) {
      for (size_t other = one + 1; other < candidates_.size(); ++other) {
        const bool stated = request_.independence.states(candidates_[one].names, candidates_[other].names);
        if (!request_.independence.empty() && !stated) continue;
        const bool together = std::ranges::find(candidates_[one].together, other) != candidates_[one].together.end();
        const uint64_t rarer = std::min(candidates_[one].launches, candidates_[other].launches);
        const auto recorded = stated ? std::nullopt : recorded_pairs(one, other);
        add_pair(one, other, stated || together || recorded, recorded.value_or(rarer));
      }
    }
  }

  std::string of_kernel(size_t candidate, const std::string& message) const {
    return candidates_[candidate].short_name + ": " + message;
  }

  // Number of independent pairs of launches; none if the execution trace does not say it.
  std::optional<uint64_t> recorded_pairs(size_t one, size_t other) const {
    const profile::IndependentPairs* const recorded = request_.dependences;
    if (recorded == nullptr || recorded->known[one] == 0 || recorded->known[other] == 0) return std::nullopt;
    const auto found = recorded->pairs.find(std::pair(static_cast<uint32_t>(one), static_cast<uint32_t>(other)));
    return found == recorded->pairs.end() ? 0 : found->second;
  }

  void add_pair(size_t one, size_t other, bool independent, uint64_t times) {
    const PlanCandidate &a = candidates_[one], &b = candidates_[other];
    configs::ProfiledPair& said = *report_.add_pairs();
    said.set_one(a.short_name);
    said.set_other(b.short_name);
    said.set_one_row(a.row);
    said.set_other_row(b.row);
    said.set_independent(independent);
    said.set_times(times);
    said.set_opaque(a.opaque || b.opaque);
    pairs_.push_back({one, other, false, &said});
    if (times == 0) return said.set_not_run("no two launches are independent by the execution trace");
    // Stand-ins do not model a unit that both need, such as the links to other GPUs of two collectives or the tensor pipe of two
    // convolutions.
    if (a.opaque && b.opaque && !a.family.empty() && a.family == b.family)
      return said.set_not_run("both are opaque and of the family " + a.family + ": they are likely to want the same unit");
    for (const size_t each : {one, other}) {
      if (!assumed_.alone(each)) return said.set_not_run(of_kernel(each, assumed_.alone(each).error().text));
      const auto& alone = points_.find(assumed_.together({each}), false);
      if (!alone) return said.set_not_run(of_kernel(each, alone.error().text));
    }
    const auto &first_alone = points_.find(assumed_.together({one}), false),
               &second_alone = points_.find(assumed_.together({other}), false);
    said.set_sequential_us(us(*first_alone) + us(*second_alone));
    workloads::KernelMaker maker(assumed_.alone(one)->file);
    const auto first = maker.make(kernel_of(*assumed_.alone(one), "a", 0), request_.gpu);
    const auto second = maker.make(kernel_of(*assumed_.alone(other), "b", 1), request_.gpu);
    if (!first || !second) {
      said.set_not_run(of_kernel(first ? other : one, (first ? second : first).error().message));
    } else if (const auto bound = sim::limiters_of_any_policy(request_.gpu, {&*first, &*second}); !bound) {
      said.set_not_run(bound.error().message);
    } else {
      // No kernel is faster beside another than alone.
      said.set_bound_us(std::max({bound->lower_bound() / request_.gpu.clock_mhz(), us(*first_alone), us(*second_alone)}));
      // An opaque kernel's resource is an assumption, so its bound does not end the search.
      pairs_.back().simulated = said.opaque() || said.bound_us() < said.sequential_us();
    }
  }

  Outcome<Together> together(const DemandAssumption& assumption, const Pair& pair) const {
    const auto& one_first = points_.find(assumption.together({pair.one, pair.other}), false);
    const auto& other_first = points_.find(assumption.together({pair.other, pair.one}), false);
    if (!one_first || !other_first) return std::unexpected((one_first ? other_first : one_first).error());
    return Together{std::min(us(*one_first), us(*other_first)), us(*one_first) <= us(*other_first)};
  }

  // Of the difference between both times, by bounded folding.
  double folding_error(double sequential_us, double together_us) const {
    return request_.how.folding.options.error * (sequential_us + together_us);
  }
  // A gain within the error of bounded folding counts as none.
  double gain_of(double sequential_us, double together_us, uint64_t times) const {
    const double gain = sequential_us - together_us;
    return gain < 0 || gain > folding_error(sequential_us, together_us) ? gain * static_cast<double>(times) : 0;
  }
  double error_of(const Pair& pair, double together_us) const {
    double error = folding_error(pair.said->sequential_us(), together_us);
    for (const size_t each : {pair.one, pair.other}) {
      const double measured_us = candidates_[each].measured_us;
      if (measured_us > 0) error += std::abs(us(*points_.find(assumed_.together({each}), false)) - measured_us);
    }
    return error * static_cast<double>(pair.said->times());
  }

  void take(const Pair& pair) {
    if (!pair.simulated) return;
    const auto ran = together(assumed_, pair);
    if (!ran) return pair.said->set_not_run(ran.error().text);
    pair.said->set_first_row(candidates_[ran->one_first ? pair.one : pair.other].row);
    pair.said->set_concurrent_us(ran->us);
    pair.said->set_gain_us(gain_of(pair.said->sequential_us(), ran->us, pair.said->times()));
    pair.said->set_error_us(error_of(pair, ran->us));
    pair.said->set_least_gain_us(pair.said->gain_us());
    pair.said->set_most_gain_us(pair.said->gain_us());
    for (const DemandAssumption& assumption : others_) {
      const auto gain = pair.said->opaque() ? gain_of(assumption, pair) : std::nullopt;
      if (!gain) continue;
      pair.said->set_least_gain_us(std::min(pair.said->least_gain_us(), *gain));
      pair.said->set_most_gain_us(std::max(pair.said->most_gain_us(), *gain));
    }
  }

  // Returns the gain under another assumption about opaque kernels; none if that assumption has no stand-in.
  std::optional<double> gain_of(const DemandAssumption& assumption, const Pair& pair) const {
    if (!assumption.has(pair.one, pair.other)) return std::nullopt;
    const auto ran = together(assumption, pair);
    const auto &one = points_.find(assumption.together({pair.one}), false),
               &other = points_.find(assumption.together({pair.other}), false);
    if (!ran || !one || !other) return std::nullopt;
    return gain_of(us(*one) + us(*other), ran->us, pair.said->times());
  }

  void choose() {
    std::vector<Gain> gains;
    for (const Pair& pair : pairs_) gains.push_back({pair.one, pair.other, pair.said->gain_us()});
    configs::Scenario scenario;
    scenario.set_name("profile_plan");
    scenario.set_gpu_file(request_.gpu_file);
    scenario.mutable_policy()->set_kind(configs::CONCURRENT);
    std::vector<std::string> before;
    bool opaque = false;
    for (const size_t chosen : best_matching(candidates_.size(), gains)) {
      const Pair& pair = pairs_[chosen];
      pair.said->set_planned(true);
      report_.set_gain_us(report_.gain_us() + pair.said->gain_us());
      report_.set_error_us(report_.error_us() + pair.said->error_us());
      report_.set_least_gain_us(report_.least_gain_us() + pair.said->least_gain_us());
      report_.set_most_gain_us(report_.most_gain_us() + pair.said->most_gain_us());
      if (pair.said->opaque()) report_.set_opaque_gain_us(report_.opaque_gain_us() + pair.said->gain_us());
      opaque = opaque || pair.said->opaque();
      std::vector<std::string> names;
      for (const size_t each : {pair.one, pair.other}) {
        names.push_back(scenario_name(candidates_[each]));
        configs::Kernel& kernel = *scenario.add_kernel();
        kernel = kernel_of(*assumed_.alone(each), names.back(), each == pair.one ? 0 : 1);
        if (candidates_[each].row == pair.said->first_row()) kernel.set_priority(1);
        for (const std::string& name : before) kernel.add_after(name);
      }
      before = std::move(names);
    }
    if (scenario.kernel().empty()) return;
    std::string text;
    google::protobuf::TextFormat::PrintToString(scenario, &text);
    report_.set_plan(
        "# One launch of each pair of the plan, the pairs one after the other.\n" +
        std::string(opaque
                        ? "# Kernels with `opaque` are stand-ins: their times are those of the profile, their demand is assumed.\n"
                        : "") +
        text);
  }

  const std::vector<PlanCandidate>& candidates_;
  const PlanRequest& request_;
  ValidationPoints points_;
  DemandAssumption assumed_{candidates_, request_};
  std::vector<DemandAssumption> others_{};  // with each demand for all opaque candidates
  configs::ProfileReport& report_;
  std::vector<Pair> pairs_{};
};

}  // namespace

std::vector<size_t> best_matching(size_t kernels, const std::vector<Gain>& gains) {
  // best[s]: the largest gain within the subset s, and the pair of its highest member; SIZE_MAX: that member stays alone.
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

Outcome<void> plan_pairs(const std::vector<PlanCandidate>& candidates, const PlanRequest& request, configs::ProfileReport& report) {
  return Planner(candidates, request, report).plan();
}

}  // namespace warpfold::cli
