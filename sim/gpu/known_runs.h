#pragma once

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <vector>

#include "sim/gpu/simulate.h"
#include "traces/kernel.h"

namespace warpfold::sim {

// Runs by what they are of: machine, kernels, how those share it, and how the run is made. Two kernels are the same whatever they
// are called. For many threads: who asks for a run that another one is making waits for it.
class KnownRuns {
 public:
  // The outcome of a run of these launches; made by `make` if nobody has asked for it before. Of `options` accounting, folding,
  // other bounds and whether launches are serialised tell runs apart.
  std::shared_ptr<const Outcome> get(const Spec& machine, const std::vector<Launch>& launches, const Options& options,
                                     const std::function<Outcome()>& make);

 private:
  struct Run {
    Spec machine;
    std::vector<traces::Kernel> kernels;  // nameless
    std::vector<Launch> launches;         // without their kernels
    bool serialise;
    AccountGranularity account;
    FoldOptions fold;
    std::vector<std::vector<PlacementBounds>> other_bounds;

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
