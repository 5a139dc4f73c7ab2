#include "traces/import/encoding.h"

namespace warpfold::sass {

isa::ControlCode decode_control(uint64_t high) {
  const auto bits = [high](int first, int count) { return static_cast<uint8_t>(high >> first & ((1U << count) - 1)); };
  const auto counter = [](uint8_t value) { return value < isa::kDependenceCounters ? value : isa::kNoCounter; };
  isa::ControlCode control;
  control.stall = bits(41, 4);
  control.yield = bits(45, 1) == 0;
  control.write_counter = counter(bits(46, 3));
  control.read_counter = counter(bits(49, 3));
  control.wait_mask = bits(52, 6);
  return control;
}

}  // namespace warpfold::sass
