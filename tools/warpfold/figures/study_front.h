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
  std::string label;           // "gpu.sm_count=66, CONCURRENT": axes with several values, and the policy if the study has several
  std::vector<double> values;  // by FrontRuns::measures
};

struct FrontRuns {
  std::vector<std::string> measures;  // expressions: first the minimized measures, then the maximized measures
  std::vector<MeasuredRun> all;       // in the grid's order
  std::vector<MeasuredRun> best;      // runs that no other run dominates, by the first measure, best first
};

// Returns the Pareto front of a study's runs. Runs that lack a measure, such as energy_j at a fixed clock, are left out. Fails if a
// measure is not a finite number.
//
// A run's time and energy lie anywhere within its error bound; a measure's range is between its values at the two ends of the
// bound. One run dominates another if it is at least as good in every measure and better in one, wherever in the ranges both lie.
// With a bound of 1 %, 100 us do not dominate 101 us, but 95 us do.
Expected<FrontRuns> front_of(const configs::Study& study, const configs::Front& front, const PointRecords& records);

}  // namespace warpfold::cli
