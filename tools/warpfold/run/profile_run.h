#pragma once

#include <optional>
#include <string>

#include "configs/scenario.pb.h"
#include "tools/profile/independence.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/profiled_step.h"
#include "tools/warpfold/run/run_options.h"

namespace warpfold::cli {

// A question to `warpfold profile`.
struct ProfileRequest {
  std::string trace;
  std::string names;                              // a table of names, tried before the embedded one; empty: none
  std::string gpu;                                // a GPU's file or name; empty: the traced GPU
  bool only_traced = false;                       // only the traced GPU is allowed
  std::string range;                              // only launches in ranges of this name; empty: all
  uint32_t kernels = 0;                           // number of distinct kernels to simulate, longest first
  uint32_t candidates = 0;                        // number of these kernels to try in pairs
  bool opaque = false;                            // opaque launches have a part in the plan
  std::optional<configs::OpaqueDemand> demand{};  // of all opaque launches; none: of each as its family's rule says
  profile::Independence independence;             // empty: every pair is tried, as if independent
  std::string execution_trace;                    // file; empty: dependences between launches are not known
  std::string resume;                             // folder of finished simulations of kernels alone; empty: none are kept
  std::string command_line;
  RunOptions how;
};

// Reads the trace, simulates each distinct kernel that the table of names knows once, and plans which kernels run side by side.
Outcome<ProfiledStep> run_profile(const ProfileRequest& request);

}  // namespace warpfold::cli
