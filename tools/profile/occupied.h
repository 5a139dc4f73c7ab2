#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tools/profile/profile.h"

namespace warpfold::profile {

// When the GPU had something to do, launches and copies alike.
struct Occupied {
  double span_us = 0;     // from the first start to the last end
  double busy_us = 0;     // at least one
  double overlap_us = 0;  // two or more
  uint64_t gaps = 0;
  double gaps_us = 0;
  double longest_gap_us = 0;
  std::vector<bool> beside;                                  // by launch: another launch overlaps it
  std::map<std::pair<uint32_t, uint32_t>, double> together;  // how long launches of two shapes overlapped, the smaller shape first
};
Occupied occupied(const Profile& profile);

}  // namespace warpfold::profile
