#pragma once

#include <string>

#include "configs/diagnostic.h"
#include "tools/profile/profile.h"

namespace warpfold::profile {

// Reads a profile and detects its format by content: JSON of torch.profiler (read_kineto), a SQLite export of Nsight Systems, or a
// table of Nsight Systems or Nsight Compute (nsight_reader.h). Text may be compressed. A table of more than 256 MB is refused.
Expected<Profile> read_profile(const std::string& path);

}  // namespace warpfold::profile
