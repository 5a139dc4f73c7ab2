#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "isa/behaviour.h"
#include "traces/access/coalesce.h"
#include "traces/access/lane_access.h"
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

// Returns the data stage passes of a global access, whose lanes touch the lines `touched`. A load takes as many as its
// lines take in L1's tag stage (tag_passes) or its words in the banks of L1's data (shared_wavefronts), whichever is
// more; a store one for each line. An access that bypasses L1 (LDGSTS.BYPASS) goes from L2 to shared memory, so its
// lines do not matter.
uint32_t global_wavefronts(Access access, std::string_view opcode, const LaneAccess& lanes, const std::vector<LineTouch>& touched);

}  // namespace warpfold::traces::access
