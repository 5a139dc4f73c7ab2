#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/result.pb.h"
#include "configs/scenario.pb.h"
#include "sim/gpu/simulate.h"

namespace warpfold::cli {

// Chooses a kernel for each GEMM with `tile: AUTO`, as an autotuner does. The library's candidates for the shape are sorted by
// their limiters' lower bounds and simulated alone, until no bound lies more than 1 % below the fastest time. A choice holds for
// every scenario with the same GEMM and GPU.
class TileTuner {
 public:
  // Replaces these GEMMs by the chosen kernels. A kernel that adds the parts follows a GEMM that splits k. Returns no choices if
  // the scenario has no such GEMM.
  Expected<configs::TileChoices> tune(configs::Scenario& scenario);

 private:
  struct Choice {
    configs::Kernel taken;
    configs::TileChoice said;
  };
  Expected<Choice> choose(const configs::Kernel& kernel, const configs::Gpu& gpu);

  std::mutex guard_;
  std::map<std::pair<std::string, std::string>, Choice> known_;  // by GEMM and GPU, serialized
};

// Returns the kernels that run a GEMM. With reduction PARALLEL, a kernel that adds the parts follows.
std::vector<configs::Kernel> kernels_of_gemm(const configs::Kernel& kernel);

}  // namespace warpfold::cli
