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
  std::string architecture;  // of the opcode table; empty: what the header's binary version says
  // Called now and then with the bytes read so far, decompressed.
  std::function<void(uint64_t)> progress;
};

struct ImportedKernel {
  Kernel kernel;
  uint64_t stream = 0;        // CUDA's
  uint64_t id = 0;            // of the trace
  uint64_t bytes = 0;         // of the trace, decompressed
  uint64_t instructions = 0;  // warp instructions of the trace
  uint64_t ctas_of_grid = 0;  // the kernel has those that issued something
  double kept_share = 1;      // of the lines whose reuse was followed
  // DEPBAR of the text that wait for a dependence counter. A trace does not name the counter: they issue, and what is loaded is
  // waited for where it is used.
  uint64_t counter_waits = 0;
};

// Reads one kernel's trace (.traceg, or .trace as the tracer writes it) and rolls it again: programs are those of the warps,
// exactly; addresses become bytes, wavefronts and shares of hits. `file` names it in messages.
Expected<ImportedKernel> import_kernel(const std::string& file, std::unique_ptr<ByteSource> source, const ImportOptions& options);
Expected<ImportedKernel> import_kernel(const std::string& path, const ImportOptions& options);

}  // namespace warpfold::traces::accelsim
