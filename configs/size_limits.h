#pragma once

#include <cstdint>

namespace warpfold::configs {

// No claims about hardware: they keep counts of elements and operations within 64 bits.
constexpr uint64_t kMostSize = uint64_t{1} << 26;   // rows, columns, tokens, heads, a dimension of a tensor
constexpr uint64_t kMostWords = uint64_t{1} << 48;  // of a tensor or an iteration space: counts of operations stay below 2^63

}  // namespace warpfold::configs
