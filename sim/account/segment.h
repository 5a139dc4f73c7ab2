#pragma once

#include <cstdint>
#include <string_view>

#include "configs/enum_values.h"

namespace warpfold::sim {

// Where in its role's program a warp is. The main loop is the loop without loops in it that holds most of the instructions that the
// role issues over the whole launch; what stands before it is prologue, what stands behind it is epilogue, in the order of the
// code. Round a persistent tile loop the two come back with every tile:
//
//   tile loop { set-up | k loop | store }      prologue, main loop, epilogue, prologue, main loop, ...
//
// A role without a loop is all main loop.
enum class Phase : uint8_t { kPrologue, kMainLoop, kEpilogue };
inline constexpr int kPhases = enum_size<Phase>();
std::string_view phase_name(Phase phase);  // "prologue", "main_loop", "epilogue"

// Into what a launch's warp-cycles are split.
enum class AccountGranularity : uint8_t {
  kByPhase,        // role and phase
  kByInstruction,  // instruction; state keys cost more to keep
};

// A part of a kernel's code that has an account of its own.
struct Segment {
  uint32_t role = 0;
  Phase phase = Phase::kMainLoop;
  uint32_t position = 0;  // of an instruction in its role's program, loops counted once; else 0
};

}  // namespace warpfold::sim
