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
  AccountGranularity account = AccountGranularity::kByPhase;
  FoldOptions fold{};
  // How often the CTAs of a launch that shares SMs are dealt, at most: behind a run in which an SM had ended while CTAs had yet to
  // begin elsewhere once more, as the SMs got on. 1: as dealt beforehand. A kernel that ends early leaves an SM to a faster pace,
  // which the second run shows.
  int dealings = 3;
  // Bounds that the launches might have had instead, [which][launch]: where they would have changed nothing, the outcome says so.
  std::vector<std::vector<PlacementBounds>> alternative_bounds{};
  bool timeline = false;  // records when what ran and what was busy; bounded in size; all is one run then (run_cache)
  // Where launches wait for all before them, what they do after that is a run of its own, and is looked up here before it is made:
  // what a kernel did alone, it does again where it has the GPU to itself. Not asked for a timeline, an issue log or all SMs. None:
  // all launches are simulated in one run, whose cycles are the same, or within the bounds of both where those are estimates.
  RunCache* run_cache = nullptr;
  std::vector<IssueRecord>* issue_log =
      nullptr;  // receives every issue, in order of time per SM class (or SM); nothing is folded then
};

}  // namespace warpfold::sim
