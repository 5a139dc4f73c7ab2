#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tools/profile/profile.h"

namespace warpfold::profile {

// Times at which the GPU was busy with launches or copies.
struct Occupied {
  double span_us = 0;     // time from the first start to the last end
  double busy_us = 0;     // time with at least one launch or copy
  double overlap_us = 0;  // time with two or more launches or copies
  uint64_t gaps = 0;
  double gaps_us = 0;
  double longest_gap_us = 0;
  std::vector<bool> beside;                                  // whether another launch overlaps the launch of this index
  std::map<std::pair<uint32_t, uint32_t>, double> together;  // overlap of two shapes' launches in microseconds, smaller shape first
};
Occupied occupied(const Profile& profile);

}  // namespace warpfold::profile
