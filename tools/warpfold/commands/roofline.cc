#include <utility>

#include "tools/report/saved_result.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/commands/policy_names.h"
#include "tools/warpfold/render/html.h"
#include "tools/warpfold/render/roofline_report.h"
#include "tools/warpfold/run/request.h"

namespace warpfold::cli {

Outcome<void> roofline_command(const Invocation& invocation) {
  Options options(
      "warpfold roofline SCENARIO [options]",
      "Simulates a scenario and places each kernel under the GPU's roofs: operations and bytes a second at shared memory, L2\n"
      "and DRAM (hierarchical roofline). Operations are a kernel's floating-point operations, or its warp instructions if it\n"
      "states none.",
      "  warpfold roofline qkv_philox_small\n"
      "  warpfold roofline scenario.textproto --set sm.tensor.scale=2\n"
      "  warpfold roofline scenario.textproto --format csv --output roofline.csv\n");
  add_policy_option(options);
  add_request(options);
  options.add_html();
  options.add_output(Format::kTable);
  auto asked = read_request(options, invocation);
  if (!asked) return std::unexpected(asked.error());
  if (!*asked) return {};
  Request& request = **asked;
  auto settings = settings_with_policy(options, request.settings);
  if (!settings) return std::unexpected(settings.error());
  request.settings = std::move(*settings);
  const auto planned = request.plan();
  if (!planned) return std::unexpected(planned.error());
  const auto results = Runner(request.kernels, invocation.command_line, request.how).run({*planned});
  if (!results) return std::unexpected(results.error());
  if (options.has("html")) {
    if (auto written = write_html(options.text("html"), report::report_of(results->front())); !written) return written;
  }
  return write_output(request.destination.path, render_roofline(results->front(), request.destination.format));
}

}  // namespace warpfold::cli
