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

// Of the points given, in their order; points without a record are passed over.
std::vector<PointRun> runs_of(const std::vector<Point>& points, const PointRecords& records);

// total_time_us, energy_j or stored_bits_mb of a run; none where the run has no such measure.
std::optional<double> run_measure(const configs::StudyRun& run, std::string_view measure);

// Whether a condition holds at a point with a record: its words are axes and measures (configs/study.proto, Least).
Expected<bool> holds_at(const configs::Study& study, const std::string& condition, const Point& point,
                        const configs::StudyPoint& record);

// The policy with the least simulated time.
std::string fastest_policy(const configs::StudyPoint& record);

}  // namespace warpfold::cli
