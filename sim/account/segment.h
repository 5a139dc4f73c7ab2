#pragma once

#include <cstdint>
#include <string_view>

#include "configs/enum_values.h"

namespace warpfold::sim {

// Phase of a role's program. The main loop is the innermost loop that issues the most instructions of the role over the
// whole launch. Code before it is the prologue and code after it the epilogue, in program order. In a persistent tile
// loop, prologue and epilogue repeat with every tile:
//
//   tile loop { set-up | k loop | store }      prologue, main loop, epilogue, prologue, main loop, ...
//
// A role without a loop is all main loop.
enum class Phase : uint8_t { kPrologue, kMainLoop, kEpilogue };
inline constexpr int kPhases = enum_size<Phase>();
std::string_view phase_name(Phase phase);  // "prologue", "main_loop", "epilogue"

// Segments into which a launch's warp-cycles are split.
enum class AccountGranularity : uint8_t {
  kByPhase,        // by role and phase
  kByInstruction,  // by instruction; makes state keys larger
};

// Part of a kernel's code that has a row in the account.
struct Segment {
  uint32_t role = 0;
  Phase phase = Phase::kMainLoop;
  uint32_t position = 0;  // position of an instruction in its role's program, each loop body counted once; 0 if by phase
};

}  // namespace warpfold::sim
