#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tools/warpfold/failure.h"

// Simulations of scenarios on GPUs that differ in one field.
namespace warpfold::knobs {

inline constexpr std::array kFactors{0.5, 0.9, 1.1, 2.0};

// A run of a scenario with one field multiplied.
struct Run {
  double factor = 1;
  double time = 1;   // divided by the time of the unchanged scenario
  double noise = 0;  // bound of folding's error in that ratio
};

// Times of one scenario by the factor on one field, in ascending order. A factor is missing if the GPU does not state the field or
// its value is refused.
struct Response {
  std::string field;
  std::string scenario;
  std::vector<Run> runs;
  std::string refused;  // the reason of the last refused factor
};

struct SweptScenario {
  std::string name;
  std::string gpu;
  std::string description;
};

struct Sweep {
  std::vector<SweptScenario> scenarios;
  std::vector<std::string> fields;
  std::vector<Response> responses;  // by field, and within a field by scenario
};

// The *.textproto files of a folder, sorted by name.
std::vector<std::string> scenario_files(const std::string& folder);

// Simulates every scenario with every field times every factor, `jobs` simulations at a time. The result does not depend on `jobs`.
// Fails if an unchanged scenario cannot run.
cli::Outcome<Sweep> sweep(const std::vector<std::string>& files, const std::vector<std::string>& fields, unsigned jobs);

}  // namespace warpfold::knobs
