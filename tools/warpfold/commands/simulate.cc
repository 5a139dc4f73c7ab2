#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/commands/html_option.h"
#include "tools/warpfold/render/perfetto.h"
#include "tools/warpfold/render/result_report.h"
#include "tools/warpfold/run/policy_names.h"
#include "tools/warpfold/run/request.h"

namespace warpfold::cli {

Outcome<void> simulate_command(const Invocation& invocation) {
  Options options(
      "warpfold simulate SCENARIO [NAME=VALUE...] [options]",
      "Simulates the kernels of a scenario together and reports times, stall reasons and contention. Each kernel is also\n"
      "simulated alone, for its slowdown.",
      "  warpfold simulate qkv_philox_llama3_70b\n"
      "  warpfold simulate scenario.textproto --policy concurrent --set kernel.rng.philox.rounds=7\n"
      "  warpfold simulate scenario.textproto --gpu h200_sxm --format json | jq .total_cycles\n"
      "  warpfold simulate scenario.textproto --set sm.tensor.scale=2 --output result.json\n");
  add_policy_option(options);
  add_request(options);
  options.add()("timeline", "add a timeline of CTAs, phases and resource use to the result (JSON), bounded in size");
  options.add_perfetto();
  options.add_html();
  options.add_output();
  auto request = read_request(options, invocation);
  if (!request) return std::unexpected(request.error());
  request->how.timeline = options.has("timeline") || options.has("perfetto") || options.has("html");
  auto result = request->simulate();
  if (!result) return std::unexpected(result.error());
  if (auto written = write_html_option(options, *result); !written) return written;
  if (options.has("perfetto")) {
    if (auto written = write_perfetto(options.text("perfetto"), *result); !written) return written;
  }
  if (!options.has("timeline")) result->clear_timeline();
  return write_output(request->destination.path, render_result(*result, request->destination.format));
}

}  // namespace warpfold::cli
