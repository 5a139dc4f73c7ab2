#pragma once

#include <cstdint>
#include <string_view>

#include "isa/behaviour.h"
#include "traces/access/reuse.h"

namespace warpfold::traces::access {

// What an instruction does with the addresses of its lanes.
enum class Access : uint8_t { kNone, kGlobalLoad, kGlobalLoadPastL1, kGlobalStore, kLocal, kShared, kMatrix };

Access access_of(isa::Behaviour behaviour, std::string_view opcode);

bool is_global(Access access);
Kind kind_of(Access global);

// Bytes that a lane moves by the opcode's modifiers: LDG.E.128 16, LDS.U8 1, LDSM rows of 16.
uint32_t access_bytes(std::string_view opcode);
// Of LDSM and STSM.
uint32_t matrices_of(std::string_view opcode);

// Passes through the data stage of an access whose lanes meet no conflict, in the machine's terms: an effect says only what is
// beyond.
uint32_t fewest_wavefronts(Access access, std::string_view opcode);

// Of a global access whose lanes lie on so many lines: one a line where L1's data is read or written. What goes past L1
// (LDGSTS.BYPASS) comes from L2 and is written to shared memory, whatever lines it lay on.
uint32_t global_wavefronts(Access access, std::string_view opcode, uint64_t lines);

}  // namespace warpfold::traces::access
