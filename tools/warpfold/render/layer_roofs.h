#pragma once

#include <string>

#include "configs/study.pb.h"
#include "tools/warpfold/figures/study_figures.h"

namespace warpfold::cli {

// A ROOFLINE figure of a study of layers: a row for each kernel of its quantity, with intensity, rate and the GPU's peaks. Times
// are simulated, or the roofline's where the study simulates nothing.
std::string roofs_csv(const configs::Study& study, const configs::Figure& figure, const PointRecords& records);
// The gnuplot program that draws them under the roofs.
std::string roofs_plot(const configs::Study& study, const configs::Figure& figure, const PointRecords& records);

}  // namespace warpfold::cli
