#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// A job array to submit. All tasks run the same script.
struct SlurmArray {
  std::string name{};
  std::string script{};  // path
  std::string logs{};    // folder of the files JOB_TASK.log
  unsigned tasks = 1;
  unsigned cpus = 1;                // per task
  std::string partition{};          // empty: Slurm's default
  std::string time{};               // limit in sbatch's syntax; empty: the partition's
  std::vector<std::string> more{};  // further options of sbatch, passed on unchanged
};

// Returns the shell command that submits the array. The script's folder need not exist.
std::string sbatch_line(const SlurmArray& array);

// Runs sbatch. Returns the job's number.
Outcome<std::string> submit(const SlurmArray& array);

enum class JobState {
  kQueued,   // the job, or at least one of its tasks, waits or runs
  kEnded,    // or the controller has forgotten it
  kUnknown,  // no controller answers
};
JobState state_of_job(const std::string& job);

// The result of a Slurm command.
struct SlurmAnswer {
  int exit_code = 0;  // 127: no such command
  std::string text;   // of both outputs, without trailing newlines
};

// Returns the job from the output of sbatch --parsable: "JOB" or "JOB;CLUSTER" in the last line, after any warnings.
Outcome<std::string> job_of(const SlurmAnswer& sbatch);
// Returns the state from the output of squeue for one job, which has a line for each task.
JobState state_of(const SlurmAnswer& squeue);
// Returns the job that a study's folder records; empty if `file` does not begin with a job number.
std::string noted_job(std::string_view file);

}  // namespace warpfold::cli
