#pragma once

#include <vector>

#include "traces/import/path.h"
#include "traces/import/touch.h"
#include "traces/import/warp.h"

namespace warpfold::sass {

// What one execution of the instruction moves and synchronises with, for the lanes of `active`: bytes of the sectors that a global
// access touches, wavefronts of a shared-memory access, the named barrier, the groups of cp.async. Where the address moves with a
// variable by what is no multiple of a sector, the sectors are the mean over its positions. `touches`: what is touched is added.
// Throws UnknownValue where the address is unknown and the launch does not say how many sectors it touches.
isa::Effect effect_of(const Warp& warp, const Op& op, uint32_t active, std::vector<Touch>* touches);

// 32-bit registers that the first register destination covers; 0: none.
uint32_t destination_words(const Op& op);

// Whether the instruction reads or writes shared memory, or does an atomic operation there.
bool is_shared_access(const Op& op);

// Whether the instruction reads or writes through a descriptor whose layout the driver alone knows: TEX, SULD and their kin.
bool is_local_access(const Op& op);
bool is_texture(const Op& op);

}  // namespace warpfold::sass
