#include "tests/physics/support.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "configs/load.h"
#include "sim/gpu/simulate.h"
#include "tools/warpfold/figures/result.h"
#include "tools/warpfold/run/launches.h"
#include "tools/warpfold/run/runner.h"

namespace warpfold::test {
namespace {

std::string words(const Diagnostic& diagnostic) { return diagnostic.text(); }
std::string words(const cli::Failure& failure) { return failure.text; }

template <typename T, typename E>
T value_of(std::expected<T, E> expected) {
  if (!expected) throw std::logic_error(words(expected.error()));
  return *std::move(expected);
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

configs::Result simulate_planned(const cli::Planned& planned) {
  const sim::Outcome outcome =
      value_of(sim::simulate(planned.scenario.gpu(), cli::make_launches(planned.plan), {.serialise = planned.plan.serialise}));
  if (outcome.deadlocked) throw std::logic_error(outcome.deadlock.report);
  return cli::make_result(planned.scenario, planned.plan, outcome);
}

}  // namespace

double Row::number(const std::string& column) const { return std::stod(text(column)); }
uint64_t Row::count(const std::string& column) const { return std::stoull(text(column)); }

std::vector<Row> read_rows(const std::string& file) {
  std::ifstream stream(WARPFOLD_PHYSICS_DATA + file);
  if (!stream) throw std::logic_error("no such data file: " + file);
  std::vector<std::string> header;
  std::vector<Row> rows;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> cells = cells_of(line);
    if (header.empty()) {
      header = cells;
      continue;
    }
    if (cells.size() != header.size()) throw std::logic_error(file + ": " + line);
    std::map<std::string, std::string> named;
    for (size_t i = 0; i < cells.size(); ++i) named[header[i]] = cells[i];
    rows.emplace_back(std::move(named));
  }
  return rows;
}

configs::Result simulate(const std::string& path, const Settings& settings) {
  workloads::KernelMaker kernels(path);
  return simulate_planned(value_of(cli::plan_scenario(value_of(configs::load_scenario(path, settings)), kernels)));
}

configs::Result simulate(const configs::Scenario& scenario) {
  workloads::KernelMaker kernels("");
  return simulate_planned(value_of(cli::plan_scenario(scenario, kernels)));
}

configs::Result simulate_with_solo(const std::string& path, const Settings& settings) {
  workloads::KernelMaker kernels(path);
  const cli::Planned planned = value_of(cli::plan_scenario(value_of(configs::load_scenario(path, settings)), kernels));
  return value_of(cli::Runner(kernels, "test_physics", {}).run({planned})).front();
}

const configs::Resource& resource(const configs::Result& result, std::string_view name) {
  for (const configs::Resource& one : result.resources()) {
    if (one.name() == name) return one;
  }
  throw std::logic_error("no resource " + std::string(name));
}

const configs::Resource& busiest(const configs::Result& result) {
  return *std::max_element(result.resources().begin(), result.resources().end(),
                           [](const auto& a, const auto& b) { return a.utilization() < b.utilization(); });
}

}  // namespace warpfold::test
