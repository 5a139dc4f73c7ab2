#pragma once

#include <cstdint>

namespace warpfold::sim {

using WarpMask = uint32_t;  // one bit per warp slot of a sub-core

}  // namespace warpfold::sim
