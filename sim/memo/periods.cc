#include "sim/memo/periods.h"

#include <algorithm>

namespace warpfold::sim {

void add_difference(Periods& difference, const Periods& own, const Periods& leaders) {
  for (const auto& [cycles, period] : own) {
    difference[cycles].instructions = period.instructions;
    difference[cycles].repeats += period.repeats;
  }
  for (const auto& [cycles, period] : leaders) difference[cycles].repeats -= period.repeats;
}

Periods sum(Periods periods, const Periods& difference) {
  for (const auto& [cycles, period] : difference) {
    periods[cycles].repeats += period.repeats;
    periods[cycles].instructions = std::max(periods[cycles].instructions, period.instructions);
  }
  std::erase_if(periods, [](const auto& entry) { return entry.second.repeats == 0; });
  return periods;
}

}  // namespace warpfold::sim
