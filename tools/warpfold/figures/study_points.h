#pragma once

#include <string>
#include <vector>

#include "configs/study.pb.h"

namespace warpfold::cli {

// One value of each axis of a study, in the order of its axes.
using Point = std::vector<std::string>;

// The points that a study's figures show, each once, in order of first use.
std::vector<Point> points_of(const configs::Study& study);
// The points of one figure: x runs fastest, then y or series.
std::vector<Point> points_of(const configs::Study& study, const configs::Figure& figure);

// "seq=8192,rounds=7"
std::string point_name(const configs::Study& study, const Point& point);

}  // namespace warpfold::cli
