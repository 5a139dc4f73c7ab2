#include "tools/warpfold/render/power_tables.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>

namespace warpfold::cli {

namespace {

constexpr double kMillijoules = 1e3;

template <typename Entries>
Cell millijoules_of(const Entries& resources, const std::string& name) {
  const auto found = std::ranges::find(resources, name, &configs::ResourceEnergy::resource);
  return found == resources.end() ? Cell("-") : Cell(kMillijoules * found->joules(), 3);
}

Table energy_table(const configs::PowerUse& power) {
  std::vector<std::string> columns{"resource", "share %", "run"};
  for (const configs::KernelEnergy& kernel : power.kernels()) columns.push_back(kernel.kernel());
  Table table(std::move(columns));
  for (const configs::ResourceEnergy& resource : power.resources()) {
    std::vector<Cell> row{resource.resource(), Cell(100 * resource.share(), 1), Cell(kMillijoules * resource.joules(), 3)};
    for (const configs::KernelEnergy& kernel : power.kernels())
      row.push_back(millijoules_of(kernel.resources(), resource.resource()));
    table.add(std::move(row));
  }
  std::vector<Cell> all{"all", Cell(100, 1), Cell(kMillijoules * power.joules(), 3)};
  for (const configs::KernelEnergy& kernel : power.kernels()) all.emplace_back(kMillijoules * kernel.joules(), 3);
  table.add(std::move(all));
  return table;
}

Table phase_table(const configs::PowerUse& power) {
  Table table({"start us", "end us", "W", "own MHz", "kernels"});
  for (const configs::PowerPhase& phase : power.phases()) {
    const std::string kernels = phase.kernels().empty() ? "-" : boost::algorithm::join(phase.kernels(), ", ");
    table.add(
        {Cell(phase.start_us(), 2), Cell(phase.end_us(), 2), Cell(phase.watts(), 0), Cell(phase.own_clock_mhz(), 0), kernels});
  }
  return table;
}

}  // namespace

std::string power_tables(const configs::Result& result) {
  if (!result.has_power()) return "";
  const configs::PowerUse& power = result.power();
  std::string text = energy_table(power).section("Energy, mJ (docs/power.md)");
  if (power.phases_size() > 1)
    text += phase_table(power).section("Power by phase: W at the run's clock, and the sustained clock of each phase");
  for (const std::string& assumption : power.assumptions()) text += "  assumed: " + assumption + "\n";
  return text;
}

std::vector<std::string> power_columns() { return {"MHz", "W", "mJ"}; }

std::vector<Cell> power_cells(const configs::Result& result) {
  const configs::PowerUse& power = result.power();
  return {Cell(power.clock_mhz(), 0), Cell(power.watts(), 0), Cell(kMillijoules * power.joules(), 2)};
}

std::vector<std::string> power_csv_columns() { return {"clock_mhz", "watts", "joules", "cap_cost_us", "kernel_joules"}; }

std::vector<Cell> power_csv_cells(const configs::Result& result) {
  constexpr int kDecimals = 6;
  const configs::PowerUse& power = result.power();
  return {Cell(power.clock_mhz(), kDecimals), Cell(power.watts(), kDecimals), Cell(power.joules(), kDecimals),
          Cell(power.cap_cost_us(), kDecimals)};
}

std::string least_energy_line(const configs::Comparison& comparison, const std::vector<std::string>& names) {
  if (!comparison.results(0).has_power()) return "";
  const auto joules = [](const configs::Result& result) { return result.power().joules(); };
  const auto least = std::ranges::min_element(comparison.results(), {}, joules);
  const auto place = static_cast<size_t>(least - comparison.results().begin());
  return "Least energy: " + names[place] + ", " + with_thousands(fixed(kMillijoules * joules(*least), 2)) + " mJ, " +
         fixed(100 * joules(*least) / joules(comparison.results(0)), 1) + " % of " + names.front() + "\n";
}

}  // namespace warpfold::cli
