#include "tools/warpfold/run/policy_tuner.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tools/report/number_text.h"
#include "tools/warpfold/run/log.h"
#include "tools/warpfold/run/runner.h"
#include "workloads/policies/policy.h"

namespace warpfold::cli {

namespace {

// assumed: settings differ by more than a hundredth, or their choice hardly matters. The chosen settings are simulated again within
// --fold-error.
constexpr double kTrialError = 0.01;

struct Trial {
  Planned planned;
  configs::Result result;
};

uint64_t end_of(const configs::Result& result, const std::vector<std::string>& kernels) {
  uint64_t end = 0;
  for (const configs::KernelResult& kernel : result.kernels()) {
    if (std::ranges::find(kernels, kernel.of()) != kernels.end()) end = std::max(end, kernel.end_cycle());
  }
  return end;
}

// Returns the fields of the policy that the scenario would have to add to its own.
std::string text_of(configs::Policy policy, const configs::Policy& stated) {
  policy.clear_kind();
  if (stated.reserve_size() > 0) policy.clear_reserve();
  if (stated.sm_share_size() > 0) policy.clear_sm_share();
  if (stated.quota_size() > 0) policy.clear_quota();
  const auto same = [](const auto& one, const auto& other) { return one.SerializeAsString() == other.SerializeAsString(); };
  if (same(policy.by_priority(), stated.by_priority())) policy.clear_by_priority();
  if (same(policy.pipelined(), stated.pipelined())) policy.clear_pipelined();
  if (same(policy.warp_specialized(), stated.warp_specialized())) policy.clear_warp_specialized();
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(policy, &text);
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace

PolicyTuner::PolicyTuner(workloads::KernelMaker& kernels, const RunOptions& options, std::shared_ptr<sim::RunCache> known,
                         Plan plan)
    : kernels_(kernels), options_(options), known_(std::move(known)), plan_(std::move(plan)) {
  options_.folding = {.options = options.folding.options};
  options_.folding.options.error = std::max(options.folding.options.error, kTrialError);
  options_.alone = false;
  options_.reference = false;
  options_.timeline = false;
}

Outcome<std::optional<PolicyTuner::Taken>> PolicyTuner::tune(const configs::Scenario& scenario,
                                                             const Expected<Planned>& by_default) {
  const policies::OpenSettings open = policies::policy_of(scenario.policy().kind()).open(scenario, kernels_);
  if (open.choices.empty()) return std::nullopt;
  const Runner runner(kernels_, "", options_, known_);
  std::vector<Trial> trials;
  const auto run = [&](std::vector<Planned> planned) -> Outcome<void> {
    if (planned.empty()) return {};
    auto results = runner.run(planned);
    if (!results) return std::unexpected(results.error());
    for (size_t t = 0; t < planned.size(); ++t) trials.push_back({std::move(planned[t]), std::move((*results)[t])});
    return {};
  };
  const auto planned_with = [&](size_t choice) {
    configs::Scenario with = scenario;
    *with.mutable_policy() = open.choices[choice];
    return plan_(std::move(with));
  };
  if (by_default) {
    if (auto done = run({*by_default}); !done) return std::unexpected(done.error());
  }
  if (open.more.empty()) {
    std::vector<Planned> possible;
    for (size_t choice = 0; choice < open.choices.size(); ++choice) {
      if (auto planned = planned_with(choice)) possible.push_back(std::move(*planned));
    }
    if (auto done = run(std::move(possible)); !done) return std::unexpected(done.error());
  } else {
    size_t first = 0;
    size_t behind = open.choices.size();
    while (first < behind) {
      const size_t middle = first + (behind - first) / 2;
      auto planned = planned_with(middle);
      if (!planned) break;
      if (auto done = run({std::move(*planned)}); !done) return std::unexpected(done.error());
      const configs::Result& result = trials.back().result;
      if (end_of(result, open.more) > end_of(result, open.less)) {
        first = middle + 1;
      } else {
        behind = middle;
      }
    }
  }
  if (trials.empty()) return std::nullopt;
  const auto best = std::ranges::min_element(trials, {}, [](const Trial& trial) { return trial.result.total_time_us(); });
  configs::TakenSettings said;
  said.set_policy(configs::PolicyKind_Name(scenario.policy().kind()));
  if (!by_default || best != trials.begin()) said.set_settings(text_of(best->planned.scenario.policy(), scenario.policy()));
  said.set_tried(static_cast<uint32_t>(trials.size()));
  if (by_default) said.set_default_time_us(trials.front().result.total_time_us());
  log_info([&] {
    return "policy " + said.policy() + ": " + std::to_string(said.tried()) + " settings tried within " +
           report::percent_text(options_.folding.options.error) +
           ", fastest: " + (said.settings().empty() ? "those of the policy's defaults" : said.settings());
  });
  return Taken{std::move(best->planned), std::move(said)};
}

}  // namespace warpfold::cli
