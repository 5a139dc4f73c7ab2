#pragma once

#include <string>
#include <vector>

#include "configs/study.pb.h"

namespace warpfold::cli {

// One value of each axis of a study, in the order of its axes.
using Point = std::vector<std::string>;

// Every point of a study's grid at which all of its conditions (`where`) hold; the last axis runs fastest.
std::vector<Point> grid_of(const configs::Study& study);
bool stands(const configs::Study& study, const Point& point);  // the conditions hold there
// All points of one figure's grid: x runs fastest, then y or series. Without those at which a condition does not hold: points_of.
std::vector<Point> grid_of(const configs::Study& study, const configs::Figure& figure);
std::vector<Point> points_of(const configs::Study& study, const configs::Figure& figure);

// What a point sets in the scenario: for each axis its value and those of what varies along with it. `path`: where it is in the
// study.
struct Placed {
  std::string name;
  std::string value;
  std::string path;
};
std::vector<Placed> placed_values(const configs::Study& study, const Point& point);

// "seq=8192,rounds=7"
std::string point_name(const configs::Study& study, const Point& point);

}  // namespace warpfold::cli
