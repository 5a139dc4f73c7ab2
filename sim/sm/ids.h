// Numbers that name something on an SM. Each has a type of its own, so that none is taken for another.
#pragma once

#include <cstdint>

namespace warpfold::sim {

enum class WarpSlot : uint32_t {};   // of the SM: SmState::place_of says on which sub-core it lies
enum class RingStage : uint32_t {};  // of a ring of mbarriers, or behind its origin where a key says so

}  // namespace warpfold::sim
