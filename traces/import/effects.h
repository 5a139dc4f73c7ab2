#pragma once

#include <vector>

#include "traces/import/path.h"
#include "traces/import/touch.h"
#include "traces/import/warp.h"

namespace warpfold::sass {

// Returns the effect of one execution by the lanes of `active`: the bytes of the sectors that a global access touches,
// the wavefronts of a shared-memory access, the named barrier, and groups of cp.async. If an address moves with a
// variable by other than a multiple of a sector, bytes are the mean over its positions. If `touches` is given, the
// touched memory is appended. Throws UnknownValue if the address is unknown and the launch does not state the number of
// sectors.
isa::Effect effect_of(const Warp& warp, const Op& op, uint32_t active, std::vector<Touch>* touches);

// Returns the 32-bit registers that the first register destination covers, or 0 if there is none.
uint32_t destination_words(const Op& op);

// True if the instruction reads or writes shared memory.
bool is_shared_access(const Op& op);

// is_local_access(): LDL and STL. is_texture(): the instruction accesses memory through a descriptor whose layout only
// the driver knows (TEX, SULD and similar opcodes).
bool is_local_access(const Op& op);
bool is_texture(const Op& op);

}  // namespace warpfold::sass
