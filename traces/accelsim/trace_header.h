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

// Lines before the first thread block. Fields that no line states keep their defaults.
struct TraceHeader {
  std::string kernel_name;
  uint64_t kernel_id = 0;
  std::array<uint64_t, 3> grid{1, 1, 1};
  std::array<uint64_t, 3> block{1, 1, 1};
  uint64_t shared_memory = 0;
  uint64_t registers = 0;
  uint64_t binary_version = 0;  // 80 for sm_80
  uint64_t stream = 0;
  uint64_t shared_base = 0;  // start of the 16 MiB windows of generic addresses for shared and local memory
  uint64_t local_base = 0;
  std::string nvbit_version;
  int version = 1;  // first number of the tracer's version
  bool line_numbers = false;

  // From "#traces format = ...": numbers before the PC. In raw traces they name the CTA and the warp.
  size_t leading = 0;  // without the line number
  bool format_known = false;

  // Streams written by an export, for facts that addresses alone do not state (exporter.h).
  std::vector<MemoryStream> streams;
  bool synthetic = false;  // the trace has #warpfold lines

  int registers_line = 1;
  int binary_line = 1;
  int block_line = 1;
  int grid_line = 1;

  uint64_t threads() const { return block[0] * block[1] * block[2]; }
};

// Reads lines up to the first line of the body, which stays in `line`: the start of a thread block, or the first
// instruction of a raw trace. Returns false if the file ends before.
Expected<bool> read_header(LineSource& lines, TraceHeader& header, std::string_view& line);

// Returns "sm_80" for binary version 80. Fails at the header's line if no opcode table fits.
Expected<std::string> architecture_of(const TraceHeader& header, const std::string& file);
// Checks that registers, grid and block are possible in a launch. Fails at the line that is not.
Expected<void> check_header(const TraceHeader& header, const std::string& file);

}  // namespace warpfold::traces::accelsim
