#include "tools/warpfold/run/reference_check.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "configs/escape/quoted.h"
#include "sim/chip/reference.h"
#include "sim/sm/make_spec.h"
#include "tools/warpfold/run/parallel.h"
#include "tools/warpfold/run/progress.h"

namespace warpfold::cli {

namespace {

double difference(uint64_t simulated, uint64_t reference) {
  const auto one = static_cast<double>(simulated);
  const auto other = static_cast<double>(std::max<uint64_t>(reference, 1));
  return std::abs(one - other) / other;
}

double compare(const ReferenceCheck::Simulation& simulation) {
  const std::vector<sim::ReferenceLaunch> reference =
      sim::reference(*sim::make_spec(*simulation.gpu), *simulation.launches, simulation.serialise);
  double worst = 0;
  for (size_t l = 0; l < reference.size(); ++l) {
    const sim::KernelCounters& kernel = simulation.outcome->kernels[l];
    if (kernel.instructions != reference[l].instructions) {
      throw std::logic_error("--reference: kernel " + escape::unquoted((*simulation.launches)[l].kernel->name) + ": " +
                             std::to_string(kernel.instructions) + " instructions, and " +
                             std::to_string(reference[l].instructions) + " by the reference");
    }
    worst = std::max(worst, difference(kernel.end_cycle - kernel.start_cycle, reference[l].end - reference[l].start));
  }
  return worst;
}

}  // namespace

ReferenceCheck::ReferenceCheck(const std::vector<Simulation>& simulations, unsigned jobs) : checked_(simulations.size()) {
  ProgressBar bar("reference", simulations.size());
  in_parallel(simulations.size(), jobs, [&](size_t s) {
    checked_[s] = {simulations[s].launches->size(), compare(simulations[s])};
    bar.step();
  });
}

configs::ReferenceCheck ReferenceCheck::of(const std::vector<size_t>& simulations) const {
  configs::ReferenceCheck check;
  for (const size_t s : simulations) {
    check.set_kernels(check.kernels() + checked_[s].kernels);
    check.set_cycles_error(std::max(check.cycles_error(), checked_[s].cycles_error));
  }
  return check;
}

}  // namespace warpfold::cli
