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

// The interpretation of a launch: a kernel that can be simulated, or the reason why there is none.
struct Reading {
  std::string family;                            // empty: no rule matches the name
  std::string reads_as;                          // tile and sizes, for display
  std::vector<std::string> notes;                // assumptions, and contradictions between grid and sizes
  std::string opaque;                            // the reason if `run` is missing
  std::optional<validation::Run> run{};          // the kernel alone, named "kernel"
  configs::OpaqueDemand demand = configs::DRAM;  // assumed of a stand-in
};

struct SimulatedGpu {
  const configs::Gpu& gpu;
  bool traced = false;    // the trace is of this GPU, so its tiles and footprints apply; otherwise the library chooses anew
  std::string operators;  // folder of the launch descriptions
};

// Interprets a launch: its name by the table, its sizes by the operator and the grid. The kernel is made in the same way as
// validation makes one from a measured row (RowMapper).
Reading read_launch(const NameTable& names, const LaunchShape& shape, const SimulatedGpu& on, validation::RowMapper& mapper);

// Gives the kernel's CTA the registers and shared memory of the launch in the profile. The reading becomes opaque if no kernel can
// be made. Generates the kernel, which takes longer than read_launch.
void occupy_as_traced(const LaunchShape& shape, Reading& reading);

}  // namespace warpfold::profile
