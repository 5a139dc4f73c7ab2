#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/warpfold/run/profiled_step.h"

namespace warpfold::cli {

// Shorter launches consist mostly of launch overhead, and old traces round times to whole microseconds.
inline constexpr double kJudgedUs = 8;

// Adds the families of the step's kernels, with errors over launches of kJudgedUs or more that overlap no other kernel.
void add_families(ProfiledStep& step);

// The kernel's family, or "unknown".
std::string family_of(const configs::ProfiledKernel& kernel);

// Calls `visit` for each kernel launch with the kernel's index in the report, the measured time, and whether the launch is
// comparable with the kernel's simulation, which runs alone.
void for_each_launch(const ProfiledStep& step, const std::function<void(uint32_t, double, bool)>& visit);

}  // namespace warpfold::cli
