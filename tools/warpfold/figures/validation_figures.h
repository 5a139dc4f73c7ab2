#pragma once

#include <string>
#include <vector>

#include "configs/result.pb.h"
#include "configs/validation.pb.h"
#include "tools/validation/comparison.h"
#include "tools/validation/measured_row.h"

namespace warpfold::cli {

// Returns the figures of a simulation that validation keeps.
configs::SimulatedPoint simulated_point(const configs::Result& result);

// Returns whether a point read from a file can come from a simulation: figures are finite, and intervals of cycles end after their
// start. With `alone`, each kernel has its time alone. Other content of the file is ignored.
bool holds_together(const configs::SimulatedPoint& point, bool alone);

// Returns an error if the simulation lacks a kernel that the row names; otherwise an empty string.
std::string unknown_kernel(const validation::Comparison& comparison, const configs::SimulatedPoint& point);

// Returns a measured row beside its simulations, with one simulation for each of the comparison's runs.
configs::ValidatedRow validated_row(const validation::MeasuredRow& measured, const validation::Comparison& comparison,
                                    const std::vector<const configs::SimulatedPoint*>& points);

// Returns the reason if a row has no figure to compare with the measurement; otherwise an empty string. A kernel that makes no
// progress beside another has no slowdown.
std::string why_no_figure(const configs::ValidatedRow& row);

// Adds a group with the statistics of these relative errors, which must not be empty.
configs::ErrorGroup& add_group(const std::string& family, const std::string& kernel, const std::string& gpu,
                               const std::vector<double>& errors, configs::Validation& validation);
// Adds the groups of the errors of a validation's rows.
void add_error_groups(configs::Validation& validation);

// Returns the families of the validation's rows, GEMM and attention first.
std::vector<std::string> families_of(const configs::Validation& validation);

}  // namespace warpfold::cli
