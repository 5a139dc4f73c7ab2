#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/study.pb.h"
#include "tools/warpfold/figures/study_figures.h"

namespace warpfold::cli {

// The points that a study needs, as far as the records so far tell: all of them where no record decides what comes next. Once each
// of them has a record, the study is complete. Between neighbours whose fastest policies differ, and in a bisection, the next
// points follow from the records of those before: the same ones in every process, in whatever order points are simulated.
Expected<std::vector<Point>> wanted_points(const configs::Study& study, const PointRecords& records);

// Whether records decide which points are wanted.
bool adapts(const configs::Study& study);

// The answer of a search at one combination of the other axes.
struct LeastValue {
  Point point;         // with the value found, or the last one that was tried
  bool known = false;  // its records are all there
  bool found = false;  // false: the condition does not hold at the axis's last value either
};
// `next` gets the point whose record is missing where the answer is not known.
Expected<std::vector<LeastValue>> least_values(const configs::Study& study, const configs::Least& least,
                                               const PointRecords& records, std::vector<Point>& next);

}  // namespace warpfold::cli
