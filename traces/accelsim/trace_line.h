#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "traces/access/lane_access.h"

namespace warpfold::traces::accelsim {

// Most registers before or after the opcode. Real lines have at most eight.
inline constexpr size_t kMostRegistersOfLine = 16;

struct RegisterList {
  std::array<std::string_view, kMostRegistersOfLine> names;  // "R12", "UR4", "P0", "UP1"
  size_t count = 0;
};

// An instruction of a warp as on its line. Views point into the line.
struct TraceLine {
  std::array<uint64_t, 4> leading{};  // raw traces: CTA x, y, z and warp
  uint64_t pc = 0;
  uint32_t mask = 0;  // lanes that execute it
  RegisterList destinations;
  std::string_view opcode;
  RegisterList sources;
  std::string_view text;       // from the number of destinations to the last source: equal for all lines of an instruction
  uint32_t width = 0;          // bytes per lane as the tracer states them; 0: no memory access
  bool has_addresses = false;  // access.addresses of active lanes are valid
  access::LaneAccess access;
  bool bulk = false;  // bulk copy: bytes instead of addresses
  uint64_t bulk_bytes = 0;
  int64_t immediate = 0;
};

// Layout of a trace's lines.
struct LineForm {
  int version = 5;
  size_t leading = 0;        // numbers before the PC: in raw traces CTA x, y, z, warp, and others that the tracer was
                             // built to write
  bool line_number = false;  // a line number follows them
};

// Reads a line into `out`. Returns a message if the line is wrong. Masks, addresses and their number must agree.
std::optional<std::string> parse_line(std::string_view line, const LineForm& form, TraceLine& out);

}  // namespace warpfold::traces::accelsim
