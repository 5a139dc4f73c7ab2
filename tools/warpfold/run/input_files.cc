#include "tools/warpfold/run/input_files.h"

#include <filesystem>

#include "configs/read_file.h"
#include "tools/warpfold/figures/content_hash.h"

namespace warpfold::cli {

std::string hash_of_inputs(const configs::Scenario& scenario, const std::string& file) {
  const auto folder = std::filesystem::path(file).parent_path();
  std::string hashes;
  for (const configs::Kernel& kernel : scenario.kernel()) {
    if (!kernel.trace().has_path() && !kernel.has_listing()) continue;
    const std::string& name = kernel.has_trace() ? kernel.trace().path() : kernel.listing().path();
    if (const auto bytes = read_file((folder / name).string())) hashes += content_hash(*bytes);
  }
  return hashes;
}

}  // namespace warpfold::cli
