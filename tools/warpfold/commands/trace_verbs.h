#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/warpfold/commands/commands.h"
#include "traces/kernel.h"
#include "traces/text_places.h"

namespace warpfold::cli {

// The verbs of `warpfold trace`, a file each besides those of trace.cc, and what they share.
Outcome<void> trace_diff(const Invocation& invocation);
Outcome<void> trace_export(const Invocation& invocation);
Outcome<void> trace_format(const Invocation& invocation);
Outcome<void> trace_slice(const Invocation& invocation);

// --kernel NAME, and the kernel that it names, or all.
void add_kernel_option(Options& options);
Outcome<std::vector<traces::Kernel>> chosen_kernels(const Options& options, std::vector<traces::Kernel> kernels);
// "16" or "16-23" of --ctas: the first, and how many.
Outcome<std::pair<uint64_t, uint64_t>> cta_range(const std::string& text);
// The kernels of a trace file, or of a scenario with settings.
Outcome<std::vector<traces::Kernel>> source_kernels(const std::string& file, const std::vector<std::string>& settings);

}  // namespace warpfold::cli
