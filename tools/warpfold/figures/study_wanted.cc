#include "tools/warpfold/figures/study_wanted.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tools/warpfold/figures/study_runs.h"

namespace warpfold::cli {

namespace {

using Places = std::vector<int>;  // indices of a point's values on their axes

int index_of(const configs::Study& study, const std::string& axis) {
  int index = 0;
  while (study.axis(index).name() != axis) ++index;
  return index;
}

Point point_at(const configs::Study& study, const Places& places) {
  Point point;
  for (int a = 0; a < study.axis_size(); ++a) point.push_back(study.axis(a).value(places[static_cast<size_t>(a)]));
  return point;
}

// A random generator whose sequence is the same for a seed on every machine (Steele, Lea and Flood, "Fast Splittable Pseudorandom
// Number Generators", OOPSLA 2014).
class SplitMix {
 public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }

 private:
  uint64_t state_;
};

// Returns a random sample of the grid, in the grid's order.
std::vector<Point> random_points(const configs::Sample& sample, const std::vector<Point>& grid) {
  std::vector<size_t> order(grid.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const size_t count = std::min<size_t>(sample.random(), grid.size());
  SplitMix numbers(sample.seed());
  for (size_t i = 0; i < count; ++i) std::swap(order[i], order[i + numbers.next() % (order.size() - i)]);
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<Point> points;
  for (size_t i = 0; i < count; ++i) points.push_back(grid[order[i]]);
  return points;
}

// Refines the grid where the fastest policy changes. Points whose indices are multiples of a stride, or last on their axes, are the
// corners of cells. If the corners of a cell have several fastest policies, the cell is cut at half the stride, down to stride 1.
class Refinement {
 public:
  Refinement(const configs::Study& study, const PointRecords& records) : study_(study), records_(records) {}

  std::vector<Point> points() {
    int longest = 1;
    for (const configs::Axis& axis : study_.axis()) longest = std::max(longest, axis.value_size());
    int stride = 1;
    while (8 * stride < longest) stride *= 2;
    visit(stride, [](const Places&) { return true; });
    for (; stride > 1 && complete_; stride /= 2)
      visit(stride / 2, [&](const Places& places) { return winner_changes(places, stride); });
    return wanted_;
  }

 private:
  template <typename Wanted>
  void visit(int stride, Wanted wanted) {
    std::vector<Point> more;
    Places places(static_cast<size_t>(study_.axis_size()), 0);
    visit_axis(0, stride, places, [&] {
      Point point = point_at(study_, places);
      if (!seen_.contains(point) && stands(study_, point) && wanted(places)) more.push_back(std::move(point));
    });
    for (Point& point : more) {
      complete_ = complete_ && records_.contains(point);
      seen_.insert(point);
      wanted_.push_back(std::move(point));
    }
  }

  template <typename Visit>
  void visit_axis(int axis, int stride, Places& places, const Visit& visit) {
    if (axis == study_.axis_size()) return visit();
    const int last = study_.axis(axis).value_size() - 1;
    int& place = places[static_cast<size_t>(axis)];
    for (place = 0; place < last; place += stride) visit_axis(axis + 1, stride, places, visit);
    place = last;
    visit_axis(axis + 1, stride, places, visit);
  }

  // True if the known corners of the cells of this stride around the point have several fastest policies.
  bool winner_changes(const Places& places, int stride) const {
    std::vector<Places> corners{places};
    for (size_t a = 0; a < places.size(); ++a) {
      const int last = study_.axis(static_cast<int>(a)).value_size() - 1;
      if (places[a] % stride == 0 || places[a] == last) continue;
      std::vector<Places> split;
      for (const Places& corner : corners) {
        for (const int place : {places[a] / stride * stride, std::min((places[a] / stride + 1) * stride, last)}) {
          split.push_back(corner);
          split.back()[a] = place;
        }
      }
      corners = std::move(split);
    }
    std::set<std::string> winners;
    for (const Places& corner : corners) {
      const auto record = records_.find(point_at(study_, corner));
      if (record != records_.end() && !record->second.has_failure()) winners.insert(fastest_policy(record->second));
    }
    return winners.size() > 1;
  }

  const configs::Study& study_;
  const PointRecords& records_;
  std::set<Point> seen_;
  std::vector<Point> wanted_;
  bool complete_ = true;
};

void add_new(std::vector<Point> more, std::vector<Point>& points, std::set<Point>& seen) {
  for (Point& point : more) {
    if (seen.insert(point).second) points.push_back(std::move(point));
  }
}

// Groups the grid into lines of points that differ in one axis only, in the order of that axis.
std::vector<std::vector<Point>> lines_along(const configs::Study& study, int axis) {
  std::map<Point, size_t> line_of;
  std::vector<std::vector<Point>> lines;
  for (const Point& point : grid_of(study)) {
    Point others = point;
    others[static_cast<size_t>(axis)].clear();
    const auto [line, is_new] = line_of.try_emplace(std::move(others), lines.size());
    if (is_new) lines.emplace_back();
    lines[line->second].push_back(point);
  }
  return lines;
}

}  // namespace

bool adapts(const configs::Study& study) {
  return !study.least().empty() || (study.has_sample() && study.sample().where_the_fastest_policy_changes());
}

Expected<std::vector<LeastValue>> least_values(const configs::Study& study, const configs::Least& least,
                                               const PointRecords& records, std::vector<Point>& next) {
  std::vector<LeastValue> values;
  for (const std::vector<Point>& line : lines_along(study, index_of(study, least.axis()))) {
    // Invariant: the condition does not hold at any index below `low`, and holds at `high`. At first `high` is past the line's end.
    size_t low = 0;
    size_t high = line.size();
    bool known = true;
    while (low < high) {
      const size_t middle = high == line.size() ? line.size() - 1 : low + (high - low) / 2;
      const auto record = records.find(line[middle]);
      known = record != records.end();
      if (!known) {
        next.push_back(line[middle]);
        break;
      }
      const auto held = holds_at(study, least.such_that(), line[middle], record->second);
      if (!held) return std::unexpected(held.error());
      if (*held) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    const bool found = known && high < line.size();
    values.push_back({line[found ? high : line.size() - 1], known, found});
  }
  return values;
}

Expected<std::vector<Point>> wanted_points(const configs::Study& study, const PointRecords& records) {
  std::vector<Point> points;
  std::set<Point> seen;
  for (const configs::Figure& figure : study.figure()) add_new(points_of(study, figure), points, seen);
  for (const configs::Least& least : study.least()) {
    std::vector<Point> next;
    const auto values = least_values(study, least, records, next);
    if (!values) return std::unexpected(values.error());
    for (const auto& [point, record] : records) add_new({point}, points, seen);
    add_new(std::move(next), points, seen);
  }
  if (study.has_sample() && study.sample().has_random()) {
    add_new(random_points(study.sample(), grid_of(study)), points, seen);
  } else if (study.has_sample() && study.sample().where_the_fastest_policy_changes()) {
    add_new(Refinement(study, records).points(), points, seen);
  } else if (study.figure().empty() && study.least().empty()) {
    add_new(grid_of(study), points, seen);
  }
  return points;
}

}  // namespace warpfold::cli
