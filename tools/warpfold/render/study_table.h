#pragma once

#include <string>

#include "configs/study.pb.h"
#include "tools/warpfold/figures/study_runs.h"
#include "tools/warpfold/figures/study_wanted.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

// A row for each run of each point that has a record, in the grid's order: the axes' values, policy, estimator, and what the run
// says of itself and of each kernel. A cell is empty where an estimator does not say.
Table study_table(const configs::Study& study, const PointRecords& records);

// The same as a configs::StudyTable in JSON.
std::string study_json(const configs::Study& study, const PointRecords& records);

// The runs that are no worse than any other in all of a front's measures at once.
Table front_table(const configs::Study& study, const configs::Front& front, const PointRecords& records);

// A row for each combination of the other axes; an empty cell where the condition holds at no value.
Expected<Table> least_table(const configs::Study& study, const configs::Least& least, const PointRecords& records);

}  // namespace warpfold::cli
