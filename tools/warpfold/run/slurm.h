#pragma once

#include <string>
#include <vector>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// A job array to be submitted. Each task runs the same script.
struct SlurmArray {
  std::string name{};
  std::string script{};  // path
  std::string logs{};    // folder: JOB_TASK.log
  unsigned tasks = 1;
  unsigned cpus = 1;                // a task
  std::string partition{};          // empty: Slurm's default
  std::string time{};               // limit, as sbatch has it; empty: the partition's
  std::vector<std::string> more{};  // options of sbatch, as they are
};

// As a shell would have it, without the script's folder being there.
std::string sbatch_line(const SlurmArray& array);

// Runs sbatch. Returns the job's number.
Outcome<std::string> submit(const SlurmArray& array);

enum class JobState {
  kQueued,   // waits or runs, or at least one of its tasks does
  kEnded,    // or the controller has forgotten it
  kUnknown,  // no controller answers
};
JobState state_of_job(const std::string& job);

}  // namespace warpfold::cli
