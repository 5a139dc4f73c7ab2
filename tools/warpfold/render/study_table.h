#pragma once

#include <string>
#include <vector>

#include "configs/study.pb.h"
#include "tools/warpfold/figures/study_front.h"
#include "tools/warpfold/figures/study_runs.h"
#include "tools/warpfold/figures/study_wanted.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

// A row for each run of each point that has a record, in the grid's order: the axes' values, policy, estimator, and what the run
// says of itself and of each kernel. A cell is empty where an estimator does not say.
Table study_table(const configs::Study& study, const PointRecords& records);

// The same as a configs::StudyTable in JSON.
// `fronts`: of each front of the study.
std::string study_json(const configs::Study& study, const PointRecords& records, const std::vector<FrontRuns>& fronts);

// A row for each run that no other one dominates: the axes' values, policy, measures, error bound and label.
Table front_table(const configs::Study& study, const FrontRuns& runs);

// A row for each combination of the other axes; an empty cell where the condition holds at no value.
Expected<Table> least_table(const configs::Study& study, const configs::Least& least, const PointRecords& records);

}  // namespace warpfold::cli
