#pragma once

#include <string_view>

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/kernel_launch.pb.h"
#include "configs/places.h"

namespace warpfold::configs {

// The launch with every size filled in that follows from values of its parameters: function and block by `choice`, grid by
// `grid_of`, bytes of arrays by `per`. What the description states itself stays. Fails at a name that no parameter with a value
// has, where no choice holds, and at products of more than 2^62.
Expected<KernelLaunch> with_sizes(KernelLaunch launch, const Places& places);

// `runs_on` of a description for every GPU: code that stays as it is.
inline constexpr std::string_view kAnyArchitecture = "any";
void settle_architecture(KernelLaunch& launch, const Gpu& gpu);

}  // namespace warpfold::configs
