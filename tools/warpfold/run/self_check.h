#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "configs/result.pb.h"
#include "sim/gpu/simulate.h"

namespace warpfold::cli {

// Repeats simulations with every instruction replayed, as many as a budget of warp instructions allows. The smallest come first, so
// that the sample covers most kernels. Exact simulations must agree in every figure. In bounded simulations, each kernel's cycles
// must lie within the error bound, and instructions, CTAs and L2 bytes must agree.
class SelfCheck {
 public:
  // Repeats the runs of `outcomes` (sim::Options::keep_runs), `jobs` at a time. A difference is a defect of the program, or a bound
  // that does not hold: throws std::logic_error with the kernel, the figure, both values and their difference.
  SelfCheck(const std::vector<sim::Outcome>& outcomes, uint64_t budget, unsigned jobs);

  // Returns the check of a result that consists of these outcomes.
  configs::SelfCheck of(const std::vector<const sim::Outcome*>& outcomes) const;

 private:
  struct Checked {
    std::shared_ptr<const sim::MadeRun> run;
    double cycles_error = 0;
  };

  const Checked* find(const sim::MadeRun& run) const;

  uint64_t budget_;
  std::vector<Checked> checked_;
};

}  // namespace warpfold::cli
