#pragma once

#include <string>
#include <vector>

#include "configs/gpu.pb.h"
#include "isa/architecture.h"

namespace warpfold::cli {

// Returns what a new GPU leaves to assumptions, a line each: the share of its memory bandwidth that is achieved, a clock or a
// bandwidth that its data sheet contradicts, and rates of pipes that whole cycles round. `own`: the fields that differ from `base`;
// `gpu`: `own` merged over `base`.
std::vector<std::string> assumptions_of_new_gpu(const configs::Gpu& gpu, const configs::Gpu& own, const configs::Gpu& base,
                                                const isa::Architecture& architecture);

}  // namespace warpfold::cli
