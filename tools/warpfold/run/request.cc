#include "tools/warpfold/run/request.h"

#include "configs/load.h"
#include "tools/warpfold/run/file_kind.h"
#include "tools/warpfold/run/policy_names.h"

namespace warpfold::cli {

void add_request(Options& options) {
  options.positional("SCENARIO", 1, 1);
  options.add_settings();
  options.add()("model", boost::program_options::value<std::string>()->value_name("NAME"),
                "the model card of a scenario with a block, such as `block`: a file, or a name of `warpfold list models`");
  add_run_options(options);
}

Outcome<Request> read_request(Options& options, const Invocation& invocation) {
  if (auto parsed = options.parse(invocation.arguments); !parsed) return std::unexpected(parsed.error());
  const auto how = run_options(options);
  if (!how) return std::unexpected(how.error());
  const auto file = find_of_kind(options.arguments().front(), FileKind::kScenario, options.command());
  if (!file) return std::unexpected(file.error());
  Request request{workloads::KernelMaker(*file), options.settings(), invocation.command_line, *how, options.destination()};
  if (!options.has("policy")) return request;
  const auto kind = policy_by_name("--policy", options.text("policy"));
  if (!kind) return std::unexpected(kind.error());
  request.settings.push_back("policy.kind=" + configs::PolicyKind_Name(*kind));
  return request;
}

Outcome<configs::Scenario> Request::scenario(configs::Places* places) const {
  auto loaded = configs::load_scenario(kernels.file(), settings, places);
  if (!loaded) return std::unexpected(Failure(loaded.error()));
  return std::move(*loaded);
}

Outcome<Planned> Request::plan() {
  configs::Places places;
  auto loaded = scenario(&places);
  if (!loaded) return std::unexpected(loaded.error());
  return plan_scenario(std::move(*loaded), kernels, places);
}

Outcome<configs::Result> Request::simulate() {
  auto planned = plan();
  if (!planned) return std::unexpected(planned.error());
  auto results = Runner(kernels, command_line, how).run({std::move(*planned)});
  if (!results) return std::unexpected(results.error());
  return std::move(results->front());
}

}  // namespace warpfold::cli
