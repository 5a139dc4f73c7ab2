#pragma once

#include <string>

#include "configs/study.pb.h"
#include "tools/warpfold/figures/study_front.h"

namespace warpfold::cli {

// The gnuplot program that draws all runs and, among them and with their labels, those of a front, over its first two measures.
std::string front_plot(const configs::Front& front, const FrontRuns& runs);

}  // namespace warpfold::cli
