#pragma once

#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/kernel.h"

namespace warpfold::traces {

// A trace file (.wft) is one zstd frame of length-delimited protobuf messages: a Header, then one Kernel message each (see
// trace.proto). Writing goes to a temporary file that is renamed, so that a failure leaves an existing file alone.
Expected<void> write_trace(const std::string& path, const std::vector<Kernel>& kernels);
// Reads and validates. Truncated, corrupt or foreign files, unknown versions, opcodes and architectures fail with one message.
Expected<std::vector<Kernel>> read_trace(const std::string& path);

// The readable text of kernels (.wfs), which parses back to the same kernels and prints again to the same bytes:
//
//   kernel philox architecture=sm_90 registers=32 shared_memory=0 cluster=1
//     parameter trips
//     class full trips=64
//     grid full*1056
//     stream mask write dram=1/1
//     role rng warps=4
//       [B------:R-:W-:-:S01] S2R R0, SR_TID.X ;
//       loop trips
//         ...
//       end
//       [B------:R-:W-:-:S05] EXIT ;
//     end
//   end
std::string format_kernels(const std::vector<Kernel>& kernels);
Expected<std::vector<Kernel>> parse_kernels(const std::string& file, const std::string& text);

}  // namespace warpfold::traces
