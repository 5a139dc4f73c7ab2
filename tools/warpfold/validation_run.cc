#include "tools/warpfold/validation_run.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "configs/enum_values.h"
#include "configs/near_miss.h"
#include "tools/validation/map_row.h"
#include "tools/validation/statistics.h"
#include "tools/warpfold/validation_points.h"

namespace warpfold::cli {

namespace {

using validation::Comparison;
using validation::MeasuredRow;
using validation::Quantity;

using enum validation::Quantity;
constexpr auto kQuantityNames =
    by_enum<validation::Quantity, const char*>({{kTime, "time_us"}, {kSlowdown, "slowdown"}, {kTimeRatio, "time_ratio"}});

struct Entry {
  MeasuredRow row;
  std::optional<Comparison> comparison{};
  std::string reason{};  // why there is none
};

bool holds(const std::string& text, const std::string& part) { return part.empty() || text.find(part) != std::string::npos; }

Outcome<std::vector<Entry>> map_rows(const ValidationRequest& request) {
  validation::RowMapper mapper(request.gpus, request.settings);
  std::vector<Entry> entries;
  for (const std::string& file : request.data) {
    auto rows = validation::read_measured_rows(file);
    if (!rows) return std::unexpected(Failure(rows.error()));
    for (MeasuredRow& row : *rows) {
      auto mapped = mapper.map(row);
      if (!mapped && mapped.error().mistake) return std::unexpected(Failure(*mapped.error().mistake));
      entries.push_back({std::move(row)});
      if (mapped) {
        entries.back().comparison = std::move(*mapped);
      } else {
        entries.back().reason = mapped.error().reason;
      }
    }
  }
  return entries;
}

bool wanted(const Entry& entry, const ValidationRequest& request) {
  if (!entry.comparison)
    return holds(entry.row.text("gpu"), request.only_gpu) && holds(entry.row.text("kernel"), request.only_kernel);
  const Comparison& comparison = *entry.comparison;
  const std::string& gpu = comparison.runs.front().scenario.gpu().name();
  return (holds(gpu, request.only_gpu) || holds(entry.row.text("gpu"), request.only_gpu)) &&
         (holds(comparison.family, request.only_kernel) || holds(comparison.kernel, request.only_kernel));
}

const configs::SimulatedKernel* kernel_of(const configs::SimulatedPoint& point, const std::string& name) {
  const auto found = std::ranges::find(point.kernel(), name, [](const auto& kernel) { return kernel.name(); });
  return found == point.kernel().end() ? nullptr : &*found;
}

// Cycles of the kernel, or of all.
uint64_t cycles_of(const configs::SimulatedPoint& point, const std::string& name) {
  if (name.empty()) return point.total_cycles();
  const configs::SimulatedKernel* kernel = kernel_of(point, name);
  return kernel == nullptr ? 0 : kernel->end_cycle() - kernel->start_cycle();
}

double us_of(const configs::SimulatedPoint& point, const std::string& name) {
  return static_cast<double>(cycles_of(point, name)) / point.clock_mhz();
}

// How much slower a kernel is beside others; `beside` named: while that one runs. What is left then is done at full speed.
//
//   the GEMM ends at 3.69, the kernel at 5.82, alone it takes 4.26: 2.13 were left, 2.13 of 4.26 were made in 3.69: 1.73 times
//   slower
double slowdown(const configs::SimulatedPoint& point, const std::string& of, const std::string& beside) {
  const configs::SimulatedKernel& kernel = *kernel_of(point, of);
  const auto alone = static_cast<double>(kernel.alone_cycles());
  const configs::SimulatedKernel* other = beside.empty() ? nullptr : kernel_of(point, beside);
  if (other == nullptr || kernel.end_cycle() <= other->end_cycle()) return static_cast<double>(cycles_of(point, of)) / alone;
  const auto left = static_cast<double>(kernel.end_cycle() - other->end_cycle());
  return static_cast<double>(other->end_cycle() - kernel.start_cycle()) / (alone - left);
}

double simulated_value(const Comparison& comparison, const std::vector<const configs::SimulatedPoint*>& points) {
  switch (comparison.quantity) {
    case Quantity::kTime:
      return std::accumulate(points.begin(), points.end(), comparison.launches_us,
                             [&](double sum, const auto* point) { return sum + us_of(*point, comparison.of); });
    case Quantity::kSlowdown:
      return slowdown(*points.front(), comparison.of, comparison.beside);
    case Quantity::kTimeRatio:
      return us_of(*points.front(), comparison.of) / us_of(*points.back(), comparison.of);
  }
  throw std::logic_error("a quantity without a value");
}

// The part of a row that takes longest says what binds it.
const configs::SimulatedPoint& longest(const std::vector<const configs::SimulatedPoint*>& points) {
  return **std::ranges::max_element(points, {}, [](const auto* point) { return point->total_cycles(); });
}

configs::ValidatedRow make_row(const Entry& entry, const std::vector<const configs::SimulatedPoint*>& points) {
  const Comparison& comparison = *entry.comparison;
  configs::ValidatedRow row;
  row.set_id(entry.row.id());
  row.set_file(entry.row.file());
  row.set_line(static_cast<uint32_t>(entry.row.line()));
  row.set_family(comparison.family);
  row.set_kernel(comparison.kernel);
  row.set_gpu(comparison.runs.front().scenario.gpu().name());
  row.set_implementation(entry.row.text("impl"));
  row.set_shape(comparison.shape);
  row.set_source(entry.row.text("source"));
  row.set_quantity(kQuantityNames[static_cast<size_t>(comparison.quantity)]);
  row.set_measured(comparison.measured);
  row.set_simulated(simulated_value(comparison, points));
  row.set_error(row.simulated() / row.measured() - 1);
  if (comparison.work > 0 && comparison.quantity == Quantity::kTime) {
    row.set_rate_unit(comparison.rate_unit);
    row.set_measured_rate(validation::rate_of(comparison.work, comparison.rate_unit, row.measured()));
    row.set_simulated_rate(validation::rate_of(comparison.work, comparison.rate_unit, row.simulated()));
  }
  const configs::SimulatedPoint& point = longest(points);
  row.set_limiter(point.limiter());
  row.set_limiter_utilization(point.limiter_utilization());
  row.set_tensor_utilization(point.tensor_utilization());
  row.set_fold(point.fold());
  row.set_judged(entry.row.text("judged") != "no");
  return row;
}

// What the row's kernel names must be for its value to be found.
std::string unknown_kernel(const Comparison& comparison, const configs::SimulatedPoint& point) {
  std::vector<std::string> known;
  for (const auto& kernel : point.kernel()) known.push_back(kernel.name());
  for (const std::string* name : {&comparison.of, &comparison.beside}) {
    if (!name->empty() && kernel_of(point, *name) == nullptr)
      return "no kernel called \"" + *name + "\"" + suggestion(*name, known);
  }
  return {};
}

void add_unmapped(const Entry& entry, const std::string& reason, configs::Validation& validation) {
  configs::UnmappedRow& row = *validation.add_unmapped();
  row.set_id(entry.row.id());
  row.set_file(entry.row.file());
  row.set_line(static_cast<uint32_t>(entry.row.line()));
  row.set_reason(reason);
}

void add_row(const Entry& entry, const ValidationPoints& simulations, configs::Validation& validation) {
  if (!entry.comparison) return add_unmapped(entry, entry.reason, validation);
  std::vector<const configs::SimulatedPoint*> points;
  for (const validation::Run& run : entry.comparison->runs) {
    const auto& point = simulations.find(run, entry.comparison->quantity == Quantity::kSlowdown);
    if (!point) return add_unmapped(entry, point.error().text, validation);
    if (const std::string unknown = unknown_kernel(*entry.comparison, *point); !unknown.empty())
      return add_unmapped(entry, unknown, validation);
    points.push_back(&*point);
  }
  *validation.add_rows() = make_row(entry, points);
}

template <typename Belongs>
void add_group(const std::string& family, const std::string& kernel, const std::string& gpu, Belongs belongs,
               configs::Validation& validation) {
  std::vector<double> errors;
  double measured = 0;
  double simulated = 0;
  bool rated = true;
  std::string unit;
  for (const configs::ValidatedRow& row : validation.rows()) {
    if (!row.judged() || row.family() != family || !belongs(row)) continue;
    errors.push_back(row.error());
    rated = rated && !row.rate_unit().empty();
    unit = row.rate_unit();
    measured += row.measured_rate();
    simulated += row.simulated_rate();
  }
  if (errors.empty()) return;
  const validation::Errors is = validation::errors_of(errors);
  configs::ErrorGroup& group = *validation.add_groups();
  group.set_family(family);
  group.set_kernel(kernel);
  group.set_gpu(gpu);
  group.set_rows(static_cast<uint32_t>(is.count));
  group.set_mean(is.mean);
  group.set_median(is.median);
  group.set_p90(is.p90);
  group.set_largest(is.largest);
  group.set_bias(is.bias);
  if (!rated) return;
  group.set_rate_unit(unit);
  group.set_measured_rate(measured / static_cast<double>(is.count));
  group.set_simulated_rate(simulated / static_cast<double>(is.count));
}

// In each family the whole, then kernel by kernel and GPU by GPU where there are several.
void add_groups(configs::Validation& validation) {
  for (const std::string& family : families_of(validation)) {
    std::vector<std::pair<std::string, std::string>> parts;
    for (const auto& row : validation.rows()) {
      if (row.family() != family) continue;
      const std::pair part(row.kernel(), row.gpu());
      if (std::ranges::find(parts, part) == parts.end()) parts.push_back(part);
    }
    if (parts.size() > 1) add_group(family, "", "", [](const auto&) { return true; }, validation);
    for (const auto& [kernel, gpu] : parts) {
      const auto belongs = [&](const auto& row) { return row.kernel() == kernel && row.gpu() == gpu; };
      add_group(family, kernel, gpu, belongs, validation);
    }
  }
}

}  // namespace

std::vector<std::string> families_of(const configs::Validation& validation) {
  std::vector<std::string> families{
      "GEMM",  "GEMM, a dimension of 256 or less", "attention forward", "attention backward", "attention forward and backward",
      "Philox"};
  for (const auto& row : validation.rows()) {
    if (std::ranges::find(families, row.family()) == families.end()) families.push_back(row.family());
  }
  std::erase_if(families, [&](const std::string& family) {
    return std::ranges::none_of(validation.rows(), [&](const auto& row) { return row.family() == family; });
  });
  return families;
}

Outcome<configs::Validation> run_validation(const ValidationRequest& request) {
  auto entries = map_rows(request);
  if (!entries) return std::unexpected(entries.error());
  std::erase_if(*entries, [&](const Entry& entry) { return !wanted(entry, request); });
  if (entries->empty()) return user_error("no row has what --gpu and --kernel ask for in its names");
  ValidationPoints simulations(request.how, request.command_line, request.resume);
  for (const Entry& entry : *entries) {
    if (!entry.comparison) continue;
    for (const validation::Run& run : entry.comparison->runs)
      simulations.add(run, entry.comparison->quantity == Quantity::kSlowdown);
  }
  if (auto simulated = simulations.simulate_all(); !simulated) return std::unexpected(simulated.error());
  configs::Validation validation;
  validation.set_version(WARPFOLD_VERSION);
  validation.set_command_line(request.command_line);
  for (const std::string& file : request.data) validation.add_data(file);
  for (const Entry& entry : *entries) add_row(entry, simulations, validation);
  add_groups(validation);
  validation.set_simulations(static_cast<uint32_t>(simulations.simulated()));
  return validation;
}

}  // namespace warpfold::cli
