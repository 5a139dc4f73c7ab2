#pragma once

#include <string>
#include <string_view>

#include "configs/diagnostic.h"
#include "tools/profile/profile.h"

namespace warpfold::profile {

// Whether a line of the text is the header of a table that read_nsight_table reads.
bool is_nsight_table(std::string_view text);

// Launches in a table of CSV, of either:
//
//   nsys stats --report cuda_gpu_trace --format csv REPORT     Nsight Systems: start and duration of each launch and copy
//   ncu --csv --page raw (or details) ...                      Nsight Compute: a kernel at a time, so that starts are unknown:
//                                                              launches follow each other without gaps
//
// Lines before the header are messages of the tools. Units stand in the headers, in a row of units, or beside the values. Fails,
// with file:line:column, at a damaged table, a number that is none, an unknown unit, and where no kernel is.
Expected<Profile> read_nsight_table(const std::string& file, std::string_view text);

// Launches in the SQLite export of Nsight Systems (nsys export --type sqlite). NVTX ranges of torch's emit_nvtx(record_shapes=True)
// are the operators. Fails at a damaged database, one without the tables of CUDA's kernels, and at views in their place.
Expected<Profile> read_nsight_database(const std::string& path);

}  // namespace warpfold::profile
