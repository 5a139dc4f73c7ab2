#pragma once

#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/kernel.h"
#include "traces/text_places.h"

namespace warpfold::traces {

// Returns a trace file (.wft): one zstd frame of length-delimited protobuf messages, a Header and then one message per
// kernel (trace.proto). The kernels must be valid and of one architecture. `path` names the file in messages.
Expected<std::string> trace_bytes(const std::string& path, const std::vector<Kernel>& kernels);
// Writes the file as write_file() does (configs/write_file.h): a failure leaves an existing file unchanged.
Expected<void> write_trace(const std::string& path, const std::vector<Kernel>& kernels);
// Reads and validates a trace file, or its text form if the name ends in .wfs. Truncated, corrupt or foreign files,
// content above 64 MiB, and unknown versions, opcodes and architectures fail with one message. `places` receives the
// positions of each kernel's parts in the text.
Expected<std::vector<Kernel>> read_trace(const std::string& path, std::vector<TextPlaces>* places = nullptr);

// Returns the text form of kernels (.wfs). It parses back to the same kernels, which print to the same bytes:
//
//   kernel philox architecture=sm_90 registers=32 shared_memory=0 cluster=1
//     parameter trips
//     class full trips=64
//     grid full*1056
//     stream mask write dram=1/1                  (or read; l1=1/2: share of the requests that hit in L1)
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
// kernel also takes flops= and source="...". Names that are not plain words stand in double quotes. A line `block`
// begins a new block where the text would otherwise not show the end of a block. Lines that begin with # are comments.
std::string format_kernels(const std::vector<Kernel>& kernels);
// Reads and validates. `file` names the text in messages. `places` receives the positions of each kernel's parts.
Expected<std::vector<Kernel>> parse_kernels(const std::string& file, const std::string& text,
                                            std::vector<TextPlaces>* places = nullptr);

}  // namespace warpfold::traces
