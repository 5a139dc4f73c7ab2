#include <algorithm>
#include <vector>

#include "configs/load.h"
#include "tools/report/ranking.h"
#include "tools/report/saved_result.h"
#include "tools/report/verdict.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/figures/reason.h"
#include "tools/warpfold/render/html.h"
#include "tools/warpfold/render/result_report.h"
#include "tools/warpfold/run/policy_names.h"
#include "tools/warpfold/run/policy_tuner.h"
#include "tools/warpfold/run/request.h"

namespace warpfold::cli {

namespace {

// The policies that --policies lists.
struct Wanted {
  std::vector<configs::PolicyKind> kinds;
  bool all = false;  // leave out policies that do not apply
};

Outcome<Wanted> listed_policies(const std::string& list) {
  auto kinds = policies_in(list, true);
  if (!kinds) return std::unexpected(kinds.error());
  return Wanted{std::move(*kinds), policy_option_name(list) == "all"};
}

// Returns the policies that answer the scenario's question: its `compare` field, or SEQUENTIAL and CONCURRENT.
Outcome<Wanted> policies_of(const Request& request) {
  const auto scenario = request.scenario();
  if (!scenario) return std::unexpected(scenario.error());
  Wanted wanted{{configs::SEQUENTIAL, configs::CONCURRENT}};
  if (!scenario->compare().empty()) wanted.kinds.clear();
  for (const int kind : scenario->compare()) wanted.kinds.push_back(static_cast<configs::PolicyKind>(kind));
  return wanted;
}

// Plans the policies of one scenario, with a cache of runs that several policies contain.
class PolicyPlanner {
 public:
  // `fixed`: settings that the scenario leaves open take their defaults; otherwise the tuner chooses them.
  PolicyPlanner(Request& request, bool fixed) : request_(request), fixed_(fixed) {}

  // Returns the plan of a policy, with the settings that it takes.
  Outcome<Planned> plan(configs::PolicyKind kind, configs::Comparison& comparison) {
    std::vector<std::string> settings = request_.settings;
    settings.push_back("policy.kind=" + configs::PolicyKind_Name(kind));
    configs::Places places;
    auto scenario = configs::load_scenario(request_.kernels.file(), settings, &places);
    if (!scenario) return std::unexpected(Failure(scenario.error()));
    const auto plan = [&](configs::Scenario each) { return plan_scenario(std::move(each), request_.kernels, places, tuner_); };
    auto planned = plan(*scenario);
    if (!fixed_) {
      auto taken = PolicyTuner(request_.kernels, request_.how, known_, plan).tune(*scenario, planned);
      if (!taken) return std::unexpected(taken.error());
      if (*taken) {
        *comparison.add_taken() = std::move((*taken)->said);
        return std::move((*taken)->planned);
      }
    }
    if (!planned) return std::unexpected(Failure(planned.error()));
    return std::move(*planned);
  }

  std::shared_ptr<sim::RunCache> known() const { return known_; }

 private:
  Request& request_;
  bool fixed_;
  TileTuner tuner_;
  std::shared_ptr<sim::RunCache> known_ = std::make_shared<sim::RunCache>();
};

// Plans every policy before the first run starts.
Outcome<std::vector<Planned>> plan_policies(Request& request, const Wanted& wanted, PolicyPlanner& planner,
                                            configs::Comparison& comparison) {
  // A fault of the scenario itself must fail the command, not leave policies out.
  if (const auto scenario = request.scenario(); !scenario) return std::unexpected(scenario.error());
  std::vector<Planned> planned;
  for (const configs::PolicyKind kind : wanted.kinds) {
    auto each = planner.plan(kind, comparison);
    if (each) {
      planned.push_back(std::move(*each));
    } else if (wanted.all && each.error().exit_code == kUserError) {
      configs::Skipped& skipped = *comparison.add_skipped();
      skipped.set_policy(configs::PolicyKind_Name(kind));
      skipped.set_reason(each.error().diagnostic.message);
    } else {
      return std::unexpected(each.error());
    }
  }
  if (planned.empty()) return user_error(request.kernels.file() + ": no policy applies; " + comparison.skipped(0).reason());
  return planned;
}

// Writes a page with the timeline of the fastest policy only; the timelines of all policies would take megabytes.
Outcome<void> write_page(const std::string& path, configs::Comparison comparison) {
  const auto fastest = std::ranges::min_element(comparison.results(), {}, &configs::Result::total_time_us);
  for (auto result = comparison.mutable_results()->begin(); result != comparison.mutable_results()->end(); ++result) {
    if (&*result != &*fastest) result->clear_timeline();
  }
  return write_html(path, report::report_of(comparison));
}

std::string policy_help() {
  std::string text = "Policies:\n";
  for (const policies::Policy* policy : policies::all()) {
    std::string name = policy_option_name(configs::PolicyKind_Name(policy->kind()));
    name.resize(std::max<size_t>(name.size(), 18), ' ');
    text += "  " + name + std::string(policy->help()) + "\n";
  }
  return text;
}

}  // namespace

Outcome<void> compare_command(const Invocation& invocation) {
  Options options(
      "warpfold compare SCENARIO [NAME=VALUE...] [options]",
      "Simulates the kernels of a scenario under several policies. The fastest policy and its reason come first, then one\n"
      "line a policy: rank by time, total time, slowdown of each kernel, and the limit of the run. Policies of equal rank\n"
      "are tied: folding's estimates cannot tell them apart; --fold exact can. Parameters of policies are fields of the\n"
      "scenario's policy (configs/scenario.proto, docs/policies.md). SM partitions, quotas, priorities, segments and guest warps\n"
      "that the scenario leaves open are tried: each policy takes its fastest settings, which the output states.\n\n" +
          policy_help(),
      "  warpfold compare block --model llama3-70b\n"
      "  warpfold compare block embedding=6144 heads=48 seq=16384 type=bf16 gpu=h200_sxm\n"
      "  warpfold compare qkv_philox_llama3_70b --policies all\n"
      "  warpfold compare scenario.textproto --policies concurrent,pipelined --set policy.pipelined.segments=8\n"
      "  warpfold compare scenario.textproto --set seq=8192 --format csv --output policies.csv\n");
  options.add()("policies", boost::program_options::value<std::string>()->value_name("LIST"),
                "policies of the list above, separated by commas; the first is the baseline. all: every policy that applies to the "
                "scenario. Default: the scenario's field `compare`, else sequential,concurrent");
  options.add()("fixed", "take the defaults for settings that the scenario leaves open, instead of the fastest of some trials");
  add_request(options);
  options.add_html();
  options.add_output();
  auto request = read_request(options, invocation);
  if (!request) return std::unexpected(request.error());
  request->how.timeline = options.has("html");
  const auto wanted = options.has("policies") ? listed_policies(options.text("policies")) : policies_of(*request);
  if (!wanted) return std::unexpected(wanted.error());

  configs::Comparison comparison;
  PolicyPlanner planner(*request, options.has("fixed"));
  const auto planned = plan_policies(*request, *wanted, planner, comparison);
  if (!planned) return std::unexpected(planned.error());
  auto results = Runner(request->kernels, invocation.command_line, request->how, planner.known()).run(*planned);
  if (!results) return std::unexpected(results.error());
  for (configs::Result& result : *results) *comparison.add_results() = std::move(result);
  report::rank_policies(comparison);
  for (configs::Result& result : *comparison.mutable_results()) result.set_reason(reason_of(result).text);
  comparison.set_verdict(report::verdict_text(comparison));
  if (options.has("html")) {
    if (auto written = write_page(options.text("html"), comparison); !written) return written;
    for (configs::Result& result : *comparison.mutable_results()) result.clear_timeline();
  }
  return write_output(request->destination.path, render_comparison(comparison, request->destination.format));
}

}  // namespace warpfold::cli
