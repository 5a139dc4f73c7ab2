#pragma once

#include <string>

#include "tools/warpfold/failure.h"
#include "tools/warpfold/figures/study_figures.h"
#include "tools/warpfold/run/study_subject.h"

namespace warpfold::cli {

// Returns every point of the study. All points are checked before the first simulation. With a folder, points recorded by an
// earlier run are not simulated again, and points that another process simulates there are waited for.
Outcome<PointRecords> run_study(const StudyRequest& request);

// Checks the points of the study's next round and writes them as a plan, for work_on_study in other processes. A study has one
// round unless records decide which points are wanted. Returns the plan's name; empty if every point is recorded.
Outcome<std::string> plan_study(const StudyRequest& request);

// Simulates points of a plan until each is recorded or claimed by another process.
Outcome<void> work_on_study(const StudyRequest& request, const std::string& plan);

// Returns the points of a complete study without simulating any. If points are missing, fails with their number.
Outcome<PointRecords> collect_study(const StudyRequest& request);

// The numbers of recorded points and of all points of a study.
struct StudyState {
  size_t done = 0;
  size_t points = 0;
};
Outcome<StudyState> state_of_study(const StudyRequest& request, const std::string& plan);

}  // namespace warpfold::cli
