#pragma once

#include <vector>

#include "tools/profile/profile.h"

namespace warpfold::profile {

// The time at which a launch runs, relative to the first start of the profile.
struct LaunchSpan {
  double start_us = 0;
  double us = 0;
};

// Replays the step with other durations of its kernels. A launch keeps its distance from the end of the launch that ended last
// before it in the profile, in whatever stream. It starts no earlier than the end of the previous launch in its own stream, minus
// the overlap of the two in the profile. Gaps, order and overlaps are thus kept. `us`: duration per shape; 0: as measured.
//
//   measured   A 0-10   gap 2   B 12-20, C on another stream 15-25   D 26-30 behind C
//   A takes 5  A 0-5    gap 2   B 7-15,  C 10-20                     D 21-25
std::vector<LaunchSpan> replayed(const Profile& profile, const std::vector<double>& us);

}  // namespace warpfold::profile
