#pragma once

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <vector>

#include "sim/plan/options.h"
#include "sim/plan/outcome.h"
#include "sim/sm/spec.h"
#include "traces/kernel.h"
#include "traces/launch.h"

namespace warpfold::sim {

// Outcomes of runs, found by machine, kernels, how the kernels share the machine, and how the run is simulated. Names
// of kernels do not matter. Safe for several threads: a thread waits for a run that another thread is simulating.
class RunCache {
 public:
  // Returns the outcome of a run of these launches. The first request calls `make`; an exception from it reaches every
  // request for that run. Options that tell runs apart: accounting, folding, alternative bounds, dirty bytes in L2, and
  // whether launches are serialised.
  std::shared_ptr<const Outcome> get(const Spec& machine, const std::vector<traces::Launch>& launches, const Options& options,
                                     const std::function<Outcome()>& make);

 private:
  struct Run {
    Spec machine;
    std::vector<traces::Kernel> kernels;   // without their names
    std::vector<traces::Launch> launches;  // without their kernels
    bool serialise;
    AccountGranularity account;
    uint64_t dirty_bytes;
    FoldOptions fold;
    std::vector<std::vector<PlacementBounds>> alternative_bounds;

    bool operator==(const Run&) const = default;
  };
  struct Known {
    Run run;
    std::shared_future<std::shared_ptr<const Outcome>> outcome;
  };

  std::mutex mutex_;
  std::vector<Known> runs_;
};

}  // namespace warpfold::sim
