#pragma once

#include <cstdint>

namespace warpfold::sim {

// A CTA keeps its place until the last of its warps has ended, and warps drift. After as many CTAs as fit have come and gone so
// often, that averages out. assumed: with 2, the random mixes of tests/bounded keep to their bounds.
inline constexpr uint64_t kGenerations = 2;

}  // namespace warpfold::sim
