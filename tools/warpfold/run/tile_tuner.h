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

// Takes a kernel for each GEMM with `tile: AUTO`, as an autotuner does: the library's candidates for the shape are ordered by their
// limiters' lower bounds and simulated alone, until no bound lies more than 1 % below the fastest time found. A
// choice once made stands for every scenario with the same GEMM and GPU.
class TileTuner {
 public:
  // Replaces such GEMMs by the kernels taken, with the kernel behind one whose parts of k are added by another. Nothing where the
  // scenario has none.
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

// `gemm` as the kernels that run it: with reduction PARALLEL, one that adds its parts follows.
std::vector<configs::Kernel> kernels_of_gemm(const configs::Kernel& kernel);

}  // namespace warpfold::cli
