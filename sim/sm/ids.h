// Identifiers on an SM. Each has its own type, so that a mix-up does not compile.
#pragma once

#include <cstdint>

namespace warpfold::sim {

enum class WarpSlot : uint32_t {};   // of the SM; SmState::place_of says on which sub-core the slot lies
enum class RingStage : uint32_t {};  // of a ring of mbarriers; in state keys, counted from the ring's origin

}  // namespace warpfold::sim
