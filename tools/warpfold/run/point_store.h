#pragma once

#include <optional>
#include <string>
#include <utility>

#include "configs/study.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/figures/study_points.h"
#include "tools/warpfold/run/record_store.h"

namespace warpfold::cli {

// The finished points of a study.
class PointStore {
 public:
  PointStore(const configs::Study& study, std::string folder) : study_(&study), records_(std::move(folder)) {}

  // None where the point has no record under this key.
  std::optional<configs::StudyPoint> find(const Point& point, const std::string& key) const;
  Outcome<void> open() const { return records_.open(); }
  Outcome<void> save(const Point& point, const configs::StudyPoint& record) const;

 private:
  const configs::Study* study_;
  RecordStore records_;
};

}  // namespace warpfold::cli
