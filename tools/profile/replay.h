#pragma once

#include <vector>

#include "tools/profile/profile.h"

namespace warpfold::profile {

// When a launch runs, from the first start of the profile on.
struct LaunchSpan {
  double start_us = 0;
  double us = 0;
};

// The step with other times of its kernels. A launch starts as long after the end of the launch that ended last before it as in the
// profile, whatever stream that has, and not before the end of the launch before it in its own stream, less the time for which both
// overlap in the profile: gaps, order and overlaps stay. `us`: of a launch of each shape; 0: as measured.
//
//   measured   A 0-10   gap 2   B 12-20, C on another stream 15-25   D 26-30 behind C
//   A takes 5  A 0-5    gap 2   B 7-15,  C 10-20                     D 21-25
std::vector<LaunchSpan> replayed(const Profile& profile, const std::vector<double>& us);

}  // namespace warpfold::profile
