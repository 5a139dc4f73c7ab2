#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/commands/html_option.h"
#include "tools/warpfold/render/roofline_report.h"
#include "tools/warpfold/run/policy_names.h"
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
  options.add_output();
  auto request = read_request(options, invocation);
  if (!request) return std::unexpected(request.error());
  const auto result = request->simulate();
  if (!result) return std::unexpected(result.error());
  if (auto written = write_html_option(options, *result); !written) return written;
  return write_output(request->destination.path, render_roofline(*result, request->destination.format));
}

}  // namespace warpfold::cli
