#pragma once

#include <string>
#include <vector>

#include "tools/knobs/sweep.h"

// Findings of a sweep: anomalies, and fields that do nothing.
namespace warpfold::knobs {

inline constexpr double kAnomaly = 0.005;
inline constexpr double kInert = 0.001;

// With the better of two amounts of a field, a scenario takes longer by more than kAnomaly and folding's bounds.
struct Anomaly {
  std::string field;
  std::string scenario;
  double worse = 1;   // factor on the field
  double better = 1;  // the same
  double slower = 0;  // time at `better` over the time at `worse`, less 1
};

// Of each field and scenario the pair of amounts with the largest loss, in the sweep's order.
std::vector<Anomaly> anomalies(const Sweep& sweep);

// Whether no scenario moves by kInert at any factor. Fields that no factor changes are refused, not inert.
enum class Reach { kMoves, kNothing, kNotRun };
struct FieldReach {
  std::string field;
  Reach reach = Reach::kNotRun;
  size_t moved = 0;                   // scenarios
  const Response* largest = nullptr;  // the response that moves most; none if kNotRun
  std::string refused;                // why a factor was refused
};
// A row for each field of the sweep.
std::vector<FieldReach> reach_of_fields(const Sweep& sweep);

}  // namespace warpfold::knobs
