#pragma once

#include <cstdint>

#include "isa/instruction.h"

namespace warpfold::sass {

// Decodes the control code of a 128-bit encoding (sm_70 and later). `high` is the second word:
//
//   bit  58-61  reuse flags of the source slots (also in the text)
//        52-57  wait mask
//        49-51  read counter,  7: none
//        46-48  write counter, 7: none
//        45     0: yield
//        41-44  stall count
//
// 0x000fe40000000f00: stall 2, no yield, no counters. Source: CuAssembler's description of the format, and the recorded
// loops of tests/isa/data, which were printed with their control codes.
isa::ControlCode decode_control(uint64_t high);

}  // namespace warpfold::sass
