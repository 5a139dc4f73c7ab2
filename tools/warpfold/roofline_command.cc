#include "configs/load.h"
#include "tools/report/saved_result.h"
#include "tools/warpfold/commands.h"
#include "tools/warpfold/html.h"
#include "tools/warpfold/roofline_report.h"
#include "tools/warpfold/run.h"

namespace warpfold::cli {

Outcome<void> roofline_command(const Invocation& invocation) {
  Options options(
      "warpfold roofline SCENARIO [options]",
      "Simulates a scenario and says of each kernel how many operations and bytes it moves a second at shared memory,\n"
      "L2 and DRAM, and how much the GPU allows: the hierarchical roofline. Operations are the kernel's floating-point\n"
      "operations; where it states none, its warp instructions.",
      "  warpfold roofline configs/scenarios/qkv_philox_small.textproto\n"
      "  warpfold roofline scenario.textproto --set sm.tensor.scale=2\n"
      "  warpfold roofline scenario.textproto --format csv --output roofline.csv\n");
  options.positional("SCENARIO", 1, 1);
  options.add_settings();
  add_run_options(options);
  options.add_html();
  options.add_output(Format::kTable);
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  if (options.help_wanted()) return write_output("", options.help());

  const auto destination = options.destination();
  if (!destination) return std::unexpected(destination.error());
  const auto how = run_options(options);
  if (!how) return std::unexpected(how.error());
  const std::string& file = options.arguments().front();
  const auto scenario = configs::load_scenario(file, options.settings());
  if (!scenario) return std::unexpected(Failure(scenario.error()));
  const auto planned = plan_scenario(*scenario, file);
  if (!planned) return std::unexpected(planned.error());
  const auto results = Runner(file, invocation.command_line, *how).run({*planned});
  if (!results) return std::unexpected(results.error());
  if (options.has("html")) {
    if (auto written = write_html(options.text("html"), report::report_of(results->front())); !written) return written;
  }
  return write_output(destination->path, render_roofline(results->front(), destination->format));
}

}  // namespace warpfold::cli
