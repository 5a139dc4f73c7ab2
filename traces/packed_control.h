#pragma once

#include <cstdint>

#include "isa/instruction.h"

namespace warpfold::traces {

// Packs a control code into 17 bits. trace.proto shows the layout with an example.
constexpr uint32_t pack_control(const isa::ControlCode& control) {
  return uint32_t{control.wait_mask} << 11U | uint32_t{control.read_counter} << 8U | uint32_t{control.write_counter} << 5U |
         uint32_t{control.yield} << 4U | uint32_t{control.stall};
}

constexpr isa::ControlCode unpack_control(uint32_t packed) {
  return {.stall = static_cast<uint8_t>(packed & 0xfU),
          .yield = (packed >> 4U & 1U) != 0,
          .write_counter = static_cast<uint8_t>(packed >> 5U & 7U),
          .read_counter = static_cast<uint8_t>(packed >> 8U & 7U),
          .wait_mask = static_cast<uint8_t>(packed >> 11U & 0x3fU)};
}

inline constexpr uint32_t kPackedControlLimit = 1U << 17U;

}  // namespace warpfold::traces
