#pragma once

#include <cstddef>
#include <vector>

#include "configs/gpu.pb.h"
#include "configs/result.pb.h"
#include "sim/gpu/simulate.h"

namespace warpfold::cli {

// Simulations made again by sim::reference: every SM, cycle after cycle.
class ReferenceCheck {
 public:
  struct Simulation {
    const configs::Gpu* gpu;
    const std::vector<sim::Launch>* launches;
    bool serialise;
    const sim::Outcome* outcome;
  };

  // `jobs` at a time. Instructions must be the same: a difference is a defect of the program, and throws std::logic_error with the
  // kernel and both values.
  ReferenceCheck(const std::vector<Simulation>& simulations, unsigned jobs);

  // Of a result that consists of these of the simulations.
  configs::ReferenceCheck of(const std::vector<size_t>& simulations) const;

 private:
  struct Checked {
    size_t kernels;
    double cycles_error;  // the largest of a kernel, relative
  };
  std::vector<Checked> checked_;
};

}  // namespace warpfold::cli
