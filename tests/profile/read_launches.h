#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "configs/load.h"
#include "tests/source_dir.h"
#include "tools/profile/reading.h"

namespace warpfold::profile {

inline const std::string kConfigs = WARPFOLD_SOURCE_DIR "/configs";

using Inputs = std::vector<std::vector<uint64_t>>;

inline Reading read(const LaunchShape& shape, const std::string& gpu = "h100_sxm", bool traced = true) {
  const auto loaded = configs::load_gpu(kConfigs + "/gpus/" + gpu + ".textproto");
  if (!loaded) throw std::runtime_error(loaded.error().text());
  validation::RowMapper mapper(kConfigs + "/gpus", {});
  Reading reading = read_launch(NameTable::embedded(), shape, {*loaded, traced, kConfigs + "/kernels/operators"}, mapper);
  if (traced) occupy_as_traced(shape, reading);
  return reading;
}
inline Reading read(const std::string& name, const std::array<uint32_t, 3>& grid, const std::array<uint32_t, 3>& block,
                    const Inputs& inputs, const std::string& gpu = "h100_sxm", bool traced = true) {
  LaunchShape shape{.name = name, .grid = grid, .block = block, .registers_per_thread = 40, .shared_memory_bytes = 2048};
  shape.op.inputs = inputs;
  return read(shape, gpu, traced);
}
inline const configs::Kernel& kernel(const Reading& reading) {
  if (!reading.run) throw std::runtime_error(reading.opaque);
  return reading.run->scenario.kernel(0);
}

}  // namespace warpfold::profile
