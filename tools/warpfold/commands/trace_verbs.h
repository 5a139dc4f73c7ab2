#pragma once

#include <string>
#include <vector>

#include "tools/warpfold/commands/commands.h"
#include "traces/kernel.h"
#include "traces/text_places.h"

namespace warpfold::cli {

// The verbs of `warpfold trace`, a file each besides those of trace.cc, and what they share.
Outcome<void> trace_export(const Invocation& invocation);

// --kernel NAME, and the kernel that it names, or all.
void add_kernel_option(Options& options);
Outcome<std::vector<traces::Kernel>> chosen_kernels(const Options& options, std::vector<traces::Kernel> kernels);
// The kernels of a trace file, or of a scenario with settings.
Outcome<std::vector<traces::Kernel>> source_kernels(const std::string& file, const std::vector<std::string>& settings);

}  // namespace warpfold::cli
