#pragma once

#include <string>

#include "configs/study.pb.h"
#include "tools/warpfold/figures/study_front.h"

namespace warpfold::cli {

// Returns the gnuplot program that draws all runs over the first two measures of a front, with labels at the front's runs.
std::string front_plot(const configs::Front& front, const FrontRuns& runs);

}  // namespace warpfold::cli
