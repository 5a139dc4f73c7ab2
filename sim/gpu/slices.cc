// Classes that ask for bandwidth at the same time, each by itself at estimated rates, a slice of time after the other.
#include <algorithm>

#include "sim/gpu/gpu_run.h"

namespace warpfold::sim {

// Returns the cycle in which the first of them ended a launch (`until`: none did).
Cycle GpuRun::advance_all(const std::vector<size_t>& asking, Cycle until) {
  Cycle ended_at = until;
  bool progress = true;
  while (progress) {
    progress = false;
    for (size_t m = 0; m < class_runs_.size(); ++m) {
      ClassRun& class_run = class_runs_[m];
      if (class_run.sm == nullptr || class_run.next >= ended_at) continue;
      if (!sharing_->begun(m) && std::ranges::find(asking, m) == asking.end()) continue;
      const Cycle before = class_run.next;
      advance(class_run, ended_at);
      if (class_run.next == before) continue;  // it waits for another class
      progress = true;
      if (class_run.sm->control().launch_ended) ended_at = std::min(ended_at, class_run.sm->state().now + 1);
    }
  }
  return ended_at;
}

// A slice that turns out to have been too long is run again: to where a launch has ended, after which another class has other
// rates; or to a quarter, where the classes have asked for something else than what their rates were made for.
void GpuRun::run_slice(const std::vector<size_t>& asking, Cycle point) {
  const Cycle limit = std::min(point, sharing_->others_begin(asking));
  const Cycle until = std::min(limit, sharing_->begin_slice(asking));
  std::vector<ClassRun> before;
  for (const ClassRun& class_run : class_runs_) before.push_back(checkpoint(class_run, fold_));
  const Cycle ended_at = advance_all(asking, until);
  const auto restore = [&] {
    for (size_t m = 0; m < class_runs_.size(); ++m) class_runs_[m] = checkpoint(before[m], fold_);
  };
  if (ended_at < until && sharing_->too_far(ended_at)) {
    restore();
    advance_all(asking, ended_at);
  }
  if (!sharing_->end_slice(ended_at)) {
    restore();
    sharing_->shorten_slice();
  }
}

}  // namespace warpfold::sim
