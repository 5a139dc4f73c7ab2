#pragma once

#include <string>
#include <vector>

#include "configs/study.pb.h"

namespace warpfold::cli {

// One value of each axis of a study, in the order of its axes.
using Point = std::vector<std::string>;

// Returns every point of a study's grid at which all of its conditions (`where`) hold; the last axis varies fastest.
std::vector<Point> grid_of(const configs::Study& study);
bool stands(const configs::Study& study, const Point& point);  // true if the conditions hold at the point
// `grid_of` a figure returns all points of the figure's grid: x varies fastest, then y or series. `points_of` leaves out points at
// which a condition does not hold.
std::vector<Point> grid_of(const configs::Study& study, const configs::Figure& figure);
std::vector<Point> points_of(const configs::Study& study, const configs::Figure& figure);

// A setting of the scenario at a point: an axis's value, or a value that varies along with the axis. `path` is its place in the
// study.
struct Placed {
  std::string name;
  std::string value;
  std::string path;
};
std::vector<Placed> placed_values(const configs::Study& study, const Point& point);

// Returns a point as text: "seq=8192,rounds=7".
std::string point_name(const configs::Study& study, const Point& point);

}  // namespace warpfold::cli
