#pragma once

#include <functional>
#include <vector>

namespace warpfold::cli {

// A piece of work on a stream. Streams run side by side; the jobs of a stream run in the order of the list.
struct Job {
  int stream = 0;            // 0: kernels; from 1 on: transfers, with a link for each stream
  double us = 0;             // without contention
  std::vector<int> after{};  // jobs that must have ended, all earlier in the list
  int id = 0;                // free for the caller
};

// The times of one job in a run of jobs, in us.
struct JobTimes {
  double start = 0;
  double end = 0;
  double exposed_us = 0;      // of a transfer: time in which kernels wait for it, or have ended
  double slowed_us = 0;       // of a transfer: time that kernels beside it lose to it
  std::vector<int> beside{};  // of a transfer: jobs of kernels that ran beside it
};

// Returns the factor by which a kernel takes longer beside a transfer, by their ids; at least 1.
using Slowdown = std::function<double(int kernel, int transfer)>;

// Runs jobs at the rates that `slowdown` gives. The total time is the sum of the kernels' times, their slowdown by transfers and
// the exposed time of transfers.
std::vector<JobTimes> run_streams(const std::vector<Job>& jobs, const Slowdown& slowdown);

}  // namespace warpfold::cli
