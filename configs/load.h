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

// Parses protobuf text format. Every diagnostic has file:line:column, and for an unknown field the nearest known name.
Expected<void> parse_text(const std::string& file, std::string_view text, google::protobuf::Message& message);

// Files that a text names lie beside it, or among the configurations: gpu_file: "h200_sxm" (configs/search_path.h).

// Reads a GPU file, or one of the configurations' GPUs by name: `base:` files first (a cycle fails), this file merged over them,
// then checked (check_gpu).
Expected<Gpu> load_gpu(const std::string& named);

// Reads a scenario in this order:
// 1. the `base:` chain;
// 2. launch descriptions of listings;
// 3. `settings`, "PATH=VALUE" each. PATH is a declared parameter or a field, such as kernel.qkv.hopper_gemm.tile_n or
//    gpu.sm.tensor.scale, also without its "gpu.";
// 4. targets of parameters;
// 5. the GPU file, with the scenario's `gpu` merged over it.
// The result is fully resolved (no base, gpu complete) and checked. `places` receives the place of every value, for
// faults found later.
Expected<Scenario> load_scenario(const std::string& path, const std::vector<std::string>& settings, Places* places = nullptr);

// Reads a study, a file or one of the configurations' studies by name, and checks it; its scenario_file becomes relative to the
// current folder.
Expected<Study> load_study(const std::string& named, Places* places = nullptr);

// Reads a launch description: `base:` chain, then `settings`, "PATH=VALUE" each: grid.x=64, parameter.n.value=4096.
Expected<KernelLaunch> load_kernel_launch(const std::string& path, const std::vector<std::string>& settings,
                                          Places* places = nullptr);

// Checks fields without simulation: zero clocks, shares below 0 or above 100 %, unknown kernels in policies and
// dependences, cycles in `after`, tiles larger than the matrix. Values must be among the values in the schema's
// comments.
Expected<void> check_gpu(const Gpu& gpu, const std::string& file);
Expected<void> check_scenario(const Scenario& scenario, const std::string& file);

}  // namespace warpfold::configs
