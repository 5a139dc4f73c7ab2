#pragma once

#include "configs/diagnostic.h"
#include "sim/sm/spec.h"

namespace warpfold::configs {
class Gpu;
}

namespace warpfold::sim {

// Returns the parameters of `gpu` with its scale factors applied. `gpu` must have passed configs::check_gpu. Fails if
// the architecture has no opcode table, or if L2 or DRAM would move less than 1 or more than 1,000,000 bytes a cycle.
Expected<Spec> make_spec(const configs::Gpu& gpu);

}  // namespace warpfold::sim
