#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/study.pb.h"
#include "tools/warpfold/figures/study_runs.h"

namespace warpfold::cli {

// A run with its value of each measure of a front.
struct MeasuredRun {
  PointRun run;
  std::string label;  // "gpu.sm_count=66, CONCURRENT": of the axes with several values, and the policy if there are several
  std::vector<double> values;  // of FrontRuns::measures
};

struct FrontRuns {
  std::vector<std::string> measures;  // expressions: those to be minimized, then those to be maximized
  std::vector<MeasuredRun> all;       // in the grid's order
  std::vector<MeasuredRun> best;      // that no other run dominates, the best value of the first measure first
};

// Runs that lack a measure, such as energy_j at a fixed clock, are left out. Fails where a measure is no finite number.
//
// A run's time and energy lie within its error bound. One run dominates another if it is at least as good in every measure, and
// better in one, wherever in their bounds both lie: with a bound of 1 %, 100 us do not dominate 101 us, and 95 us do. A measure's
// range is that between its values at both ends of the bound.
Expected<FrontRuns> front_of(const configs::Study& study, const configs::Front& front, const PointRecords& records);

}  // namespace warpfold::cli
