#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tools/warpfold/failure.h"

// Simulations of scenarios on GPUs that differ in one field.
namespace warpfold::knobs {

inline constexpr std::array kFactors{0.5, 0.9, 1.1, 2.0};

// A scenario with one field multiplied.
struct Run {
  double factor = 1;
  double time = 1;   // over the time of the scenario as it is
  double noise = 0;  // bound of folding's error in that ratio
};

// Cycles of one scenario by the factor of one field, ascending. A factor is missing where the GPU does not state the field or
// refuses its value.
struct Response {
  std::string field;
  std::string scenario;
  std::vector<Run> runs;
  std::string refused;  // why a factor was refused; the last one
};

struct SweptScenario {
  std::string name;
  std::string gpu;
  std::string description;
};

struct Sweep {
  std::vector<SweptScenario> scenarios;
  std::vector<std::string> fields;
  std::vector<Response> responses;  // fields in order, of each the scenarios in order
};

// The *.textproto files of a folder, by name.
std::vector<std::string> scenario_files(const std::string& folder);

// Every scenario with every field times every factor, `jobs` simulations at a time. The result does not depend on `jobs`. A
// scenario that cannot run as it is is a failure.
cli::Outcome<Sweep> sweep(const std::vector<std::string>& files, const std::vector<std::string>& fields, unsigned jobs);

}  // namespace warpfold::knobs
