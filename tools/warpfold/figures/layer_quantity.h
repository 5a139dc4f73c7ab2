#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/layer.pb.h"
#include "configs/study.pb.h"

namespace warpfold::cli {

// A kernel of a layer by one estimator (simulation, limiter_model, roofline); none where the estimator does not give it. A kernel
// that was not simulated has the roofline's time, as in the layer's report.
std::optional<double> kernel_us(const configs::LayerReport& report, const configs::LayerKernel& kernel,
                                const std::string& estimator);

// Kernels of a version that are in a part; none of a version that the layer does not have.
std::vector<const configs::LayerKernel*> kernels_of(const configs::LayerReport& report, const std::string& version,
                                                    const configs::LayerPart& part);

// A quantity of a layer by one estimator. Words and operations are the same by all: they are given once, by the roofline.
std::optional<double> value_of(const configs::LayerQuantity& quantity, const configs::LayerReport& report,
                               const std::string& estimator);

}  // namespace warpfold::cli
