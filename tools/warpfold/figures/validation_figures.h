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

// Whether a point that was read is one that a simulation leaves: finite figures, intervals of cycles that end behind their
// beginning; `alone`: with each kernel's time by itself. What else a file holds does not count.
bool holds_together(const configs::SimulatedPoint& point, bool alone);

// What is wrong with the names of kernels that a row is about; empty where the simulation has them.
std::string unknown_kernel(const validation::Comparison& comparison, const configs::SimulatedPoint& point);

// A measured row beside its simulations, one for each of the comparison's runs.
configs::ValidatedRow validated_row(const validation::MeasuredRow& measured, const validation::Comparison& comparison,
                                    const std::vector<const configs::SimulatedPoint*>& points);

// Why a row has no figure that can be held against the measured one; empty where it has: a kernel that makes no progress beside
// another has no slowdown.
std::string why_no_figure(const configs::ValidatedRow& row);

// Adds a group with the statistics of these relative errors, of which there is at least one.
configs::ErrorGroup& add_group(const std::string& family, const std::string& kernel, const std::string& gpu,
                               const std::vector<double>& errors, configs::Validation& validation);
// Errors of a validation's rows, by group.
void add_error_groups(configs::Validation& validation);

// The families of its rows, GEMM and attention first.
std::vector<std::string> families_of(const configs::Validation& validation);

}  // namespace warpfold::cli
