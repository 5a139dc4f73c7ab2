#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/warpfold/commands/commands.h"
#include "traces/kernel.h"
#include "traces/text_places.h"

namespace warpfold::cli {

// The verbs of `warpfold trace` that have a file of their own, and functions that the verbs share.
Outcome<void> trace_diff(const Invocation& invocation);
Outcome<void> trace_export(const Invocation& invocation);
Outcome<void> trace_format(const Invocation& invocation);
Outcome<void> trace_slice(const Invocation& invocation);

// Adds --kernel NAME; `chosen_kernels` returns the kernel that the option names, or all kernels that were read.
void add_kernel_option(Options& options);
Outcome<std::vector<traces::Kernel>> chosen_kernels(const Options& options, Outcome<std::vector<traces::Kernel>> read);
// Reads "16" or "16-23" of --ctas; returns the first CTA and the number of CTAs.
Outcome<std::pair<uint64_t, uint64_t>> cta_range(const std::string& text);
// Returns the kernels of a trace file, or of a scenario with settings.
Outcome<std::vector<traces::Kernel>> source_kernels(const std::string& file, const std::vector<std::string>& settings);

}  // namespace warpfold::cli
