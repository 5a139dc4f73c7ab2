#pragma once

#include <string>
#include <vector>

#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/slurm.h"
#include "tools/warpfold/run/study_scenarios.h"

namespace warpfold::cli {

// How a study is put on a cluster.
struct StudyArray {
  std::string program;                 // path, the same on every node
  std::vector<std::string> arguments;  // of warpfold, that a task has as well
  SlurmArray array;                    // without script and logs
  bool wait = false;
};

// Submits the missing points as a job array and returns lines that say so; no job is submitted for a complete study. With `wait`
// returns when all points are there, and submits again what an ended job has left while jobs get on. Where records decide which
// points are wanted, each round of points is an array; without `wait` only the next round is submitted.
Outcome<std::string> submit_study(const StudyRequest& request, StudyArray how);

// A line: which job was submitted last, and whether it is still queued; empty where none was.
std::string last_job(const StudyRequest& request);

}  // namespace warpfold::cli
