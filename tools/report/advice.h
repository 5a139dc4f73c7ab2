#pragma once

#include <string>
#include <vector>

#include "configs/report.pb.h"

namespace warpfold::report {

// A smaller relative change of a speed is no effect: three significant digits do not show it.
inline constexpr double kLeastChange = 0.005;

// Returns a statement about each kernel of an occupancy study: the limit on its CTAs per SM, and the gain from the best smaller
// footprint. "qkv: 1 CTA an SM, limited by registers; with 80 registers a thread (88 fewer) 2 fit, and the run is 1.05 times as
// fast." The kernel with the largest gain comes first.
std::vector<configs::Statement> occupancy_advice(const configs::Result& result);

// Returns a factor without trailing zeros: "1.5", "0.25".
std::string factor_text(double factor);
// Returns the name of a varied machine: "tensor x 2".
std::string varied_name(const configs::VariedResource& resource, const configs::Variation& variation);
// Returns the statement about a what-if: the resource whose increase gains most, and the resource whose decrease costs most.
configs::Statement what_if_advice(const configs::Result& result);

}  // namespace warpfold::report
