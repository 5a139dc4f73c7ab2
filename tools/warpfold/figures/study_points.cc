#include "tools/warpfold/figures/study_points.h"

#include <algorithm>

namespace warpfold::cli {

namespace {

int axis_index(const configs::Study& study, const std::string& name) {
  int index = 0;
  while (study.axis(index).name() != name) ++index;
  return index;
}

}  // namespace

std::vector<Point> points_of(const configs::Study& study, const configs::Figure& figure) {
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

std::vector<Point> points_of(const configs::Study& study) {
  std::vector<Point> points;
  for (const configs::Figure& figure : study.figure()) {
    for (Point& point : points_of(study, figure)) {
      if (std::ranges::find(points, point) == points.end()) points.push_back(std::move(point));
    }
  }
  return points;
}

std::string point_name(const configs::Study& study, const Point& point) {
  std::string name;
  for (size_t a = 0; a < point.size(); ++a) name += (a == 0 ? "" : ",") + study.axis(static_cast<int>(a)).name() + "=" + point[a];
  return name;
}

}  // namespace warpfold::cli
