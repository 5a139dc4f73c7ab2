#pragma once

#include <string>
#include <vector>

#include "configs/profile.pb.h"
#include "tools/profile/independence.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/run_options.h"

namespace warpfold::cli {

// A question to `warpfold profile`.
struct ProfileRequest {
  std::string trace;
  std::string gpu;                     // a GPU's file or name; empty: the GPU that was traced
  uint32_t kernels = 0;                // so many distinct ones, the longest, are simulated
  uint32_t candidates = 0;             // so many of these are tried in pairs
  profile::Independence independence;  // empty: every pair is tried, as if it were independent
  std::string command_line;
  RunOptions how;
};

// Reads the trace, simulates each distinct kernel that the table of names knows once, and plans which run beside which.
Outcome<configs::ProfileReport> run_profile(const ProfileRequest& request);

}  // namespace warpfold::cli
