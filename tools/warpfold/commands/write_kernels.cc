#include <filesystem>

#include "tools/warpfold/commands/commands.h"
#include "traces/trace_file.h"

namespace warpfold::cli {

Outcome<void> check_trace_name(const std::string& output) {
  const std::string extension = std::filesystem::path(output).extension().string();
  if (extension == ".wft" || extension == ".wfs") return {};
  return user_error("--output " + output + ": a trace's name ends in .wft or .wfs");
}

Outcome<void> write_kernels(const std::string& path, const std::vector<traces::Kernel>& kernels) {
  if (std::filesystem::path(path).extension() == ".wfs") return write_output(path, traces::format_kernels(kernels));
  const auto bytes = traces::trace_bytes(path, kernels);
  if (!bytes) return std::unexpected(Failure(bytes.error()));
  return write_output(path, *bytes);
}

}  // namespace warpfold::cli
