#pragma once

#include <vector>

#include "sim/account/issue_log.h"
#include "sim/account/segment.h"
#include "sim/memo/fold.h"
#include "sim/sm/sm_launch.h"

namespace warpfold::sim {

class RunCache;

struct Options {
  bool serialise = false;  // a launch starts only after all earlier launches have ended
  bool all_sms = false;    // simulates every SM instead of one of each class; nothing is folded then
  unsigned threads = 1;    // number of threads that run the SMs of one simulation; no result depends on it
  AccountGranularity account = AccountGranularity::kByPhase;
  uint64_t dirty_bytes = 0;  // dirty bytes in L2 at the start, left by an earlier epoch
  FoldOptions fold{};
  // Other reservations and quotas for the launches, [which][launch]. The outcome says which of them would have changed
  // nothing.
  std::vector<std::vector<PlacementBounds>> alternative_bounds{};
  // Records when each launch ran and each resource was busy, in bounded size. All launches are then simulated in one
  // run, without run_cache.
  bool timeline = false;
  // Outcomes of earlier runs. With a cache, each epoch of the launches (sim/plan/epochs.h) is a run of its own, which
  // is looked up before it is simulated: a kernel that has the GPU to itself is simulated once. Not used with a
  // timeline, an issue log or all SMs. Without a cache, all launches are simulated in one run. Its cycles are the same;
  // if either run is an estimate, they agree within both bounds.
  RunCache* run_cache = nullptr;
  // Keeps the inputs of each simulation that the outcome consists of, so that it can be repeated (Outcome::made).
  bool keep_runs = false;
  // Receives every issue, in order of time for each SM class, or for each SM with all_sms; nothing is folded then.
  std::vector<IssueRecord>* issue_log = nullptr;
  // Receives what each warp of an SM of one class does in a window of cycles; nothing is folded then.
  CycleLog* cycle_log = nullptr;

  bool logs() const { return issue_log != nullptr || cycle_log != nullptr; }
};

}  // namespace warpfold::sim
