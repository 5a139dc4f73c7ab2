#include "tools/warpfold/run/request.h"

#include "configs/load.h"
#include "tools/warpfold/run/file_kind.h"

namespace warpfold::cli {

void add_request(Options& options) {
  options.positional("SCENARIO", 1, 1);
  options.add_settings();
  options.add()("model", boost::program_options::value<std::string>()->value_name("NAME"),
                "the model card of a scenario with a block, such as `block`: a file, or a name of `warpfold list models`");
  add_run_options(options);
}

Outcome<std::optional<Request>> read_request(Options& options, const Invocation& invocation) {
  if (auto parsed = options.parse(invocation.arguments); !parsed) return std::unexpected(parsed.error());
  if (options.help_wanted()) {
    if (auto written = write_output("", options.help()); !written) return std::unexpected(written.error());
    return std::nullopt;
  }
  const auto destination = options.destination();
  if (!destination) return std::unexpected(destination.error());
  const auto how = run_options(options);
  if (!how) return std::unexpected(how.error());
  const auto file = find_of_kind(options.arguments().front(), FileKind::kScenario, options.command());
  if (!file) return std::unexpected(file.error());
  return Request{workloads::KernelMaker(*file), options.settings(), *how, *destination};
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

}  // namespace warpfold::cli
