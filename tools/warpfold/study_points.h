#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/study.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/record_store.h"

namespace warpfold::cli {

// One value of each axis of a study, in the order of its axes.
using Point = std::vector<std::string>;

// The points that a study's figures show, each once, in order of first use.
std::vector<Point> points_of(const configs::Study& study);
// The points of one figure: x runs fastest, then y or series.
std::vector<Point> points_of(const configs::Study& study, const configs::Figure& figure);

// "seq=8192,rounds=7"
std::string point_name(const configs::Study& study, const Point& point);

// The finished points of a study.
class PointStore {
 public:
  PointStore(const configs::Study& study, std::string folder) : study_(&study), records_(std::move(folder)) {}

  // None: there is no record of the point, or not of this key.
  std::optional<configs::StudyPoint> find(const Point& point, const std::string& key) const;
  Outcome<void> open() const { return records_.open(); }
  Outcome<void> save(const Point& point, const configs::StudyPoint& record) const;

 private:
  const configs::Study* study_;
  RecordStore records_;
};

}  // namespace warpfold::cli
