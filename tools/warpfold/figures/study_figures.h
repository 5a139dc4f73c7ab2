#pragma once

#include <map>
#include <optional>
#include <string>

#include "configs/study.pb.h"
#include "tools/warpfold/figures/study_points.h"

namespace warpfold::cli {

using PointRecords = std::map<Point, configs::StudyPoint>;

// Returns the kernel that a quantity is about; none for a quantity of a whole run.
const configs::Quantity::KernelOf* kernel_of(const configs::Quantity& quantity);

// Returns a quantity at a point by one estimator; none if the estimator does not give it.
std::optional<double> value_of(const configs::Quantity& quantity, const configs::StudyPoint& point, const std::string& estimator);

}  // namespace warpfold::cli
