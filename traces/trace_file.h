#pragma once

#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/kernel.h"
#include "traces/text_places.h"

namespace warpfold::traces {

// A trace file (.wft) is one zstd frame of length-delimited protobuf messages: a Header, then one Kernel message each (see
// trace.proto). The kernels must be valid and of one architecture. `path` names the file in messages.
Expected<std::string> trace_bytes(const std::string& path, const std::vector<Kernel>& kernels);
// As write_file (configs/write_file.h): a failure leaves an existing file alone.
Expected<void> write_trace(const std::string& path, const std::vector<Kernel>& kernels);
// Reads and validates a trace file, or the text of one where the name ends in .wfs. Truncated, corrupt or foreign files, contents
// above 64 MiB, unknown versions, opcodes and architectures fail with one message. `places` is given where the parts of each kernel
// stand in the text.
Expected<std::vector<Kernel>> read_trace(const std::string& path, std::vector<TextPlaces>* places = nullptr);

// The readable text of kernels (.wfs), which parses back to the same kernels and prints again to the same bytes:
//
//   kernel philox architecture=sm_90 registers=32 shared_memory=0 cluster=1
//     parameter trips
//     class full trips=64
//     grid full*1056
//     stream mask write dram=1/1                  (or read; l1=1/2: so many of the requests hit in L1)
//     ring empty depth=4 arrivals=256 free
//     cursor load depth=4 start=0
//     role rng warps=4
//       [B------:R-:W-:-:S01] S2R R0, SR_TID.X ;
//       loop trips
//         ...
//       end
//       [B------:R-:W-:-:S05] EXIT ;
//     end
//   end
//
// kernel also takes flops= and source="..."; names that are not plain words stand in double quotes. A line `block` begins a new
// block where the text would otherwise not show that one ends. Lines that begin with # are comments.
std::string format_kernels(const std::vector<Kernel>& kernels);
// Reads and validates; `file` names the text in messages. `places` is given where the parts of each kernel stand.
Expected<std::vector<Kernel>> parse_kernels(const std::string& file, const std::string& text,
                                            std::vector<TextPlaces>* places = nullptr);

}  // namespace warpfold::traces
