#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "configs/result.pb.h"
#include "sim/gpu/simulate.h"

namespace warpfold::cli {

// Simulations made again with every instruction replayed: as many as a budget of warp instructions allows, the smallest first, so
// that most kernels are among them. Exact ones must be the same in every figure. Of bounded ones each kernel's cycles must lie
// within their bound, and instructions, CTAs and bytes of L2 be the same.
class SelfCheck {
 public:
  // Of what `outcomes` consist of (sim::Options::keep_runs), `jobs` at a time. A difference is a defect of the program, or a bound
  // that does not hold: throws std::logic_error with the kernel, the figure, both values and by how much they differ.
  SelfCheck(const std::vector<sim::Outcome>& outcomes, uint64_t budget, unsigned jobs);

  // Of a result that consists of these, some of the outcomes.
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
