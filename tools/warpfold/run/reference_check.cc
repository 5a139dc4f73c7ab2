#include "tools/warpfold/run/reference_check.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "escape/quoted.h"
#include "sim/chip/reference.h"
#include "sim/sm/make_spec.h"
#include "tools/warpfold/run/parallel.h"
#include "tools/warpfold/run/progress.h"

namespace warpfold::cli {

namespace {

void same(const std::string& kernel, const char* figure, uint64_t simulated, uint64_t reference) {
  if (simulated == reference) return;
  throw std::logic_error("--reference: kernel " + escape::unquoted(kernel) + ": " + figure + " is " + std::to_string(simulated) +
                         ", and " + std::to_string(reference) + " by the reference");
}

double cycles_of(uint64_t start, uint64_t end) { return static_cast<double>(end) - static_cast<double>(start); }

double compare(const ReferenceCheck::Simulation& simulation) {
  const std::vector<sim::ReferenceLaunch> reference =
      sim::reference(*sim::make_spec(*simulation.gpu), *simulation.launches, simulation.serialise);
  const bool exact = simulation.outcome->fold.mode != sim::Folded::kBounded;
  double worst = 0;
  for (size_t l = 0; l < reference.size(); ++l) {
    const sim::KernelCounters& kernel = simulation.outcome->kernels[l];
    const std::string& name = (*simulation.launches)[l].kernel->name;
    same(name, "instructions", kernel.instructions, reference[l].instructions);
    if (exact) {
      same(name, "start_cycle", kernel.start_cycle, reference[l].start);
      same(name, "end_cycle", kernel.end_cycle, reference[l].end);
      same(name, "resident_warp_cycles", kernel.resident_warp_cycles, reference[l].resident_warp_cycles);
    }
    const double cycles = std::max(1.0, cycles_of(reference[l].start, reference[l].end));
    worst = std::max(worst, std::abs(cycles_of(kernel.start_cycle, kernel.end_cycle) - cycles) / cycles);
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
