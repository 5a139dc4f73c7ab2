#pragma once

#include <cstdint>

#include <string>
#include <string_view>

#include "configs/diagnostic.h"
#include "traces/kernel.h"
#include "traces/text_places.h"

namespace warpfold::traces {

// Loops inside loops, at most: the loop counters that the machine keeps for a warp.
inline constexpr int kDeepestLoops = 8;
inline constexpr int kMostCursors = 8;                            // ring positions that a warp keeps
inline constexpr uint32_t kMostRegisters = 255;                   // of a thread; CUDA programming guide, compute capabilities table
inline constexpr uint32_t kMostSharedMemory = uint32_t{1} << 24;  // bytes of a CTA. assumed: 64 times what any GPU so far has
inline constexpr uint32_t kMostStages = 4096;  // mbarriers of 8 bytes: a ring of more leaves no shared memory to fill

// Whether `text` may name a role, ring, cursor, stream, parameter or CTA class: a letter or underscore, then letters, digits,
// underscores, dots and dashes. Kernel names may be any text (C++ signatures).
bool is_name(std::string_view text);

// Checks what the machine relies on: known architecture and opcodes, non-empty roles that end with EXIT, trip counts of at
// least one, indices (rings, cursors, streams, parameters, classes) in range, warps a multiple that fits a CTA (at most
// 1024 threads), registers 1-255, at most kMostSharedMemory, grid of at least one CTA, ring depths and arrivals of at least one,
// cursor depth equal to the depth of each ring it is used with, wgmma only in roles of four warps aligned to four. Also: effects
// only on opcodes that have them, control codes that exist, EXIT nowhere else, names that can be written and are unique of their
// kind, loops that issue something and nest at most kDeepestLoops deep, issued instructions that fit 64 bits. `file` names it in
// messages, which say where in its text the kernel is wrong if `places` knows.
Expected<void> validate(const Kernel& kernel, const std::string& file, const TextPlaces& places = {});

}  // namespace warpfold::traces
