#pragma once

#include <string>
#include <vector>

#include "configs/validation.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/profile_run.h"

namespace warpfold::cli {

// Shorter launches are mostly launch overhead, and times of old traces have whole microseconds.
inline constexpr double kJudgedUs = 8;

// The families of the step's kernels, with errors of launches of kJudgedUs or more that overlap no other kernel.
void add_families(ProfiledStep& step);

// Profiles as measurements: of what `warpfold profile` would report, errors of launches that overlap no other kernel. Launches of
// kJudgedUs or more and shorter ones are families of rows; a row is a kernel's launches, and each launch counts in its group.
struct ProfileValidationRequest {
  std::vector<std::string> files;
  std::string only_gpu;     // part of the traced GPU's name; empty: all
  std::string only_kernel;  // part of the kernel's name or its family; empty: all
  uint32_t kernels = 0;     // so many distinct ones of each profile, the longest, are simulated
  std::string resume;       // folder of finished simulations; empty: none are kept
  std::string command_line;
  RunOptions how;
};
Outcome<configs::Validation> run_profile_validation(const ProfileValidationRequest& request);

}  // namespace warpfold::cli
