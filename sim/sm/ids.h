// Identifiers on an SM. Each has its own type, so that a mix-up does not compile.
#pragma once

#include <cstdint>

namespace warpfold::sim {

enum class WarpSlot : uint32_t {};   // warp slot of the SM; SmState::place_of returns its sub-core
enum class RingStage : uint32_t {};  // stage of a ring of mbarriers; in state keys, counted from the ring's origin

}  // namespace warpfold::sim
