#pragma once

#include <string>
#include <vector>

#include "configs/study.pb.h"
#include "tools/warpfold/figures/study_front.h"
#include "tools/warpfold/figures/study_runs.h"
#include "tools/warpfold/figures/study_wanted.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

// Returns a row for each run of each point with a record, in the grid's order: the axes' values, policy, estimator, and the figures
// of the run and of each kernel. A cell is empty if the estimator does not give the figure.
Table study_table(const configs::Study& study, const PointRecords& records);

// Returns the same as a configs::StudyTable in JSON. `fronts` is by front of the study.
std::string study_json(const configs::Study& study, const PointRecords& records, const std::vector<FrontRuns>& fronts);

// Returns a row for each run that no other run dominates: the axes' values, policy, measures, error bound and label.
Table front_table(const configs::Study& study, const FrontRuns& runs);

// Returns a row for each combination of the other axes. The cell is empty if the condition holds at no value.
Expected<Table> least_table(const configs::Study& study, const configs::Least& least, const PointRecords& records);

}  // namespace warpfold::cli
