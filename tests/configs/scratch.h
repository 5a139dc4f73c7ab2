#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "configs/load.h"

namespace warpfold::configs {

// Tests in a folder of their own, which is also the current one: paths in messages are as short as they are written here.
class InScratchFolder : public testing::Test {
 protected:
  InScratchFolder();
  ~InScratchFolder() override;
  InScratchFolder(const InScratchFolder&) = delete;
  InScratchFolder& operator=(const InScratchFolder&) = delete;

  static void write(const std::string& path, const std::string& text);

 private:
  std::filesystem::path before_;
  std::filesystem::path folder_;
};

// A GPU file of this repository, by its name in configs/gpus.
std::string gpu_path(const std::string& name);

// "gpu_file: ..." and a line break, then one kernel "rng" on line 2.
std::string small_scenario();

// The message of a load that must fail; a success reads "no error".
std::string scenario_error(const std::string& path, const std::vector<std::string>& settings = {});
std::string gpu_error(const std::string& path);

}  // namespace warpfold::configs
