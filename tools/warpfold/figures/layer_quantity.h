#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/layer.pb.h"
#include "configs/study.pb.h"

namespace warpfold::cli {

// Returns the time of a layer's kernel by one estimator (simulation, limiter_model, roofline); none if the estimator does not give
// it. A kernel that was not simulated has the roofline's time, as in the layer's report.
std::optional<double> kernel_us(const configs::LayerReport& report, const configs::LayerKernel& kernel,
                                const std::string& estimator);

// Returns the kernels of a version that belong to a part; none if the layer does not have the version.
std::vector<const configs::LayerKernel*> kernels_of(const configs::LayerReport& report, const std::string& version,
                                                    const configs::LayerPart& part);

// Returns a quantity of a layer by one estimator. Words and operations do not depend on the estimator: the roofline alone gives
// them.
std::optional<double> value_of(const configs::LayerQuantity& quantity, const configs::LayerReport& report,
                               const std::string& estimator);

}  // namespace warpfold::cli
