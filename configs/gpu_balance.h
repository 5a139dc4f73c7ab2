#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/gpu.pb.h"
#include "configs/places.h"

namespace warpfold::configs {

// The first rate of a checked GPU that another unit of it can never feed. A what-if may ask for one; a new machine should not have
// one.
std::optional<Finding> find_imbalance(const Gpu& gpu);

// The products of wgmma, A and B in shared memory, whose operands `base` could feed at full rate and `gpu` cannot, the widest
// first: a kernel of such tiles is bound by shared memory there.
std::vector<std::string> starved_since(const Gpu& gpu, const Gpu& base);

}  // namespace warpfold::configs
