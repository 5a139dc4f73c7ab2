#pragma once

#include <string_view>

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/kernel_launch.pb.h"
#include "configs/places.h"

namespace warpfold::configs {

// Returns the launch with the sizes that follow from values of its parameters: function and block by `choice`, grid by
// `grid_of`, bytes of arrays by `per`. Sizes that the description states stay. Fails if no parameter with a value has a
// name, if no choice holds, and if a product exceeds 2^62.
Expected<KernelLaunch> with_sizes(KernelLaunch launch, const Places& places);

// `runs_on` of a description for every GPU. The code stays the same.
inline constexpr std::string_view kAnyArchitecture = "any";
void settle_architecture(KernelLaunch& launch, const Gpu& gpu);

}  // namespace warpfold::configs
