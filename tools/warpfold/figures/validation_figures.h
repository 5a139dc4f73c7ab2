#pragma once

#include <string>
#include <vector>

#include "configs/result.pb.h"
#include "configs/validation.pb.h"
#include "tools/validation/comparison.h"
#include "tools/validation/measured_row.h"

namespace warpfold::cli {

// What validation keeps of a simulation.
configs::SimulatedPoint simulated_point(const configs::Result& result);

// What is wrong with the names of kernels that a row is about; empty where the simulation has them.
std::string unknown_kernel(const validation::Comparison& comparison, const configs::SimulatedPoint& point);

// A measured row beside its simulations, one for each of the comparison's runs.
configs::ValidatedRow validated_row(const validation::MeasuredRow& measured, const validation::Comparison& comparison,
                                    const std::vector<const configs::SimulatedPoint*>& points);

// Errors of a validation's rows, by group.
void add_error_groups(configs::Validation& validation);

// The families of its rows, GEMM and attention first.
std::vector<std::string> families_of(const configs::Validation& validation);

}  // namespace warpfold::cli
