#pragma once

#include <string>

#include "configs/study.pb.h"
#include "tools/warpfold/figures/study_runs.h"

namespace warpfold::cli {

// The gnuplot program that draws all runs and, among them, those of a front, over its first two measures.
std::string front_plot(const configs::Study& study, const configs::Front& front, const PointRecords& records);

}  // namespace warpfold::cli
