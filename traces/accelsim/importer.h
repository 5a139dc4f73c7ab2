#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "configs/diagnostic.h"
#include "traces/accelsim/byte_source.h"
#include "traces/access/reuse.h"
#include "traces/kernel.h"

namespace warpfold::traces::accelsim {

struct ImportOptions {
  access::CachesFor caches;
  std::string architecture;  // architecture of the opcode table; empty: from the binary version in the header
  // Called at intervals with the decompressed bytes read so far.
  std::function<void(uint64_t)> progress;
};

struct ImportedKernel {
  Kernel kernel;
  uint64_t stream = 0;        // CUDA stream
  uint64_t id = 0;            // kernel id in the trace
  uint64_t bytes = 0;         // decompressed size of the trace
  uint64_t instructions = 0;  // warp instructions in the trace
  uint64_t ctas_of_grid = 0;  // CTAs of the grid; the kernel contains only CTAs that issued an instruction
  double kept_share = 1;      // sampled share of the lines in the reuse analysis
  // Number of static DEPBAR that wait for a dependence counter. A trace does not name the counter, so they issue
  // without waiting; loaded data is waited for at its use.
  uint64_t counter_waits = 0;
};

// Reads one kernel's trace (.traceg, or .trace as the tracer writes it) and rolls it into loops. The programs are
// exactly those of the warps. Addresses become bytes, wavefronts and hit shares. `file` names the trace in messages.
Expected<ImportedKernel> import_kernel(const std::string& file, std::unique_ptr<ByteSource> source, const ImportOptions& options);
Expected<ImportedKernel> import_kernel(const std::string& path, const ImportOptions& options);

}  // namespace warpfold::traces::accelsim
