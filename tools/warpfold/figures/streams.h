#pragma once

#include <functional>
#include <vector>

namespace warpfold::cli {

// Work of a stream. Streams run side by side, the jobs of one in the order of the list.
struct Job {
  int stream = 0;            // 0: kernels; from 1 on: transfers, each over a link of its own
  double us = 0;             // undisturbed
  std::vector<int> after{};  // jobs that must have ended, all before it in the list
  int id = 0;                // a caller's
};

// What a run of jobs comes to, by job.
struct JobTimes {
  double start = 0;
  double end = 0;
  double exposed_us = 0;      // of a transfer: kernels wait for it, or have ended
  double slowed_us = 0;       // of a transfer: what kernels beside it lose by it
  std::vector<int> beside{};  // of a transfer: jobs of kernels
};

// How many times as long a kernel takes beside a transfer, by their ids; at least 1.
using Slowdown = std::function<double(int kernel, int transfer)>;

// Runs jobs by their rates. Kernels' times, what transfers slow them by and what transfers are exposed for sum up to the time of
// all.
std::vector<JobTimes> run_streams(const std::vector<Job>& jobs, const Slowdown& slowdown);

}  // namespace warpfold::cli
