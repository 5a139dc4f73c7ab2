#include "tools/warpfold/figures/power.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

namespace warpfold::cli {

namespace {

constexpr double kMicrosecond = 1e-6;

double sum(const sim::Energy& energy) { return std::reduce(energy.joules.begin(), energy.joules.end()); }

// Skips resources that use no energy.
template <typename Entries>
void add_resources(const sim::Energy& energy, double of_all, Entries& entries) {
  for (size_t u = 0; u < energy.joules.size(); ++u) {
    if (energy.joules[u] == 0) continue;
    configs::ResourceEnergy& entry = *entries.Add();
    entry.set_resource(std::string(sim::energy_use_name(static_cast<sim::EnergyUse>(u))));
    entry.set_joules(energy.joules[u]);
    entry.set_share(energy.joules[u] / of_all);
  }
}

void add_kernel(const configs::KernelResult& kernel, const sim::Energy& energy, configs::PowerUse& power) {
  configs::KernelEnergy& entry = *power.add_kernels();
  entry.set_kernel(kernel.name());
  entry.set_joules(sum(energy));
  if (kernel.time_us() > 0) entry.set_watts(entry.joules() / (kernel.time_us() * kMicrosecond));
  if (entry.joules() > 0) add_resources(energy, entry.joules(), *entry.mutable_resources());
}

// The phases of a run, each between one start or end of a kernel and the next. A kernel uses its energy at a constant rate over its
// time.
class Phases {
 public:
  Phases(const sim::PowerModel& model, const std::vector<sim::Energy>& energies, const sim::PowerLoad& load,
         const configs::Result& result)
      : model_(model), energies_(energies), load_(load), result_(result) {}

  void add_to(double mhz, configs::PowerUse& power) const {
    std::set<uint64_t> edges;
    for (const configs::KernelResult& kernel : result_.kernels()) edges.insert({kernel.start_cycle(), kernel.end_cycle()});
    for (auto edge = edges.begin(); edge != edges.end() && std::next(edge) != edges.end(); ++edge)
      *power.add_phases() = phase(*edge, *std::next(edge), mhz);
  }

 private:
  configs::PowerPhase phase(uint64_t begin, uint64_t end, double mhz) const {
    configs::PowerPhase phase;
    phase.set_start_us(static_cast<double>(begin) / mhz);
    phase.set_end_us(static_cast<double>(end) / mhz);
    sim::PowerLoad load{.cycles = static_cast<double>(end - begin), .clock_mhz = load_.clock_mhz};
    for (int k = 0; k < result_.kernels_size(); ++k) {
      const configs::KernelResult& kernel = result_.kernels(k);
      if (kernel.start_cycle() > begin || kernel.end_cycle() <= begin) continue;
      phase.add_kernels(kernel.name());
      sim::Energy part = energies_[static_cast<size_t>(k)];
      for (double& joules : part.joules) joules *= load.cycles / static_cast<double>(kernel.cycles());
      load.energy.add(part);
    }
    // A phase gets the share of DRAM's busy time that it has of DRAM's energy.
    if (const double all = load_.energy.dram(); all > 0) load.dram_cycles = load_.dram_cycles * load.energy.dram() / all;
    phase.set_watts(model_.watts(load, mhz));
    phase.set_own_clock_mhz(model_.sustained_clock(load));
    return phase;
  }

  const sim::PowerModel& model_;
  const std::vector<sim::Energy>& energies_;
  const sim::PowerLoad& load_;
  const configs::Result& result_;
};

// Notes that a single clock for the run is an assumption if a phase lasts longer than a change of clocks takes.
void note_long_phases(double response_ms, configs::PowerUse& power) {
  constexpr double kUsPerMs = 1e3;
  if (power.phases_size() < 2) return;
  const bool long_one = std::ranges::any_of(
      power.phases(), [&](const configs::PowerPhase& phase) { return phase.end_us() - phase.start_us() > response_ms * kUsPerMs; });
  if (long_one) power.add_assumptions("the run has one clock, although a phase is longer than a change of clocks takes");
}

}  // namespace

sim::PowerLoad load_of(const std::vector<sim::Energy>& energies, const sim::Outcome& outcome, double mhz) {
  sim::PowerLoad load{.cycles = static_cast<double>(outcome.total_cycles), .clock_mhz = mhz};
  for (const sim::Energy& energy : energies) load.energy.add(energy);
  const auto dram = std::ranges::find(outcome.resources, "dram", &sim::ResourceUse::name);
  if (dram != outcome.resources.end() && dram->capacity > 0)
    load.dram_cycles = load.cycles * static_cast<double>(dram->busy) / static_cast<double>(dram->capacity);
  return load;
}

void fill_power(const sim::PowerModel& model, const std::vector<sim::Energy>& energies, const sim::PowerLoad& load,
                const SustainedClock& clock, configs::Result& result) {
  const configs::Power& description = model.description();
  configs::PowerUse& power = *result.mutable_power();
  power.set_clock_mhz(clock.mhz);
  power.set_clock_limit_mhz(description.clock_limit_mhz());
  power.set_watts(model.watts(load, clock.mhz));
  power.set_cap_w(description.cap_w());
  power.set_capped(clock.mhz < description.clock_limit_mhz());
  const double seconds = load.us_at(clock.mhz) * kMicrosecond;
  power.set_cap_cost_us(load.us_at(clock.mhz) - load.us_at(description.clock_limit_mhz()));
  power.set_joules(power.watts() * seconds);
  configs::ResourceEnergy& idle = *power.add_resources();
  idle.set_resource("static");
  idle.set_joules(model.static_watts(clock.mhz) * seconds);
  idle.set_share(idle.joules() / power.joules());
  add_resources(model.at(load.energy, clock.mhz), power.joules(), *power.mutable_resources());
  for (int k = 0; k < result.kernels_size(); ++k)
    add_kernel(result.kernels(k), model.at(energies[static_cast<size_t>(k)], clock.mhz), power);
  Phases(model, energies, load, result).add_to(clock.mhz, power);
  power.set_simulated_clock_mhz(clock.simulated_mhz);
  power.set_clock_error(clock.error);
  power.set_simulations(clock.simulations);
  *power.mutable_assumptions() = description.assumption();
  note_long_phases(description.response_ms(), power);
}

}  // namespace warpfold::cli
