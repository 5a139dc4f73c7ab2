#pragma once

#include <string>
#include <vector>

#include "configs/validation.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/run_options.h"

namespace warpfold::cli {

// A validation against profiles: the errors of the launches in `warpfold profile`'s report that overlap no other kernel. Launches
// of kJudgedUs or more and shorter launches are separate families. A row holds a kernel's launches, and each launch counts in its
// group.
struct ProfileValidationRequest {
  std::vector<std::string> files;
  std::string only_gpu;     // part of the traced GPU's name; empty: all
  std::string only_kernel;  // part of the kernel's name or its family; empty: all
  uint32_t kernels = 0;     // number of distinct kernels of each profile to simulate, longest first
  std::string resume;       // folder of finished simulations; empty: none are kept
  std::string command_line;
  RunOptions how;
};
Outcome<configs::Validation> run_profile_validation(const ProfileValidationRequest& request);

}  // namespace warpfold::cli
