#include "tools/warpfold/study_points.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "configs/read_file.h"
#include "tools/warpfold/json.h"
#include "tools/warpfold/kernels.h"
#include "tools/warpfold/output.h"

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

// Axes may be field paths with indices and values may be anything; the hash keeps apart what then looks the same.
std::string PointStore::path(const Point& point) const {
  const std::string whole = point_name(*study_, point);
  constexpr size_t kReadable = 120;
  std::string name = whole.substr(0, kReadable);
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '=' && c != ',' && c != '.' && c != '-'; }, '_');
  return (std::filesystem::path(folder_) / (name + "-" + content_hash(whole).substr(0, 8) + ".json")).string();
}

std::optional<configs::StudyPoint> PointStore::find(const Point& point, const std::string& key) const {
  const auto text = read_file(path(point));
  configs::StudyPoint record;
  if (!text || !google::protobuf::util::JsonStringToMessage(*text, &record).ok() || record.key() != key) return std::nullopt;
  return record;
}

Outcome<void> PointStore::save(const Point& point, const configs::StudyPoint& record) const {
  return write_output(path(point), to_json(record));
}

}  // namespace warpfold::cli
