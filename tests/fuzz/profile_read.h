#pragma once

#include "configs/load.h"
#include "tests/fuzz/input.h"
#include "tests/source_dir.h"
#include "tools/profile/occupied.h"
#include "tools/profile/reading.h"

namespace warpfold::fuzz {

// A profile has one message, or times that can be and kernels that are read.
inline void require_profile(const Expected<profile::Profile>& profile) {
  static const std::string configs = WARPFOLD_SOURCE_DIR "/configs";
  static const configs::Gpu gpu = *configs::load_gpu(configs + "/gpus/h100_sxm.textproto");
  static validation::RowMapper mapper(configs + "/gpus", {});
  if (!profile) return require_message(profile.error());
  const profile::Occupied occupied = profile::occupied(*profile);
  require(occupied.busy_us >= 0 && occupied.overlap_us >= 0 && occupied.gaps_us >= 0, "a negative time");
  const profile::SimulatedGpu on{gpu, true, configs + "/kernels/operators"};
  for (const profile::LaunchShape& shape : profile->shapes) {
    profile::Reading reading = read_launch(profile::NameTable::embedded(), shape, on, mapper);
    occupy_as_traced(shape, reading);
    require(reading.run.has_value() == reading.opaque.empty(), "a kernel that is opaque without a reason");
  }
}

}  // namespace warpfold::fuzz
