#pragma once

#include <functional>
#include <string>

#include "configs/diagnostic.h"
#include "tools/profile/profile.h"

namespace warpfold::profile {

// Keeps the launches and copies whose call lies in a range with this name, in any of its instances. The kernels without such a
// launch are removed. A kept launch that overlaps a removed one stays marked as such (Profile::beside). Fails, with the names of
// the ranges, if there is none with the name; or if no call lies in it.
Expected<void> keep_range(const std::string& name, Profile& profile);

// Tells apart the launches of one shape by the ranges in which they were called, of those whose names `counts`. Such launches
// become shapes of their own, with the names in LaunchShape::ranges.
void tell_ranges_apart(const std::function<bool(const std::string&)>& counts, Profile& profile);

}  // namespace warpfold::profile
