#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "tools/profile/name_table.h"
#include "tools/profile/profile.h"
#include "tools/validation/map_row.h"

namespace warpfold::profile {

// A launch as a kernel that can be simulated, or why it is none.
struct Reading {
  std::string family;                    // empty: no rule knows the name
  std::string reads_as;                  // tile and sizes, for people
  std::vector<std::string> notes;        // assumptions; where grid and sizes disagree
  std::string opaque;                    // why `run` is missing
  std::optional<validation::Run> run{};  // the kernel alone, called "kernel"
};

struct SimulatedGpu {
  const configs::Gpu& gpu;
  bool traced = false;    // the trace is of this GPU: tiles and footprints count; else the library chooses anew
  std::string operators;  // folder of the launch descriptions
};

// The name by the table, sizes by the operator and the grid, the kernel as validation makes one of a measured row (RowMapper).
Reading read_launch(const NameTable& names, const LaunchShape& shape, const SimulatedGpu& on, validation::RowMapper& mapper);

// A CTA of the reading's kernel occupies what the profile says of the launch. The reading becomes opaque where no kernel can be
// made of it. Makes the kernel, which takes longer than reading.
void occupy_as_traced(const LaunchShape& shape, Reading& reading);

}  // namespace warpfold::profile
