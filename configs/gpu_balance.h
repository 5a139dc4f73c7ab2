#pragma once

#include <optional>

#include "configs/gpu.pb.h"
#include "configs/places.h"

namespace warpfold::configs {

// The first rate of a checked GPU that another unit of it can never feed. A what-if may ask for one; a new machine should not have
// one.
std::optional<Finding> find_imbalance(const Gpu& gpu);

}  // namespace warpfold::configs
