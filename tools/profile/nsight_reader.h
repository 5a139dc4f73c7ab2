#pragma once

#include <string>
#include <string_view>

#include "configs/diagnostic.h"
#include "tools/profile/profile.h"

namespace warpfold::profile {

// True if a line of the text is the header of a table that read_nsight_table reads.
bool is_nsight_table(std::string_view text);

// Reads the launches of a CSV table from one of these commands:
//
//   nsys stats --report cuda_gpu_trace --format csv REPORT     Nsight Systems: start and duration of each launch and copy
//   ncu --csv --page raw (or details) ...                      Nsight Compute: a kernel at a time, so that starts are unknown:
//                                                              launches follow each other without gaps
//
// Lines before the header are messages of the tools. Units are in the headers, in a row of units, or beside the values. Fails, with
// file:line:column, if the table is damaged, a number is malformed, a unit is unknown, or there is no kernel.
Expected<Profile> read_nsight_table(const std::string& file, std::string_view text);

// Reads the launches of Nsight Systems' SQLite export (nsys export --type sqlite). The operators are the NVTX ranges of torch's
// emit_nvtx(record_shapes=True). Fails if the database is damaged, lacks the tables of CUDA's kernels, or has views in their place.
Expected<Profile> read_nsight_database(const std::string& path);

}  // namespace warpfold::profile
