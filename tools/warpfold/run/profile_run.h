#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/profile.pb.h"
#include "configs/scenario.pb.h"
#include "configs/validation.pb.h"
#include "tools/profile/independence.h"
#include "tools/profile/profile.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/run_options.h"

namespace warpfold::cli {

// A question to `warpfold profile`.
struct ProfileRequest {
  std::string trace;
  std::string gpu;                                // a GPU's file or name; empty: the GPU that was traced
  bool only_traced = false;                       // no other GPU than the traced one can be named
  uint32_t kernels = 0;                           // so many distinct ones, the longest, are simulated
  uint32_t candidates = 0;                        // so many of these are tried in pairs
  std::optional<configs::OpaqueDemand> opaque{};  // what opaque launches want in the plan; none: they have no part in it
  profile::Independence independence;             // empty: every pair is tried, as if it were independent
  std::string resume;                             // folder of finished simulations of kernels alone; empty: none are kept
  std::string command_line;
  RunOptions how;
};

// A profile with its report, and the launches of the one by the kernels of the other.
struct ProfiledStep {
  profile::Profile profile;
  configs::ProfileReport report;
  std::vector<uint32_t> kernel_of_shape;        // of report.kernels, from 0 on
  std::vector<bool> beside;                     // by launch: it overlaps another kernel
  std::vector<configs::SimulatedPoint> points;  // by kernel of the report; of one that is not simulated, without cycles
  bool same_gpu = false;                        // the simulated GPU was traced: times can be compared
};

// Reads the trace, simulates each distinct kernel that the table of names knows once, and plans which run beside which.
Outcome<ProfiledStep> run_profile(const ProfileRequest& request);

}  // namespace warpfold::cli
