#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/accelsim/line_source.h"
#include "traces/kernel.h"

namespace warpfold::traces::accelsim {

// The lines before the first thread block. What a line does not say keeps its default.
struct TraceHeader {
  std::string kernel_name;
  uint64_t kernel_id = 0;
  std::array<uint64_t, 3> grid{1, 1, 1};
  std::array<uint64_t, 3> block{1, 1, 1};
  uint64_t shared_memory = 0;
  uint64_t registers = 0;
  uint64_t binary_version = 0;  // 80: sm_80
  uint64_t stream = 0;
  uint64_t shared_base = 0;  // generic addresses of shared and local memory: a window of 16 MiB each
  uint64_t local_base = 0;
  std::string nvbit_version;
  int version = 1;  // of the tracer, its first number
  bool line_numbers = false;

  // From "#traces format = ...": numbers before the PC. Of raw traces they name the CTA and the warp.
  size_t leading = 0;  // without the line number
  bool format_known = false;

  // Written by warpfold: what addresses alone do not say (see exporter.h).
  std::vector<MemoryStream> streams;
  bool synthetic = false;  // there are such lines

  int registers_line = 1;
  int binary_line = 1;
  int block_line = 1;
  int grid_line = 1;

  uint64_t threads() const { return block[0] * block[1] * block[2]; }
};

// Reads lines up to the one that begins a thread block or, in a raw trace, the first instruction, which is left in `line`; false:
// the file ends there.
Expected<bool> read_header(LineSource& lines, TraceHeader& header, std::string_view& line);

// "sm_80" for binary version 80; fails at the header's line where no table of opcodes fits.
Expected<std::string> architecture_of(const TraceHeader& header, const std::string& file);
// Whether registers and the block can be those of a launch; fails at the line that cannot.
Expected<void> check_header(const TraceHeader& header, const std::string& file);

}  // namespace warpfold::traces::accelsim
