#pragma once

#include <string>
#include <vector>

#include "configs/places.h"
#include "configs/study.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/figures/study_figures.h"
#include "tools/warpfold/run/run_options.h"

namespace warpfold::cli {

// A study, and how it is run.
struct StudyRequest {
  configs::Study study;
  configs::Places places;             // of the study
  std::vector<std::string> settings;  // of its scenario, at every point
  std::string folder;                 // of what it writes; finished points stay in points/
  std::string command_line;
  RunOptions how;
};

// Every point of the study: those that are there from an earlier run are not simulated again. A mistake in one of them is found
// before the first one runs.
Outcome<PointRecords> run_study(const StudyRequest& request);

}  // namespace warpfold::cli
