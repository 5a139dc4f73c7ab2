#pragma once

#include "configs/diagnostic.h"
#include "sim/sm/spec.h"

namespace warpfold::configs {
class Gpu;
}

namespace warpfold::sim {

// `gpu` with its factors applied. Fails where the architecture has no opcode table. The message is expected to have passed
// configs::check_gpu.
Expected<Spec> make_spec(const configs::Gpu& gpu);

}  // namespace warpfold::sim
