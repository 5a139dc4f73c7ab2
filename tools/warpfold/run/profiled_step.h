#pragma once

#include <cstdint>
#include <vector>

#include "configs/profile.pb.h"
#include "configs/validation.pb.h"
#include "tools/profile/profile.h"

namespace warpfold::cli {

// A profile with its report, and the relation between the profile's launches and the report's kernels.
struct ProfiledStep {
  profile::Profile profile;
  configs::ProfileReport report;
  std::vector<uint32_t> kernel_of_shape;        // index into report.kernels, from 0 on
  std::vector<bool> beside;                     // by launch: it overlaps another kernel
  std::vector<configs::SimulatedPoint> points;  // by kernel of the report; without cycles if the kernel is not simulated
  bool same_gpu = false;                        // the simulated GPU is the traced GPU, so times are comparable
};

}  // namespace warpfold::cli
