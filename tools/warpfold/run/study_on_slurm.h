#pragma once

#include <string>
#include <vector>

#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/slurm.h"
#include "tools/warpfold/run/study_scenarios.h"

namespace warpfold::cli {

// The settings for running a study on a cluster.
struct StudyArray {
  std::string program;                 // path, the same on every node
  std::vector<std::string> arguments;  // arguments of warpfold that each task gets too
  SlurmArray array;                    // without script and logs
  bool wait = false;
};

// Submits the missing points as a job array and returns lines about it. A complete study submits no job. With `wait`, returns when
// all points are recorded. If a job ends early, the remaining points are submitted again, as long as jobs make progress. If records
// decide which points are wanted, each round of points is an array; without `wait` only the next round is submitted.
Outcome<std::string> submit_study(const StudyRequest& request, StudyArray how);

// Returns a line about the job that was submitted last, and whether it is still queued; empty if there was none.
std::string last_job(const StudyRequest& request);

}  // namespace warpfold::cli
