#include "tools/warpfold/run/launch_rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "tools/profile/name_table.h"
#include "tools/profile/reading.h"
#include "tools/profile/sizes.h"
#include "tools/validation/kernels_of_row.h"

namespace warpfold::cli {
namespace {

using validation::MeasuredRow;
using validation::not_mapped;

// Returns an extent of a launch: 1 if the row has none; none if the fact is not a whole number of at least 1.
std::optional<uint32_t> extent(const std::optional<double>& fact) {
  if (!fact) return 1;
  if (*fact < 1 || *fact > std::numeric_limits<uint32_t>::max() || *fact != std::floor(*fact)) return std::nullopt;
  return static_cast<uint32_t>(*fact);
}

// Returns the tensors of "[[4,197,768],[768]]": the innermost lists. Scalars have no extents.
std::vector<std::vector<uint64_t>> tensors_of(const std::string& text) {
  std::vector<std::vector<uint64_t>> tensors;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '[') tensors.emplace_back();
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error == std::errc() && !tensors.empty()) tensors.back().push_back(value);
    at = error == std::errc() ? static_cast<size_t>(end - text.data()) : at + 1;
  }
  std::erase_if(tensors, [](const auto& extents) { return extents.empty(); });
  return tensors;
}

// Returns the matrices of a product. `inner`: the extent that the product sums over.
std::vector<std::vector<uint64_t>> matrices(uint64_t batch, uint64_t rows, uint64_t inner, uint64_t columns) {
  if (batch > 1) return {{batch, rows, inner}, {batch, inner, columns}};
  return {{rows, inner}, {inner, columns}};
}

// True for NeuSight, whose columns mean A[M,N] B[N,K]: its grids tile M x K, never M x N of another K (sitar-lab/NeuSight @6945927,
// bmm.csv, linear.csv).
bool sums_over_n(const MeasuredRow& row) { return row.text("source").find("sitar-lab/NeuSight") != std::string::npos; }

// Returns the product of a row with M, N and K. Usually it is C[M,N] = A[M,K] B[K,N]. If the source is known to mean C[M,K] =
// A[M,N] B[N,K], or if only that form fits the kernel's tiles to the grid, it is that form.
std::vector<std::vector<uint64_t>> product_of(const MeasuredRow& row, const profile::NamedKernel& named,
                                              profile::LaunchShape shape) {
  const uint64_t m = row.count("M").value_or(0), n = row.count("N").value_or(0), k = row.count("K").value_or(0);
  const uint64_t batch = row.count("batch").value_or(1);
  const auto usual = matrices(batch, m, k, n), other = matrices(batch, m, n, k);
  if (named.rule == nullptr || named.rule->sizes() != profile::PRODUCT || !named.rule->whole_tiles()) return usual;
  const auto fits = [&](const auto& inputs) {
    shape.op.inputs = inputs;
    return profile::sizes_of(named, shape).grid_fits;
  };
  return fits(other) && (sums_over_n(row) || !fits(usual)) ? other : usual;
}

// Returns the extents of the operator's tensors. A row with only `rows` and `cols` states the extents of each array that a pass
// reads; the kernel's name tells the number of arrays.
std::vector<std::vector<uint64_t>> inputs_of(const MeasuredRow& row, const profile::NamedKernel& named,
                                             const profile::LaunchShape& shape) {
  if (const std::string dims = row.option("dims"); !dims.empty()) return tensors_of(dims);
  if (row.count("M") && row.count("N") && row.count("K")) return product_of(row, named, shape);
  const std::vector<std::vector<uint64_t>> matrix = tensors_of("[" + row.option("rows") + "," + row.option("cols") + "]");
  if (named.rule == nullptr || matrix.empty() || matrix.front().size() != 2) return {};
  if (named.rule->sizes() == profile::ROWS) return matrix;
  if (named.rule->sizes() != profile::ELEMENTS) return {};
  size_t arrays = named.rule->arrays();
  if (const auto found = named.groups.find("arrays"); arrays == 0 && found != named.groups.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), arrays);
  return std::vector<std::vector<uint64_t>>(std::clamp<size_t>(arrays, 1, 4) - 1, matrix.front());
}

std::optional<profile::LaunchShape> launch_of(const MeasuredRow& row, const profile::NameTable& names) {
  const validation::RowFacts& facts = row.facts();
  profile::LaunchShape shape;
  const auto axes = {std::pair{&facts.grid_x, &shape.grid[0]}, {&facts.grid_y, &shape.grid[1]},
                     {&facts.grid_z, &shape.grid[2]},          {&facts.block_x, &shape.block[0]},
                     {&facts.block_y, &shape.block[1]},        {&facts.block_z, &shape.block[2]}};
  for (const auto& [fact, axis] : axes) {
    const auto value = extent(*fact);
    if (!value) return std::nullopt;
    *axis = *value;
  }
  if (facts.registers) shape.registers_per_thread = extent(facts.registers).value_or(0);
  if (facts.shared_bytes && *facts.shared_bytes >= 1) shape.shared_memory_bytes = extent(facts.shared_bytes).value_or(0);
  shape.name = row.text(names.find(row.text("impl")).rule != nullptr ? "impl" : "kernel");
  shape.op.name = row.option("op");
  shape.op.inputs = inputs_of(row, names.find(shape.name), shape);
  if (!row.text("dtype").empty()) shape.op.types = {row.text("dtype")};
  return shape;
}

bool beside_another(const MeasuredRow& row) { return !row.option("launch beside").empty(); }

// Adds the communication kernel that the row names beside its launch. If the row states the time alone, its figure is the slowdown.
validation::Mapped<void> add_communication(const MeasuredRow& row, const std::string& operators,
                                           validation::Comparison& comparison) {
  validation::Run beside = comparison.runs.front();
  const std::string kernels = std::filesystem::path(operators).parent_path().string();
  auto communication = validation::communication_of_row(row, comparison.measured, beside.scenario.gpu(), kernels);
  if (!communication) return std::unexpected(communication.error());
  *beside.scenario.add_kernel() = *std::move(communication);
  beside.scenario.mutable_policy()->set_kind(configs::CONCURRENT);
  comparison.family = "kernel of a profile beside communication";
  comparison.of = "kernel";
  comparison.runs.insert(comparison.runs.begin(), std::move(beside));
  if (const auto alone_us = row.facts().alone_us) {
    comparison.quantity = validation::Quantity::kTimeRatio;
    comparison.measured /= *alone_us;
  } else {
    comparison.runs.pop_back();
  }
  return {};
}

bool states_launch(const MeasuredRow& row) { return row.facts().grid_x && row.facts().block_x && row.text("set").empty(); }

validation::Mapped<validation::Comparison> map_launch_row(const MeasuredRow& row, validation::RowMapper& mapper,
                                                          const std::string& operators) {
  const auto gpu = mapper.gpu_of(row);
  if (!gpu) return std::unexpected(gpu.error());
  const profile::NameTable& names = profile::NameTable::embedded();
  const auto shape = launch_of(row, names);
  if (!shape) return not_mapped("dims_other: grid and block: expected whole numbers from 1 on");
  profile::Reading reading = profile::read_launch(names, *shape, {.gpu = *gpu, .traced = true, .operators = operators}, mapper);
  const bool footprint = row.facts().registers && row.facts().shared_bytes;
  if (footprint) profile::occupy_as_traced(*shape, reading);
  if (!reading.run) return not_mapped(reading.family.empty() ? reading.opaque : reading.family + ": " + reading.opaque);
  validation::Comparison comparison{.family = "kernel of a profile",
                                    .kernel = reading.family,
                                    .shape = reading.reads_as,
                                    .runs = {},
                                    .launches_us = 0,
                                    .of = {},
                                    .beside = {},
                                    .work = 0,
                                    .rate_unit = {},
                                    .follows = {"grid", "block", "timer", "cleared L2", "state of L2"},
                                    .unfollowed = {}};
  if (footprint) comparison.follows.insert({"registers", "shared memory"});
  const bool beside = beside_another(row);
  if (beside) comparison.follows.insert({"launch beside", "time alone"});
  comparison.runs.push_back(std::move(*reading.run));
  auto mapped = mapper.map_run(row, std::move(comparison));
  if (!mapped) return mapped;
  mapped->launches_us = validation::start_and_end_us(mapped->runs.front().scenario.gpu());
  if (!beside) return mapped;
  if (const auto added = add_communication(row, operators, *mapped); !added) return std::unexpected(added.error());
  return mapped;
}

}  // namespace

validation::Mapped<validation::Comparison> map_row_or_launch(const MeasuredRow& row, validation::RowMapper& mapper,
                                                             const std::string& operators) {
  const bool pair = row.text("category") == "CORUN" && !beside_another(row);
  if (pair || !states_launch(row)) return mapper.map(row);
  auto launch = map_launch_row(row, mapper, operators);
  if (launch || launch.error().mistake || beside_another(row)) return launch;
  auto mapped = mapper.map(row);
  return mapped || mapped.error().mistake ? mapped : launch;
}

}  // namespace warpfold::cli
