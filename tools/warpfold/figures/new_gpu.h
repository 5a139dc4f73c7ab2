#pragma once

#include <string>
#include <vector>

#include "configs/gpu.pb.h"
#include "isa/architecture.h"

namespace warpfold::cli {

// Returns a line for each assumption that a new GPU rests on. It may be the achieved share of the memory bandwidth, or the rate of
// a pipe that whole cycles round. Other lines name clocks and bandwidths that the data sheet contradicts. `own` has the fields that
// differ from `base`, and `gpu` is `own` merged over `base`.
std::vector<std::string> assumptions_of_new_gpu(const configs::Gpu& gpu, const configs::Gpu& own, const configs::Gpu& base,
                                                const isa::Architecture& architecture);

}  // namespace warpfold::cli
