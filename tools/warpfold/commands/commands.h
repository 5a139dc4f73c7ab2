#pragma once

#include <string>
#include <vector>

#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/options.h"
#include "traces/kernel.h"

namespace warpfold::cli {

// The subcommands. Each reads its own options and writes its own output.
Outcome<void> simulate_command(const Invocation& invocation);
Outcome<void> hot_command(const Invocation& invocation);
Outcome<void> cycles_command(const Invocation& invocation);
Outcome<void> compare_command(const Invocation& invocation);
Outcome<void> whatif_command(const Invocation& invocation);
Outcome<void> occupancy_command(const Invocation& invocation);
Outcome<void> study_command(const Invocation& invocation);
Outcome<void> roofline_command(const Invocation& invocation);
Outcome<void> profile_command(const Invocation& invocation);
Outcome<void> layer_command(const Invocation& invocation);
Outcome<void> model_command(const Invocation& invocation);
Outcome<void> report_command(const Invocation& invocation);
Outcome<void> serve_command(const Invocation& invocation);
Outcome<void> import_command(const Invocation& invocation);
Outcome<void> import_trace_command(const Invocation& invocation);
Outcome<void> trace_command(const Invocation& invocation);
Outcome<void> check_command(const Invocation& invocation);
Outcome<void> list_command(const Invocation& invocation);
Outcome<void> gpu_command(const Invocation& invocation);
Outcome<void> gpu_new(const Invocation& invocation);  // verb of gpu_command
Outcome<void> validate_command(const Invocation& invocation);

// Fails unless a file's name is that of a trace: .wft or .wfs.
Outcome<void> check_trace_name(const std::string& output);
// Writes kernels to a file: as text if its name ends in .wfs, otherwise as a trace.
Outcome<void> write_kernels(const std::string& path, const std::vector<traces::Kernel>& kernels);

}  // namespace warpfold::cli
