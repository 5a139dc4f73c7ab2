#include "tools/warpfold/figures/study_points.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "configs/expression.h"
#include "configs/study_words.h"

namespace warpfold::cli {

namespace {

int axis_index(const configs::Study& study, const std::string& name) {
  int index = 0;
  while (study.axis(index).name() != name) ++index;
  return index;
}

}  // namespace

std::vector<Point> grid_of(const configs::Study& study) {
  std::vector<Point> points{{}};
  for (const configs::Axis& axis : study.axis()) {
    std::vector<Point> more;
    more.reserve(points.size() * static_cast<size_t>(axis.value_size()));
    for (const Point& point : points) {
      for (const std::string& value : axis.value()) {
        more.push_back(point);
        more.back().push_back(value);
      }
    }
    points = std::move(more);
  }
  std::erase_if(points, [&](const Point& point) { return !stands(study, point); });
  return points;
}

// Evaluation cannot fail here: every condition was evaluated at every point when the study was read.
bool stands(const configs::Study& study, const Point& point) {
  if (study.where().empty()) return true;
  const std::vector<Placed> placed = placed_values(study, point);
  const auto find = [&](std::string_view name) -> std::optional<configs::Word> {
    const auto found = std::ranges::find(placed, name, &Placed::name);
    return found == placed.end() ? std::nullopt : std::optional(configs::word_of(found->value));
  };
  return std::ranges::all_of(
      study.where(), [&](const std::string& condition) { return configs::holds(condition, {.find = find, .known = {}}).value(); });
}

std::vector<Point> points_of(const configs::Study& study, const configs::Figure& figure) {
  std::vector<Point> points = grid_of(study, figure);
  std::erase_if(points, [&](const Point& point) { return !stands(study, point); });
  return points;
}

std::vector<Point> grid_of(const configs::Study& study, const configs::Figure& figure) {
  Point at(static_cast<size_t>(study.axis_size()));
  for (const configs::FixedAxis& fixed : figure.fixed()) at[static_cast<size_t>(axis_index(study, fixed.axis()))] = fixed.value();
  std::vector<Point> points{at};
  for (const std::string* name : {&figure.y(), &figure.series(), &figure.x()}) {
    if (name->empty()) continue;
    const int index = axis_index(study, *name);
    std::vector<Point> more;
    for (const Point& point : points) {
      for (const std::string& value : study.axis(index).value()) {
        more.push_back(point);
        more.back()[static_cast<size_t>(index)] = value;
      }
    }
    points = std::move(more);
  }
  return points;
}

std::vector<Placed> placed_values(const configs::Study& study, const Point& point) {
  std::vector<Placed> placed;
  for (int a = 0; a < study.axis_size(); ++a) {
    const configs::Axis& axis = study.axis(a);
    const std::string& value = point[static_cast<size_t>(a)];
    const auto nth = static_cast<int>(std::ranges::find(axis.value(), value) - axis.value().begin());
    const std::string path = "axis[" + std::to_string(a) + "]";
    const int written = nth < axis.written_size() ? static_cast<int>(axis.written(nth)) : nth;
    placed.push_back({axis.name(), value, path + ".value[" + std::to_string(written) + "]"});
    for (int w = 0; w < axis.along_size(); ++w) {
      const configs::Along& along = axis.along(w);
      placed.push_back({along.name(), along.value(nth), path + ".along[" + std::to_string(w) + "]"});
    }
  }
  return placed;
}

std::string point_name(const configs::Study& study, const Point& point) {
  std::string name;
  for (size_t a = 0; a < point.size(); ++a) name += (a == 0 ? "" : ",") + study.axis(static_cast<int>(a)).name() + "=" + point[a];
  return name;
}

}  // namespace warpfold::cli
