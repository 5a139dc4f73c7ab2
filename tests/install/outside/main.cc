// Simulates a scenario that comes with Warpfold on a GPU given by name, and prints the cycles of each kernel.

#include <iostream>
#include <string>

#include "configs/load.h"
#include "configs/search_path.h"
#include "tools/warpfold/run/planned.h"
#include "tools/warpfold/run/runner.h"

int main(int argc, char** argv) {
  using namespace warpfold;
  configs::set_config_folder(WARPFOLD_CONFIGS);
  const auto file = configs::find_config(argc > 1 ? argv[1] : "qkv_philox_small", "scenarios");
  if (!file) return std::cerr << file.error().text() << '\n', 2;
  configs::Places places;
  auto scenario = configs::load_scenario(*file, {"gpu_file=h200_sxm"}, &places);
  if (!scenario) return std::cerr << scenario.error().text() << '\n', 2;
  workloads::KernelMaker kernels(*file);
  const auto planned = cli::plan_scenario(std::move(*scenario), kernels, places);
  if (!planned) return std::cerr << planned.error().text() << '\n', 2;
  const auto results = cli::Runner(kernels, "outside", {}).run({*planned});
  if (!results) return std::cerr << results.error().text << '\n', results.error().exit_code;
  for (const configs::KernelResult& kernel : results->front().kernels())
    std::cout << kernel.name() << ' ' << kernel.end_cycle() - kernel.start_cycle() << '\n';
}
