#pragma once

#include <vector>

#include "sim/account/issue_log.h"
#include "sim/account/segment.h"
#include "sim/memo/fold.h"
#include "sim/sm/sm_launch.h"

namespace warpfold::sim {

class RunCache;

struct Options {
  bool serialise = false;  // a launch starts only when the one before it has ended
  bool all_sms = false;    // every SM instead of one of each class; nothing is folded then
  unsigned threads = 1;    // that run the SMs of one simulation; no result depends on it
  AccountGranularity account = AccountGranularity::kByPhase;
  uint64_t dirty_bytes = 0;  // that L2 holds at the start, as what ran before has left them
  FoldOptions fold{};
  // Bounds that the launches might have had instead, [which][launch]: where they would have changed nothing, the outcome says so.
  std::vector<std::vector<PlacementBounds>> alternative_bounds{};
  // Records when each launch ran and each resource was busy, in bounded size. All launches are one run then (run_cache).
  bool timeline = false;
  // Where launches wait for all before them, what they do after that is a run of its own, and is looked up here before it is made:
  // what a kernel did alone, it does again where it has the GPU to itself. Not asked for a timeline, an issue log or all SMs. None:
  // all launches are simulated in one run, whose cycles are the same, or within the bounds of both where those are estimates.
  RunCache* run_cache = nullptr;
  // The outcome says how each simulation was made that it consists of, so that it can be made again (Outcome::made).
  bool keep_runs = false;
  // Receives every issue, in order of time per SM class (or SM); nothing is folded then.
  std::vector<IssueRecord>* issue_log = nullptr;
};

}  // namespace warpfold::sim
