#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "configs/study.pb.h"
#include "tools/warpfold/study_points.h"

namespace warpfold::cli {

using PointRecords = std::map<Point, configs::StudyPoint>;

// The kernel that a quantity is of; none: it is of a whole run.
const configs::Quantity::KernelOf* kernel_of(const configs::Quantity& quantity);

// A quantity at a point by one estimator; none where the estimator says nothing of it.
std::optional<double> value_of(const configs::Quantity& quantity, const configs::StudyPoint& point, const std::string& estimator);

// What a figure shows as a table: its axes, the estimator, and a column for each quantity.
std::string figure_csv(const configs::Study& study, const configs::Figure& figure, const PointRecords& records);
// The gnuplot program that draws FIGURE.svg from FIGURE.csv, both estimators side by side.
std::string figure_plot(const configs::Study& study, const configs::Figure& figure, const PointRecords& records);

}  // namespace warpfold::cli
