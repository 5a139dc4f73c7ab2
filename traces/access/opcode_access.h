#pragma once

#include <cstdint>
#include <string_view>

#include "isa/behaviour.h"
#include "traces/access/reuse.h"

namespace warpfold::traces::access {

// Use that an instruction makes of its lanes' addresses.
enum class Access : uint8_t { kNone, kGlobalLoad, kGlobalLoadPastL1, kGlobalStore, kLocal, kShared, kMatrix };

Access access_of(isa::Behaviour behaviour, std::string_view opcode);

bool is_global(Access access);
Kind kind_of(Access global);

// Returns the bytes that a lane moves, by the opcode's modifiers: LDG.E.128 16, LDS.U8 1, LDSM 16 (a row).
uint32_t access_bytes(std::string_view opcode);
// Returns the number of matrices of LDSM or STSM.
uint32_t matrices_of(std::string_view opcode);

// Returns the data stage passes of an access without conflicts, as the machine counts them. An effect states only
// wavefronts beyond these.
uint32_t fewest_wavefronts(Access access, std::string_view opcode);

// Returns the data stage passes of a global access that touches `lines` lines: one per line if L1's data is read or
// written. An access that bypasses L1 (LDGSTS.BYPASS) goes from L2 to shared memory, so its lines do not matter.
uint32_t global_wavefronts(Access access, std::string_view opcode, uint64_t lines);

}  // namespace warpfold::traces::access
