#pragma once

#include <cstdint>

namespace warpfold::sim {

using WarpMask = uint32_t;  // a bit for each warp slot of a sub-core

}  // namespace warpfold::sim
