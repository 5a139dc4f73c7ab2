#pragma once

#include <string>
#include <vector>

#include "configs/report.pb.h"

namespace warpfold::report {

// Of each kernel of an occupancy study: what bounds its CTAs on an SM and what the smaller footprint that gains most would gain.
// "qkv: 1 CTA an SM, limited by registers; with 80 registers a thread (88 fewer) 2 fit, and the run is 1.050 times as fast."
// The kernel whose footprint gains most comes first.
std::vector<configs::Statement> occupancy_advice(const configs::Result& result);

// "1.5", "0.25": a factor without zeros at its end.
std::string factor_text(double factor);
// "tensor x 2"
std::string varied_name(const configs::VariedResource& resource, const configs::Variation& variation);
// Of a what-if: the resource most worth having more of, and the one that the run can least do with less of.
configs::Statement what_if_advice(const configs::Result& result);

}  // namespace warpfold::report
