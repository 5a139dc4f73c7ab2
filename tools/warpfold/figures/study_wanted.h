#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/study.pb.h"
#include "tools/warpfold/figures/study_figures.h"

namespace warpfold::cli {

// Returns the points that a study needs, as far as the records so far determine them. A study without adaptive questions needs all
// points from the start. Otherwise the next points follow from earlier records: between neighbours whose fastest policies differ,
// and in a bisection. The study is complete once each point has a record. The points do not depend on the process or on the order
// of simulation.
Expected<std::vector<Point>> wanted_points(const configs::Study& study, const PointRecords& records);

// Returns whether records decide which points are wanted.
bool adapts(const configs::Study& study);

// The answer of a search at one combination of values of the other axes.
struct LeastValue {
  Point point;         // the point that was found, or the last point that was tried
  bool known = false;  // all records that the answer needs exist
  bool found = false;  // false: the condition fails even at the axis's last value
};
// Returns the least values of one search. If an answer is not known yet, `next` gets the point whose record is missing.
Expected<std::vector<LeastValue>> least_values(const configs::Study& study, const configs::Least& least,
                                               const PointRecords& records, std::vector<Point>& next);

}  // namespace warpfold::cli
