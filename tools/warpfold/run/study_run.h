#pragma once

#include <string>

#include "tools/warpfold/failure.h"
#include "tools/warpfold/figures/study_figures.h"
#include "tools/warpfold/run/study_subject.h"

namespace warpfold::cli {

// Every point of the study: those that are there from an earlier run are not simulated again, those that another process simulates
// in the same folder are waited for. A mistake in one of them is found before the first one runs.
Outcome<PointRecords> run_study(const StudyRequest& request);

// Checks the points of the study's next round and writes down which they are, for work_on_study in other processes. A study has one
// round, unless records decide which points are wanted. Returns the plan's name; empty where every point is there.
Outcome<std::string> plan_study(const StudyRequest& request);

// Simulates points of a plan until each is there or claimed by another process.
Outcome<void> work_on_study(const StudyRequest& request, const std::string& plan);

// The points of a study that is complete; none is simulated. Fails with their number where some are missing.
Outcome<PointRecords> collect_study(const StudyRequest& request);

// How many points of a study are there.
struct StudyState {
  size_t done = 0;
  size_t points = 0;
};
Outcome<StudyState> state_of_study(const StudyRequest& request, const std::string& plan);

}  // namespace warpfold::cli
