#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/kernel_launch.pb.h"
#include "configs/places.h"
#include "configs/scenario.pb.h"
#include "configs/study.pb.h"

namespace warpfold::configs {

// Parses protobuf text format with file:line:column in every diagnostic, unknown fields with the nearest known name.
Expected<void> parse_text(const std::string& file, std::string_view text, google::protobuf::Message& message);

// Files that a text names lie beside it, or among the configurations: gpu_file: "h200_sxm" (configs/search_path.h).

// Reads a GPU file, or one of the configurations' GPUs by name: `base:` files first (a cycle fails), this file merged over them,
// then checked (check_gpu).
Expected<Gpu> load_gpu(const std::string& named);

// Reads a scenario: `base:` chain, launch descriptions of listings, then `settings` ("PATH=VALUE" each, in order: a declared
// parameter's name or a field path such as kernel.qkv.hopper_gemm.tile_n or gpu.sm.tensor.scale, which sm.tensor.scale means too),
// then parameter targets, then the GPU file with the scenario's `gpu` merged over it. The result is fully resolved (no base, gpu
// complete) and checked. `places` is given where everything was written, for what is found to be wrong later.
Expected<Scenario> load_scenario(const std::string& path, const std::vector<std::string>& settings, Places* places = nullptr);

// Reads a study, a file or one of the configurations' studies by name, and checks it; its scenario_file becomes relative to the
// current folder.
Expected<Study> load_study(const std::string& named, Places* places = nullptr);

// Reads a launch description: `base:` chain, then `settings`, "PATH=VALUE" each: grid.x=64, parameter.n.value=4096.
Expected<KernelLaunch> load_kernel_launch(const std::string& path, const std::vector<std::string>& settings,
                                          Places* places = nullptr);

// Field checks that need no simulation: zero clocks, negative or more than 100 % shares, unknown kernels in policies and
// dependences, cycles in `after`, tiles larger than the matrix, values outside the lists in the schema's comments.
Expected<void> check_gpu(const Gpu& gpu, const std::string& file);
Expected<void> check_scenario(const Scenario& scenario, const std::string& file);

}  // namespace warpfold::configs
