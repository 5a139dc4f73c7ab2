#pragma once

#include <string>

#include "configs/study.pb.h"
#include "tools/warpfold/figures/study_figures.h"

namespace warpfold::cli {

// Returns the table of a ROOFLINE figure of a study of layers: a row for each kernel of its quantity, with intensity, rate and the
// GPU's peaks. Times are simulated; if the study simulates nothing, they are the roofline's.
std::string roofs_csv(const configs::Study& study, const configs::Figure& figure, const PointRecords& records);
// Returns the gnuplot program that draws these kernels under the roofs.
std::string roofs_plot(const configs::Study& study, const configs::Figure& figure, const PointRecords& records);

}  // namespace warpfold::cli
