#pragma once

#include <rapidcheck.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/enum_of_schema.h"
#include "tests/support/machine.h"

// Programs and machines at random. For use inside RapidCheck's properties and generators.
namespace warpfold::test {

template <typename Number>
Number between(Number least, Number most) {
  return *rc::gen::inRange<Number>(least, static_cast<Number>(most + 1));
}
inline bool one_in(int n) { return between(1, n) == 1; }
// Any value of an enum of a schema.
template <typename Enum>
Enum any_of() {
  return *rc::gen::elementOf(values_of<Enum>());
}

// One instruction of any pipe that all three architectures have, with the control code's stall, yield and waits at random.
std::string any_instruction();

// Kernels and how they share a machine. The launches point at the kernels: never copied.
struct Scenario {
  configs::Gpu gpu;
  std::vector<traces::Kernel> kernels;
  std::vector<sim::Launch> launches;
  bool serialise = false;

  Scenario() = default;
  Scenario(Scenario&&) = default;
  std::string describe() const;
};

// Launches the kernels: streams, priorities, dependences and reservations at random.
void share_machine(Scenario& scenario);

// Adds effects of policies now and then: quotas, SM partitions, issue by priority.
void bound_machine(Scenario& scenario);

// Makes a few resources of the machine faster or slower, latencies shorter or longer. Returns which, as settings.
std::string scale_machine(configs::Gpu& gpu);

// Short programs on machines as they are.
Scenario any_scenario();
// Programs that do the same over and over, on machines of any size.
Scenario any_recurring_scenario();
// The recurring scenario number `seed`.
std::shared_ptr<const Scenario> recurring_scenario(uint64_t seed);

}  // namespace warpfold::test
