#include "tools/warpfold/figures/validation_figures.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "configs/enum_values.h"
#include "configs/escape/quoted.h"
#include "configs/near_miss.h"
#include "tools/validation/statistics.h"

namespace warpfold::cli {

using validation::Comparison;
using validation::MeasuredRow;
using validation::Quantity;

namespace {

using enum validation::Quantity;
constexpr auto kQuantityNames = by_enum<validation::Quantity, const char*>(
    {{kTime, "time_us"}, {kSlowdown, "slowdown"}, {kTimeRatio, "time_ratio"}, {kWatts, "watts"}, {kClock, "clock_mhz"}});

const configs::SimulatedKernel* kernel_of(const configs::SimulatedPoint& point, const std::string& name) {
  const auto found = std::ranges::find(point.kernel(), name, [](const auto& kernel) { return kernel.name(); });
  return found == point.kernel().end() ? nullptr : &*found;
}

// Returns the cycles of the kernel, or of the whole run if `name` is empty.
uint64_t cycles_of(const configs::SimulatedPoint& point, const std::string& name) {
  if (name.empty()) return point.total_cycles();
  const configs::SimulatedKernel* kernel = kernel_of(point, name);
  return kernel == nullptr ? 0 : kernel->end_cycle() - kernel->start_cycle();
}

double us_of(const configs::SimulatedPoint& point, const std::string& name) {
  return static_cast<double>(cycles_of(point, name)) / point.clock_mhz();
}

// Returns the slowdown of a kernel beside others. If `beside` is named, only while that kernel runs: the part of the kernel after
// its end runs at full speed.
//
//   the GEMM ends at 3.69, the kernel at 5.82, alone it takes 4.26: 2.13 ran after the GEMM;
//   the other 4.26 - 2.13 = 2.13 took 3.69: 1.73 times slower
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
    case Quantity::kWatts:
      return points.front()->watts();
    case Quantity::kClock:
      return points.front()->clock_mhz();
  }
  throw std::logic_error("a quantity without a value");
}

// Returns the point that takes longest; the limiter of a row is that of its longest part.
const configs::SimulatedPoint& longest(const std::vector<const configs::SimulatedPoint*>& points) {
  return **std::ranges::max_element(points, {}, [](const auto* point) { return point->total_cycles(); });
}

template <typename Belongs>
void add_rows_as_group(const std::string& family, const std::string& kernel, const std::string& gpu, Belongs belongs,
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
  configs::ErrorGroup& group = add_group(family, kernel, gpu, errors, validation);
  if (!rated) return;
  group.set_rate_unit(unit);
  group.set_measured_rate(measured / static_cast<double>(errors.size()));
  group.set_simulated_rate(simulated / static_cast<double>(errors.size()));
}

}  // namespace

configs::SimulatedPoint simulated_point(const configs::Result& result) {
  configs::SimulatedPoint point;
  point.set_total_cycles(result.total_cycles());
  point.set_clock_mhz(static_cast<double>(result.total_cycles()) / result.total_time_us());
  point.set_fold(result.fold().mode());
  point.set_watts(result.power().watts());
  *point.mutable_warnings() = result.warnings();
  for (const configs::KernelResult& kernel : result.kernels()) {
    configs::SimulatedKernel& entry = *point.add_kernel();
    entry.set_name(kernel.name());
    entry.set_start_cycle(kernel.start_cycle());
    entry.set_end_cycle(kernel.end_cycle());
    entry.set_alone_cycles(kernel.solo_cycles());
    entry.set_bound_by(kernel.bound_by());
  }
  for (const configs::Resource& resource : result.resources()) {
    if (resource.name() == "wgmma" || resource.name() == "tensor")
      point.set_tensor_utilization(std::max(point.tensor_utilization(), resource.utilization()));
    if (resource.utilization() <= point.limiter_utilization()) continue;
    point.set_limiter(resource.name());
    point.set_limiter_utilization(resource.utilization());
  }
  return point;
}

bool holds_together(const configs::SimulatedPoint& point, bool alone) {
  const auto is_share = [](double value) { return value >= 0 && value <= 1; };
  if (!(point.clock_mhz() > 0) || !std::isfinite(point.clock_mhz()) || point.total_cycles() == 0) return false;
  if (!is_share(point.limiter_utilization()) || !is_share(point.tensor_utilization())) return false;
  if (!(point.watts() >= 0) || !std::isfinite(point.watts())) return false;
  return std::ranges::all_of(point.kernel(), [&](const configs::SimulatedKernel& kernel) {
    return kernel.start_cycle() <= kernel.end_cycle() && kernel.end_cycle() <= point.total_cycles() &&
           (!alone || kernel.alone_cycles() > 0);
  });
}

std::string why_no_figure(const configs::ValidatedRow& row) {
  if (std::isfinite(row.simulated()) && std::isfinite(row.error()) && std::isfinite(row.simulated_rate()) && row.simulated() >= 0)
    return {};
  return "the simulated " + row.quantity() + " is no finite number";
}

std::string unknown_kernel(const Comparison& comparison, const configs::SimulatedPoint& point) {
  std::vector<std::string> known;
  for (const auto& kernel : point.kernel()) known.push_back(kernel.name());
  for (const std::string* name : {&comparison.of, &comparison.beside}) {
    if (!name->empty() && kernel_of(point, *name) == nullptr)
      return "no kernel called " + escape::quoted(*name) + suggestion(*name, known);
  }
  return {};
}

configs::ValidatedRow validated_row(const MeasuredRow& measured, const Comparison& comparison,
                                    const std::vector<const configs::SimulatedPoint*>& points) {
  configs::ValidatedRow row;
  row.set_id(measured.id());
  row.set_file(measured.file());
  row.set_line(static_cast<uint32_t>(measured.line()));
  row.set_family(comparison.family);
  row.set_kernel(comparison.kernel);
  row.set_gpu(comparison.runs.front().scenario.gpu().name());
  row.set_implementation(measured.text("impl"));
  row.set_shape(comparison.shape);
  row.set_source(measured.text("source"));
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
  for (const configs::SimulatedPoint* each : points) row.mutable_warnings()->MergeFrom(each->warnings());
  row.set_judged(measured.text("judged") != "no");
  row.set_relative(comparison.relative);
  return row;
}

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

configs::ErrorGroup& add_group(const std::string& family, const std::string& kernel, const std::string& gpu,
                               const std::vector<double>& errors, configs::Validation& validation) {
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
  return group;
}

// Adds a group for each family, then one for each of its pairs of kernel and GPU if the family has several.
void add_error_groups(configs::Validation& validation) {
  for (const std::string& family : families_of(validation)) {
    std::vector<std::pair<std::string, std::string>> parts;
    for (const auto& row : validation.rows()) {
      if (row.family() != family) continue;
      const std::pair part(row.kernel(), row.gpu());
      if (std::ranges::find(parts, part) == parts.end()) parts.push_back(part);
    }
    if (parts.size() > 1)
      add_rows_as_group(
          family, "", "", [](const auto&) { return true; }, validation);
    for (const auto& [kernel, gpu] : parts) {
      const auto belongs = [&](const auto& row) { return row.kernel() == kernel && row.gpu() == gpu; };
      add_rows_as_group(family, kernel, gpu, belongs, validation);
    }
  }
}

}  // namespace warpfold::cli
