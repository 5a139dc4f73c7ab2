#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/commands/html_option.h"
#include "tools/warpfold/render/occupancy_report.h"
#include "tools/warpfold/run/occupancy_runs.h"
#include "tools/warpfold/run/policy_names.h"
#include "tools/warpfold/run/request.h"

namespace warpfold::cli {

namespace po = boost::program_options;

Outcome<void> occupancy_command(const Invocation& invocation) {
  Options options(
      "warpfold occupancy SCENARIO [options]",
      "Reports the CTAs of each kernel on an SM, the resource that limits them, and curves over registers, shared memory and\n"
      "CTA size. If a smaller footprint admits more CTAs, a simulation with it gives the speed-up. The program is\n"
      "unchanged: spills by fewer registers are not modelled (docs/occupancy.md).",
      "  warpfold occupancy qkv_philox_small\n"
      "  warpfold occupancy scenario.textproto --steps 4 --format csv --output occupancy.csv\n"
      "  warpfold simulate scenario.textproto --set kernel.rng.footprint.registers_per_thread=24\n");
  add_policy_option(options);
  options.add()("steps", po::value<std::string>()->default_value("2")->value_name("N"),
                "additional CTAs an SM to try, one at a time; 0 to 32");
  add_request(options);
  options.add_html();
  options.add_output();
  const auto request = read_request(options, invocation);
  if (!request) return std::unexpected(request.error());
  constexpr uint32_t kMostSteps = 32;
  const auto steps = options.number("steps", 0, kMostSteps);
  if (!steps) return std::unexpected(steps.error());
  OccupancyQuestion question{.scenario = {request->kernels.file(), request->settings, request->command_line}, .steps = *steps};
  const auto result = ask_occupancy(question, request->how);
  if (!result) return std::unexpected(result.error());
  if (auto written = write_html_option(options, *result); !written) return written;
  return write_output(request->destination.path, render_occupancy(*result, request->destination.format));
}

}  // namespace warpfold::cli
