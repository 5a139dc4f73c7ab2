#pragma once

#include <memory>
#include <vector>

#include "configs/result.pb.h"
#include "sim/gpu/simulate.h"

namespace warpfold::cli {

// Numbers the estimated simulations of several outcomes (Fold.estimated). A simulation that two outcomes share has one number.
class EstimatedRuns {
 public:
  // Fills Fold.estimated and Fold.total_error_bound. `outcome` must have kept its runs (sim::Options::keep_runs).
  void fill(const sim::Outcome& outcome, configs::Result& result);

 private:
  uint32_t number_of(const std::shared_ptr<const sim::FoldReport>& report);

  std::vector<std::shared_ptr<const sim::FoldReport>> known_;  // by number, from 1 on; a shared simulation has one report
};

}  // namespace warpfold::cli
