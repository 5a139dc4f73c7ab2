#pragma once

#include <optional>
#include <string_view>

#include "isa/instruction.h"

namespace warpfold::sass {

// The control code in the annotations that nvdisasm prints behind an instruction's operands. `line`, which ends in ;, loses them
// and the semicolon; nullopt where there are none.
//
//   LDC R0, c[0x0][0x360] &req={1,0} &rd=0x2 &wr=0x1 ?WAIT5_END_GROUP;
//                         |          |       |       |
//                         wait mask  |       |       stall 5, yield; ?trans5: stall 5, no yield
//                                    |       write counter
//                                    read counter
//
// Source: nvdisasm of CUDA 12.9 and later beside the encodings of the same instructions, as public listings of sm_120 have them.
std::optional<isa::ControlCode> take_annotations(std::string_view& line);

}  // namespace warpfold::sass
