#pragma once

#include <cstdint>

namespace warpfold::workloads {

constexpr uint64_t ceil_div(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

// A field of a configuration, or `standard` if the field is 0: not stated.
constexpr uint32_t or_default(uint32_t value, uint32_t standard) { return value != 0 ? value : standard; }

}  // namespace warpfold::workloads
