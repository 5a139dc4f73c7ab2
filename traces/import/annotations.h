#pragma once

#include <optional>
#include <string_view>

#include "isa/instruction.h"

namespace warpfold::sass {

// Returns the control code from the annotations that nvdisasm prints after an instruction's operands, or nullopt if
// there are none. Removes the annotations and the semicolon from `line`, which ends in ;.
//
//   LDC R0, c[0x0][0x360] &req={1,0} &rd=0x2 &wr=0x1 ?WAIT5_END_GROUP;
//                         |          |       |       |
//                         wait mask  |       |       stall 5, yield; ?trans5: stall 5, no yield
//                                    |       write counter
//                                    read counter
//
// Source: nvdisasm of CUDA 12.9 and later, compared with the encodings of the same instructions in public listings of
// sm_120.
std::optional<isa::ControlCode> take_annotations(std::string_view& line);

}  // namespace warpfold::sass
