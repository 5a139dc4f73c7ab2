#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "traces/access/lane_access.h"

namespace warpfold::traces::accelsim {

// Up to so many registers before and after the opcode; real lines have at most eight.
inline constexpr size_t kMostRegistersOfLine = 16;

struct RegisterList {
  std::array<std::string_view, kMostRegistersOfLine> names;  // "R12", "UR4", "P0", "UP1"
  size_t count = 0;
};

// One instruction of a warp, as a line has it. Views point into the line.
struct TraceLine {
  std::array<uint64_t, 4> leading{};  // of raw traces: CTA x, y, z and warp
  uint64_t pc = 0;
  uint32_t mask = 0;  // of lanes that execute it
  RegisterList destinations;
  std::string_view opcode;
  RegisterList sources;
  std::string_view text;       // from the destinations' number to the last source: the same for all lines of an instruction
  uint32_t width = 0;          // bytes a lane as the tracer has them; 0: no memory
  bool has_addresses = false;  // access.addresses of active lanes
  access::LaneAccess access;
  bool bulk = false;  // a bulk copy: bytes instead of addresses
  uint64_t bulk_bytes = 0;
  int64_t immediate = 0;
};

// How lines of a trace are laid out.
struct LineForm {
  int version = 5;
  size_t leading = 0;        // numbers before the PC: of raw traces CTA x, y, z, warp, and what else the tracer was built to write
  bool line_number = false;  // behind them
};

// Reads a line into `out`; what is wrong with it, or nothing. Masks, addresses and their number must agree.
std::optional<std::string> parse_line(std::string_view line, const LineForm& form, TraceLine& out);

}  // namespace warpfold::traces::accelsim
