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

// Outcomes of runs by what tells runs apart: machine, kernels, how those share it, and how the run is made. Two kernels are equal
// whatever their names are. For many threads: a thread waits for a run that another one is making.
class RunCache {
 public:
  // The outcome of a run of these launches; made by `make` at the first request. Of `options` accounting, folding,
  // alternative bounds, what is dirty in L2 and whether launches are serialised tell runs apart.
  std::shared_ptr<const Outcome> get(const Spec& machine, const std::vector<traces::Launch>& launches, const Options& options,
                                     const std::function<Outcome()>& make);

 private:
  struct Run {
    Spec machine;
    std::vector<traces::Kernel> kernels;   // nameless
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
