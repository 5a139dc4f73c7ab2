#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/expression.h"
#include "configs/study.pb.h"
#include "tools/warpfold/figures/study_figures.h"

namespace warpfold::cli {

// A point simulated under one policy.
struct PointRun {
  Point point;
  const configs::StudyRun* run = nullptr;
};

// Returns the runs of the points given, in their order. Points without a record are skipped.
std::vector<PointRun> runs_of(const std::vector<Point>& points, const PointRecords& records);

// Returns total_time_us, energy_j or stored_bits_mb of a run; none if the run lacks the measure.
std::optional<double> run_measure(const configs::StudyRun& run, std::string_view measure);

// Returns whether a condition holds at a point with a record. The words of a condition are axes and measures (configs/study.proto,
// Least).
Expected<bool> holds_at(const configs::Study& study, const std::string& condition, const Point& point,
                        const configs::StudyPoint& record);

// Returns the policy with the least simulated time.
std::string fastest_policy(const configs::StudyPoint& record);

}  // namespace warpfold::cli
