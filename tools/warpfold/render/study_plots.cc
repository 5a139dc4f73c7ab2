#include "tools/warpfold/render/study_plots.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "configs/escape/gnuplot.h"
#include "tools/warpfold/render/layer_roofs.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

namespace {

constexpr std::array<const char*, 3> kEstimators{"simulation", "limiter_model", "roofline"};

std::string label_of(const configs::Study& study, const std::string& axis) {
  for (const configs::Axis& each : study.axis()) {
    if (each.name() == axis) return each.has_label() ? each.label() : each.name();
  }
  return axis;
}

int index_of(const configs::Study& study, const std::string& axis) {
  int index = 0;
  while (study.axis(index).name() != axis) ++index;
  return index;
}

// Returns a number for gnuplot; "NaN" leaves a gap.
std::string number(const std::optional<double>& value) { return value ? fixed(*value, 4) : "NaN"; }

// Returns the estimators that give a value for this figure.
std::vector<std::string> estimators_of(const configs::Study& study, const configs::Figure& figure, const PointRecords& records) {
  std::vector<std::string> known;
  for (const char* estimator : kEstimators) {
    const std::vector<Point> points = points_of(study, figure);
    const bool any = std::ranges::any_of(points, [&](const Point& point) {
      return std::ranges::any_of(
          figure.quantity(), [&](const auto& quantity) { return value_of(quantity, records.at(point), estimator).has_value(); });
    });
    if (any) known.emplace_back(estimator);
  }
  return known;
}

// Returns none at a point that the study leaves out.
std::optional<double> value_at(const configs::Quantity& quantity, const PointRecords& records, const Point& point,
                               const std::string& estimator) {
  const auto record = records.find(point);
  return record == records.end() ? std::nullopt : value_of(quantity, record->second, estimator);
}

// Returns the values of a map as a gnuplot data block: a row for each y, with the names of columns and rows first.
std::string map_block(const configs::Study& study, const configs::Figure& figure, const PointRecords& records,
                      const configs::Quantity& quantity, const std::string& estimator) {
  const configs::Axis& x = study.axis(index_of(study, figure.x()));
  const configs::Axis& y = study.axis(index_of(study, figure.y()));
  std::string block = "\"\"";
  for (const std::string& value : x.value()) block.append(" ").append(escape::gnuplot_cell(value));
  const std::vector<Point> points = grid_of(study, figure);
  size_t next = 0;
  for (const std::string& row : y.value()) {
    block.append("\n").append(escape::gnuplot_cell(row));
    for (int column = 0; column < x.value_size(); ++column)
      block.append(" ").append(number(value_at(quantity, records, points[next++], estimator)));
  }
  return block + "\n";
}

// Returns curves as a gnuplot data block: a row for each x, a column for each curve.
std::string lines_block(const configs::Study& study, const configs::Figure& figure, const PointRecords& records,
                        const std::string& estimator) {
  const configs::Axis& x = study.axis(index_of(study, figure.x()));
  const std::vector<Point> points = grid_of(study, figure);
  const auto columns = static_cast<size_t>(x.value_size());
  std::string block;
  for (size_t column = 0; column < columns; ++column) {
    block += escape::gnuplot_cell(x.value(static_cast<int>(column)));
    for (size_t at = column; at < points.size(); at += columns) {
      for (const configs::Quantity& quantity : figure.quantity())
        block.append(" ").append(number(value_at(quantity, records, points[at], estimator)));
    }
    block += "\n";
  }
  return block;
}

std::vector<std::string> curve_names(const configs::Study& study, const configs::Figure& figure) {
  std::vector<std::string> names;
  if (figure.has_series()) {
    for (const std::string& value : study.axis(index_of(study, figure.series())).value())
      names.push_back(label_of(study, figure.series()) + " " + value);
  } else {
    for (const configs::Quantity& quantity : figure.quantity()) names.push_back(quantity.label());
  }
  return names;
}

std::string plot_head(const configs::Figure& figure, size_t panels) {
  const std::string width = std::to_string(120 + 480 * panels);
  return "# gnuplot " + escape::gnuplot_comment(figure.name() + ".gp draws " + figure.name() + ".svg") +
         "\nset terminal svg noenhanced size " + width + ",420 font 'sans,13' background 'white'\n" + "set output " +
         escape::gnuplot(figure.name() + ".svg") + "\n" + "set encoding utf8\nset multiplot layout 1," + std::to_string(panels) +
         " title " + escape::gnuplot(figure.title()) + " noenhanced\n";
}

// The range of values over all estimators, which gives their panels the same scale. Empty until a value is added.
struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void add(const std::optional<double>& value) {
    if (!value) return;
    least = std::min(least, *value);
    most = std::max(most, *value);
  }
};

Range range_of(const configs::Study& study, const configs::Figure& figure, const PointRecords& records,
               const configs::Quantity& quantity, const std::vector<std::string>& estimators) {
  Range range;
  for (const std::string& estimator : estimators) {
    for (const Point& point : points_of(study, figure)) range.add(value_of(quantity, records.at(point), estimator));
  }
  return range;
}

// Returns the colours of one quantity: three named colours for regions, shades for numbers.
std::string colours(const configs::Quantity& quantity, const Range& range) {
  if (quantity.what_case() == configs::Quantity::kRegion) {
    return "set palette maxcolors 3 defined (1 '#9ecae1', 2 '#31a354', 3 '#fd8d3c')\nset cbrange [0.5:3.5]\n"
           "set cbtics ('GEMMs' 1, 'balanced' 2, 'exposed' 3)\n";
  }
  std::string text = "set palette maxcolors 0 defined (0 '#f7fbff', 0.5 '#9ecae1', 1 '#3182bd')\nset cbtics autofreq\n";
  if (range.most > range.least) text += "set cbrange [" + fixed(range.least, 4) + ":" + fixed(range.most, 4) + "]\n";
  return text;
}

std::string map_plot(const configs::Study& study, const configs::Figure& figure, const PointRecords& records,
                     const std::vector<std::string>& estimators) {
  std::string blocks;
  std::string panels;
  size_t count = 0;
  for (const configs::Quantity& quantity : figure.quantity()) {
    panels += colours(quantity, range_of(study, figure, records, quantity, estimators));
    const std::string digits = quantity.what_case() == configs::Quantity::kRegion ? "%.0f" : "%.2f";
    for (const std::string& estimator : estimators) {
      const std::string block = "$map" + std::to_string(count++);
      blocks += block + " << END\n" + map_block(study, figure, records, quantity, estimator) + "END\n";
      panels += "set title " + escape::gnuplot(quantity.label() + " (" + estimator + ")") + " noenhanced\nplot " + block +
                " matrix rowheaders columnheaders using 1:2:3 with image pixels notitle, " + block +
                " matrix rowheaders columnheaders using 1:2:(sprintf('" + digits + "', $3)) with labels notitle\nunset ylabel\n";
    }
  }
  return plot_head(figure, count) + blocks + "set xlabel " + escape::gnuplot(label_of(study, figure.x())) + "\nset ylabel " +
         escape::gnuplot(label_of(study, figure.y())) + "\nset xtics rotate by 45 right\nset tics scale 0\n" + panels;
}

// True if all values are numbers, so that a line may connect them.
bool numeric(const configs::Axis& axis) {
  return std::ranges::all_of(axis.value(), [](const std::string& value) {
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    return error == std::errc() && end == value.data() + value.size();
  });
}

std::string lines_plot(const configs::Study& study, const configs::Figure& figure, const PointRecords& records,
                       const std::vector<std::string>& estimators) {
  const std::vector<std::string> names = curve_names(study, figure);
  const bool connected = numeric(study.axis(index_of(study, figure.x())));
  std::string blocks;
  std::string panels;
  Range range;
  for (const configs::Quantity& quantity : figure.quantity()) {
    const Range of_quantity = range_of(study, figure, records, quantity, estimators);
    range.most = std::max(range.most, of_quantity.most);
  }
  for (size_t e = 0; e < estimators.size(); ++e) {
    const std::string block = "$lines" + std::to_string(e);
    blocks += block + " << END\n" + lines_block(study, figure, records, estimators[e]) + "END\n";
    panels += "set title " + escape::gnuplot(estimators[e]) + " noenhanced\nplot ";
    for (size_t c = 0; c < names.size(); ++c) {
      panels += (c == 0 ? "" : ", ") + block + " using 0:" + std::to_string(c + 2) + ":xtic(1) with " +
                (connected ? "linespoints lw 2" : "points pt 7 ps 1.2") + " title " + escape::gnuplot(names[c]);
    }
    panels += "\nunset ylabel\n";
  }
  const std::string& unit = figure.quantity(0).label();
  const std::string most = range.most > 0 ? fixed(1.05 * range.most, 4) : "*";
  return plot_head(figure, estimators.size()) + blocks + "set xlabel " + escape::gnuplot(label_of(study, figure.x())) +
         "\nset ylabel " + escape::gnuplot(figure.has_series() ? unit : "") +
         "\nset key top left\nset grid\nset yrange [0:" + most + "]\n" + panels;
}

}  // namespace

std::string figure_csv(const configs::Study& study, const configs::Figure& figure, const PointRecords& records) {
  if (figure.kind() == configs::ROOFLINE) return roofs_csv(study, figure, records);
  std::vector<std::string> columns;
  for (const configs::Axis& axis : study.axis()) columns.push_back(axis.name());
  columns.emplace_back("estimator");
  for (const configs::Quantity& quantity : figure.quantity()) columns.push_back(quantity.label());
  Table table(columns);
  for (const std::string& estimator : estimators_of(study, figure, records)) {
    for (const Point& point : points_of(study, figure)) {
      std::vector<Cell> row(point.begin(), point.end());
      row.emplace_back(estimator);
      for (const configs::Quantity& quantity : figure.quantity()) {
        const std::optional<double> value = value_of(quantity, records.at(point), estimator);
        row.push_back(value ? Cell(*value, 4) : Cell(""));
      }
      table.add(std::move(row));
    }
  }
  return table.csv();
}

std::string figure_plot(const configs::Study& study, const configs::Figure& figure, const PointRecords& records) {
  if (figure.kind() == configs::ROOFLINE) return roofs_plot(study, figure, records);
  const std::vector<std::string> estimators = estimators_of(study, figure, records);
  return figure.kind() == configs::MAP ? map_plot(study, figure, records, estimators)
                                       : lines_plot(study, figure, records, estimators);
}

}  // namespace warpfold::cli
