#include <algorithm>
#include <cctype>
#include <vector>

#include "configs/load.h"
#include "configs/near_miss.h"
#include "tools/warpfold/commands.h"
#include "tools/warpfold/report.h"
#include "tools/warpfold/run.h"

namespace warpfold::cli {

namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

Outcome<configs::PolicyKind> policy_by_name(const std::string& name) {
  std::vector<std::string> known;
  for (const configs::PolicyKind kind : {configs::SEQUENTIAL, configs::CONCURRENT, configs::CARVE_OUT}) {
    known.push_back(lower(configs::PolicyKind_Name(kind)));
    if (lower(name) == known.back()) return kind;
  }
  return user_error("--policies: unknown policy \"" + name + "\"" + suggestion(name, known));
}

Outcome<std::vector<configs::PolicyKind>> parse_policies(const std::string& list) {
  std::vector<configs::PolicyKind> kinds;
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    const auto kind = policy_by_name(list.substr(at, comma - at));
    if (!kind) return std::unexpected(kind.error());
    if (std::ranges::find(kinds, *kind) != kinds.end()) {
      return user_error("--policies: " + list.substr(at, comma - at) + " is given twice");
    }
    kinds.push_back(*kind);
    at = comma + 1;
  }
  return kinds;
}

}  // namespace

Outcome<void> compare_command(const Invocation& invocation) {
  Options options(
      "warpfold compare SCENARIO [options]",
      "Simulates the kernels of a scenario under several policies and prints one line for each.",
      "  warpfold compare configs/scenarios/qkv_philox_llama3_70b.textproto --policies sequential,concurrent,carve_out\n"
      "  warpfold compare scenario.textproto --set seq=8192 --format csv --output policies.csv\n");
  options.add()("policies",
                boost::program_options::value<std::string>()->default_value("sequential,concurrent")->value_name("LIST"),
                "of sequential, concurrent, carve_out; the first is what the others are compared with");
  options.positional("SCENARIO", 1, 1);
  options.add_settings();
  add_run_options(options);
  options.add_output(Format::kTable);
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  if (options.help_wanted()) return write_output("", options.help());

  const auto destination = options.destination();
  if (!destination) return std::unexpected(destination.error());
  const auto policies = parse_policies(options.text("policies"));
  if (!policies) return std::unexpected(policies.error());
  const auto how = run_options(options);
  if (!how) return std::unexpected(how.error());
  const std::string& file = options.arguments().front();

  // Every policy is checked before the first one runs.
  std::vector<configs::Scenario> scenarios;
  for (const configs::PolicyKind kind : *policies) {
    std::vector<std::string> settings = options.settings();
    settings.push_back("policy.kind=" + configs::PolicyKind_Name(kind));
    auto scenario = configs::load_scenario(file, settings);
    if (!scenario) return std::unexpected(Failure(scenario.error()));
    scenarios.push_back(std::move(*scenario));
  }
  const auto runner = Runner::prepare(scenarios.front(), file, invocation.command_line, *how);
  if (!runner) return std::unexpected(runner.error());
  configs::Comparison comparison;
  auto results = runner->run(scenarios);
  if (!results) return std::unexpected(results.error());
  for (configs::Result& result : *results) *comparison.add_results() = std::move(result);
  return write_output(destination->path, render_comparison(comparison, destination->format));
}

}  // namespace warpfold::cli
