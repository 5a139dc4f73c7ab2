#pragma once

#include <rapidcheck.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/enum_of_schema.h"
#include "tests/support/machine.h"

// Random programs and machines, for use inside RapidCheck's properties and generators.
namespace warpfold::test {

template <typename Number>
Number between(Number least, Number most) {
  return *rc::gen::inRange<Number>(least, static_cast<Number>(most + 1));
}
inline bool one_in(int n) { return between(1, n) == 1; }
// Draws a value of a schema's enum.
template <typename Enum>
Enum any_of() {
  return *rc::gen::elementOf(values_of<Enum>());
}

// Draws an instruction of a pipe that all three architectures have, with random stall count, yield flag and waits.
std::string any_instruction();

// Kernels and how they share a machine. Cannot be copied, since the launches point to the kernels.
struct Scenario {
  configs::Gpu gpu;
  std::vector<traces::Kernel> kernels;
  std::vector<sim::Launch> launches;
  bool serialise = false;

  Scenario() = default;
  Scenario(Scenario&&) = default;
  std::string describe() const;
};

// Launches the kernels with random streams, priorities, dependences and reservations.
void share_machine(Scenario& scenario);

// Sometimes adds bounds that policies use: quotas, ranges of SMs, issue by priority.
void bound_machine(Scenario& scenario);

// Scales a few rates and latencies of the machine. Returns the scales, as settings.
std::string scale_machine(configs::Gpu& gpu);

// Draws short programs on an existing machine.
Scenario any_scenario();
// Draws programs with long loops on a random machine, so that states may recur.
Scenario any_recurring_scenario();
// Returns the scenario that any_recurring_scenario draws for this seed.
std::shared_ptr<const Scenario> recurring_scenario(uint64_t seed);

}  // namespace warpfold::test
