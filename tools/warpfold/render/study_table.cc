#include "tools/warpfold/render/study_table.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <vector>

#include "configs/study_words.h"
#include "tools/warpfold/render/json.h"

namespace warpfold::cli {

namespace {

constexpr int kDecimals = 4;

constexpr int kDecimalsOfEnergy = 9;  // a kernel of microseconds uses millijoules

Cell number_or_empty(const std::optional<double>& number, int decimals = kDecimals) {
  return number ? Cell(*number, decimals) : Cell("");
}

std::optional<double> if_above_0(double number) { return number > 0 ? std::optional(number) : std::nullopt; }

// The limiter model states no error bound.
Cell bound_of(const configs::StudyRun& run) {
  constexpr int kDecimalsOfBound = 6;
  return run.fold().empty() ? Cell("") : Cell(run.error_bound(), kDecimalsOfBound);
}

std::vector<Cell> axis_cells(const configs::Study& study, const Point& point) {
  std::vector<Cell> cells;
  for (const Placed& placed : placed_values(study, point)) cells.emplace_back(placed.value);
  return cells;
}

std::vector<Point> simulated_points(const configs::Study& study, const PointRecords& records) {
  std::vector<Point> points = grid_of(study);
  std::erase_if(points, [&](const Point& point) { return !records.contains(point); });
  return points;
}

// Returns kernels in the order of first use.
std::vector<std::string> kernels_of(const std::vector<Point>& points, const PointRecords& records) {
  std::vector<std::string> names;
  for (const Point& point : points) {
    for (const configs::StudyRun& run : records.at(point).run()) {
      for (const configs::StudyKernel& kernel : run.kernel()) {
        if (std::ranges::find(names, kernel.name()) == names.end()) names.push_back(kernel.name());
      }
    }
  }
  return names;
}

// Returns a row for each kernel of each version of the layer.
Table layer_table(const configs::Study& study, const PointRecords& records) {
  std::vector<std::string> columns = configs::words_of_axes(study);
  for (const char* name :
       {"version", "kernel", "pass", "kind", "time_us", "simulated_us", "limiter_us", "roofline_us", "gflop", "mwords"})
    columns.emplace_back(name);
  Table table(columns);
  for (const Point& point : simulated_points(study, records)) {
    for (const configs::LayerVersion& version : records.at(point).layer().versions()) {
      for (const configs::LayerKernel& kernel : version.kernels()) {
        std::vector<Cell> row = axis_cells(study, point);
        for (const std::string& text : {version.name(), kernel.name(), kernel.pass(), kernel.kind()}) row.emplace_back(text);
        row.emplace_back(kernel.time_us(), kDecimals);
        row.push_back(number_or_empty(kernel.has_simulated_us() ? std::optional(kernel.simulated_us()) : std::nullopt));
        row.push_back(number_or_empty(kernel.has_limiter_us() ? std::optional(kernel.limiter_us()) : std::nullopt));
        row.emplace_back(kernel.roofline_us(), kDecimals);
        row.emplace_back(static_cast<double>(kernel.flops()) / 1e9, kDecimals);
        row.emplace_back(static_cast<double>(kernel.input_words() + kernel.output_words()) / 1e6, kDecimals);
        table.add(std::move(row));
      }
    }
  }
  return table;
}

}  // namespace

Table study_table(const configs::Study& study, const PointRecords& records) {
  if (study.has_layer()) return layer_table(study, records);
  const std::vector<Point> points = simulated_points(study, records);
  const std::vector<std::string> kernels = kernels_of(points, records);
  std::vector<std::string> columns = configs::words_of_axes(study);
  for (const char* name : {"policy", "estimator", "total_time_us", "energy_j", "stored_bits_mb", "fold", "error_bound"})
    columns.emplace_back(name);
  for (const std::string& kernel : kernels) {
    for (const char* what : {"_us", "_alone_us", "_slowdown", "_bound_by"}) columns.push_back(kernel + what);
  }
  Table table(columns);
  for (const Point& point : points) {
    for (const configs::StudyRun& run : records.at(point).run()) {
      std::vector<Cell> row = axis_cells(study, point);
      row.emplace_back(run.policy());
      row.emplace_back(run.estimator());
      row.emplace_back(run.total_time_us(), kDecimals);
      row.push_back(number_or_empty(run.has_energy_j() ? std::optional(run.energy_j()) : std::nullopt, kDecimalsOfEnergy));
      row.push_back(number_or_empty(if_above_0(static_cast<double>(run.stored_bits_bytes()) / 1e6)));
      row.emplace_back(run.fold());
      row.push_back(bound_of(run));
      for (const std::string& name : kernels) {
        const auto kernel = std::ranges::find(run.kernel(), name, [](const auto& each) { return each.name(); });
        const bool there = kernel != run.kernel().end();
        row.push_back(number_or_empty(there ? if_above_0(kernel->time_us()) : std::nullopt));
        row.push_back(number_or_empty(there ? if_above_0(kernel->alone_us()) : std::nullopt));
        row.push_back(number_or_empty(there ? if_above_0(kernel->slowdown()) : std::nullopt));
        row.emplace_back(there ? kernel->bound_by() : "");
      }
      table.add(std::move(row));
    }
  }
  return table;
}

std::string study_json(const configs::Study& study, const PointRecords& records, const std::vector<FrontRuns>& fronts) {
  configs::StudyTable table;
  constexpr uint32_t kFormat = 1;
  table.set_format(kFormat);
  table.set_version(WARPFOLD_VERSION);
  table.set_study(study.name());
  const auto place = [&](const Point& point, auto& entry) {
    entry.clear_at();
    for (const Placed& placed : placed_values(study, point)) {
      configs::FixedAxis& at = *entry.add_at();
      at.set_axis(placed.name);
      at.set_value(placed.value);
    }
  };
  for (const Point& point : simulated_points(study, records)) {
    configs::StudyPoint& entry = *table.add_point();
    entry = records.at(point);
    place(point, entry);
  }
  for (int f = 0; f < study.front_size(); ++f) {
    const FrontRuns& runs = fronts[static_cast<size_t>(f)];
    configs::StudyFront& front = *table.add_front();
    front.set_name(study.front(f).name());
    for (const MeasuredRun& each : runs.best) {
      configs::StudyFrontPoint& entry = *front.add_point();
      entry.set_label(each.label);
      place(each.run.point, entry);
      entry.set_policy(each.run.run->policy());
      for (size_t m = 0; m < runs.measures.size(); ++m) {
        configs::StudyFrontMeasure& measure = *entry.add_measure();
        measure.set_expression(runs.measures[m]);
        measure.set_value(each.values[m]);
      }
    }
  }
  return to_json(table);
}

Table front_table(const configs::Study& study, const FrontRuns& runs) {
  const std::vector<std::string> axes = configs::words_of_axes(study);
  // An axis already has a column.
  const auto is_axis = [&](const std::string& measure) { return std::ranges::find(axes, measure) != axes.end(); };
  std::vector<std::string> columns = axes;
  columns.emplace_back("policy");
  std::ranges::copy_if(runs.measures, std::back_inserter(columns), std::not_fn(is_axis));
  columns.insert(columns.end(), {"error_bound", "label"});
  Table table(columns);
  for (const MeasuredRun& each : runs.best) {
    std::vector<Cell> row = axis_cells(study, each.run.point);
    row.emplace_back(each.run.run->policy());
    for (size_t m = 0; m < runs.measures.size(); ++m) {
      const bool energy = runs.measures[m].contains("energy_j");
      if (!is_axis(runs.measures[m])) row.emplace_back(each.values[m], energy ? kDecimalsOfEnergy : kDecimals);
    }
    row.push_back(bound_of(*each.run.run));
    row.emplace_back(each.label);
    table.add(std::move(row));
  }
  return table;
}

Expected<Table> least_table(const configs::Study& study, const configs::Least& least, const PointRecords& records) {
  std::vector<Point> next;
  const auto values = least_values(study, least, records, next);
  if (!values) return std::unexpected(values.error());
  std::vector<std::string> columns;
  for (const std::string& name : configs::words_of_axes(study)) columns.push_back(name == least.axis() ? "least " + name : name);
  Table table(columns);
  for (const LeastValue& value : *values) {
    std::vector<Cell> row;
    for (const Placed& placed : placed_values(study, value.point))
      row.emplace_back(placed.name == least.axis() && !value.found ? "" : placed.value);
    table.add(std::move(row));
  }
  return table;
}

}  // namespace warpfold::cli
