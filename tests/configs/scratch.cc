#include "scratch.h"
#include "tests/source_dir.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace warpfold::configs {

InScratchFolder::InScratchFolder() : before_(std::filesystem::current_path()) {
  std::string name = (std::filesystem::temp_directory_path() / "warpfold-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = name;
  std::filesystem::current_path(folder_);
}

InScratchFolder::~InScratchFolder() {
  std::filesystem::current_path(before_);
  std::filesystem::remove_all(folder_);
}

void InScratchFolder::write(const std::string& path, const std::string& text) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
  std::ofstream(path) << text;
}

std::string gpu_path(const std::string& name) { return WARPFOLD_SOURCE_DIR "/configs/gpus/" + name; }

std::string small_scenario() {
  return "gpu_file: \"" + gpu_path("h100_sxm.textproto") +
         "\"\n"
         "kernel { name: \"rng\" philox { heads: 1 queries: 128 keys: 128 } }\n";
}

std::string scenario_error(const std::string& path, const std::vector<std::string>& settings) {
  const auto loaded = load_scenario(path, settings);
  return loaded ? "no error" : loaded.error().text();
}

std::string gpu_error(const std::string& path) {
  const auto loaded = load_gpu(path);
  return loaded ? "no error" : loaded.error().text();
}

}  // namespace warpfold::configs
