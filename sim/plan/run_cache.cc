#include "sim/plan/run_cache.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace warpfold::sim {

std::shared_ptr<const Outcome> RunCache::get(const Spec& machine, const std::vector<traces::Launch>& launches,
                                             const Options& options, const std::function<Outcome()>& make) {
  Run run{.machine = machine,
          .kernels = {},
          .launches = launches,
          .serialise = options.serialise,
          .account = options.account,
          .dirty_bytes = options.dirty_bytes,
          .fold = options.fold,
          .alternative_bounds = options.alternative_bounds};
  for (traces::Launch& launch : run.launches) {
    run.kernels.push_back(traces::without_provenance(*launch.kernel));
    launch.kernel = nullptr;
  }
  std::promise<std::shared_ptr<const Outcome>> promise;
  std::shared_future<std::shared_ptr<const Outcome>> outcome;
  bool known = true;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(runs_, run, &Known::run);
    known = found != runs_.end();
    outcome = known ? found->outcome : promise.get_future().share();
    if (!known) runs_.push_back({std::move(run), outcome});
  }
  if (!known) {
    try {
      promise.set_value(std::make_shared<const Outcome>(make()));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  }
  return outcome.get();
}

}  // namespace warpfold::sim
