#pragma once

#include <string>
#include <string_view>
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

// What a command of Slurm leaves behind.
struct SlurmAnswer {
  int exit_code = 0;  // 127: no such command
  std::string text;   // of both outputs, without the last ends of lines
};

// Of sbatch --parsable: "JOB" or "JOB;CLUSTER" in the last line; warnings may stand above.
Outcome<std::string> job_of(const SlurmAnswer& sbatch);
// Of squeue for one job: a state a line, of each task.
JobState state_of(const SlurmAnswer& squeue);
// The job that a study's folder notes; empty where `file` begins with no job number.
std::string noted_job(std::string_view file);

}  // namespace warpfold::cli
