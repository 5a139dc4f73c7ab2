#pragma once

#include <string>
#include <vector>

#include "tools/knobs/sweep.h"

// Findings of a sweep: anomalies, and fields without effect.
namespace warpfold::knobs {

inline constexpr double kAnomaly = 0.005;
inline constexpr double kInert = 0.001;

// A scenario that takes longer with the better of two amounts of a field, by more than kAnomaly plus the bounds of folding.
struct Anomaly {
  std::string field;
  std::string scenario;
  double worse = 1;   // factor on the field
  double better = 1;  // factor on the field
  double slower = 0;  // time at `better` / time at `worse` - 1
};

// For each field and scenario, the pair of amounts with the largest loss, in the sweep's order.
std::vector<Anomaly> anomalies(const Sweep& sweep);

// kNothing: no scenario moves by kInert at any factor. kNotRun: no factor yields a machine on which a scenario runs.
enum class Reach { kMoves, kNothing, kNotRun };
struct FieldReach {
  std::string field;
  Reach reach = Reach::kNotRun;
  size_t moved = 0;                   // number of scenarios
  const Response* largest = nullptr;  // the response that moves most; null if kNotRun
  std::string refused;                // the reason if a factor was refused
};
// One row for each field of the sweep.
std::vector<FieldReach> reach_of_fields(const Sweep& sweep);

}  // namespace warpfold::knobs
