#include "tools/warpfold/run/input_files.h"

#include <dlfcn.h>

#include <filesystem>
#include <string_view>

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

// In a Python package, this code is in an extension module, not in the program that loaded it.
std::string program_hash() {
  Dl_info here{};
  std::string file = "/proc/self/exe";
  if (dladdr(reinterpret_cast<const void*>(&program_hash), &here) != 0 && std::string_view(here.dli_fname).contains(".so"))
    file = here.dli_fname;
  const auto program = read_file(file);
  return program ? content_hash(*program) : WARPFOLD_VERSION;
}

}  // namespace warpfold::cli
