#include <filesystem>

#include "tools/warpfold/commands/commands.h"
#include "traces/trace_file.h"

namespace warpfold::cli {

Outcome<void> write_kernels(const std::string& path, const std::vector<traces::Kernel>& kernels) {
  if (std::filesystem::path(path).extension() == ".wfs") return write_output(path, traces::format_kernels(kernels));
  const auto bytes = traces::trace_bytes(path, kernels);
  if (!bytes) return std::unexpected(Failure(bytes.error()));
  return write_output(path, *bytes);
}

}  // namespace warpfold::cli
