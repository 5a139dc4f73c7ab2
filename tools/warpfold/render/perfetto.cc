#include "tools/warpfold/render/perfetto.h"

#include "tools/perfetto/timeline_trace.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

Outcome<void> write_perfetto(const std::string& path, const configs::Result& result) {
  const auto trace = perfetto::timeline_trace(result);
  if (!trace) return std::unexpected(Failure(trace.error()));
  return write_output(path, *trace);
}

}  // namespace warpfold::cli
