#pragma once

#include <cstdint>

#include <string>
#include <string_view>

#include "configs/diagnostic.h"
#include "traces/kernel.h"
#include "traces/text_places.h"

namespace warpfold::traces {

// Deepest nesting of loops: the number of loop counters that the machine keeps for a warp.
inline constexpr int kDeepestLoops = 8;
inline constexpr int kMostCursors = 8;                            // ring positions that the machine keeps for a warp
inline constexpr uint32_t kMostRegisters = 255;                   // per thread; CUDA programming guide, compute capabilities table
inline constexpr uint32_t kMostSharedMemory = uint32_t{1} << 24;  // bytes per CTA. assumed: 64 times the size of any GPU so far
inline constexpr uint32_t kMostStages = 4096;  // mbarriers of 8 bytes: a larger ring would leave no shared memory for data

// True if `text` may name a role, ring, cursor, stream, parameter or CTA class: a letter or underscore, then letters,
// digits, underscores, dots and dashes. Kernel names may be any text (C++ signatures).
bool is_name(std::string_view text);

// Checks all properties of a kernel on which the machine relies:
//
// - Architecture and opcodes are known; control codes exist; effects occur only on opcodes that have them.
// - Names can be written and are unique within their kind. Indices (rings, cursors, streams, parameters, classes) are in
//   range.
// - Roles are not empty and end with EXIT; only @!PT EXIT occurs elsewhere. A CTA has at most 1024 threads.
// - Loops issue instructions and nest at most kDeepestLoops deep. A literal trip count is at least one; a parameter may
//   be 0 if code follows the loop. The issued instructions fit 64 bits.
// - Registers are 1-255, shared memory is at most kMostSharedMemory. The grid has at least one CTA and whole clusters.
// - Ring depths and arrivals are at least one. A cursor has the depth of each ring that it is used with.
// - The four warps of a warpgroup issue the same wgmma instructions.
//
// `file` names the kernel's file in messages. If `places` knows the position of the fault, messages state it.
Expected<void> validate(const Kernel& kernel, const std::string& file, const TextPlaces& places = {});

}  // namespace warpfold::traces
