#pragma once

#include <string>

#include "configs/study.pb.h"
#include "tools/warpfold/figures/study_figures.h"

namespace warpfold::cli {

// Returns a figure as a table: its axes, the estimator, and a column for each quantity.
std::string figure_csv(const configs::Study& study, const configs::Figure& figure, const PointRecords& records);
// Returns the gnuplot program that draws FIGURE.svg from FIGURE.csv, with both estimators side by side.
std::string figure_plot(const configs::Study& study, const configs::Figure& figure, const PointRecords& records);

}  // namespace warpfold::cli
