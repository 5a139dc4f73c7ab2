#pragma once

#include <cstddef>
#include <vector>

#include "configs/gpu.pb.h"
#include "configs/result.pb.h"
#include "sim/gpu/simulate.h"

namespace warpfold::cli {

// Repeats simulations by sim::reference: every SM, cycle after cycle.
class ReferenceCheck {
 public:
  struct Simulation {
    const configs::Gpu* gpu;
    const std::vector<sim::Launch>* launches;
    bool serialise;
    const sim::Outcome* outcome;
  };

  // Runs `jobs` simulations at a time. A difference in instructions is a defect of the program and throws std::logic_error with the
  // kernel and both values.
  ReferenceCheck(const std::vector<Simulation>& simulations, unsigned jobs);

  // Returns the check of a result that consists of these simulations.
  configs::ReferenceCheck of(const std::vector<size_t>& simulations) const;

 private:
  struct Checked {
    size_t kernels;
    double cycles_error;  // the largest relative error of a kernel
  };
  std::vector<Checked> checked_;
};

}  // namespace warpfold::cli
