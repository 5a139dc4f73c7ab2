#include "tools/warpfold/figures/streams.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>

namespace warpfold::cli {

namespace {

constexpr double kDone = 1e-9;  // a job ends when fewer us than this are left

class Machine {
 public:
  Machine(const std::vector<Job>& jobs, const Slowdown& slowdown) : jobs_(jobs), slowdown_(slowdown), times_(jobs.size()) {
    for (int j = 0; j < static_cast<int>(jobs.size()); ++j) {
      const auto stream = static_cast<size_t>(jobs[static_cast<size_t>(j)].stream);
      if (queues_.size() <= stream) queues_.resize(stream + 1);
      queues_[stream].push_back(j);
      left_.push_back(jobs[static_cast<size_t>(j)].us);
    }
    if (queues_.empty()) queues_.resize(1);
    heads_.resize(queues_.size(), 0);
    ended_.resize(jobs.size(), false);
  }

  std::vector<JobTimes> run() {
    while (start_ready()) step();
    return std::move(times_);
  }

 private:
  const Job& job(int id) const { return jobs_[static_cast<size_t>(id)]; }
  JobTimes& times(int id) { return times_[static_cast<size_t>(id)]; }

  int head_of(size_t stream) const { return heads_[stream] < queues_[stream].size() ? queues_[stream][heads_[stream]] : -1; }
  bool is_ready(int id) const {
    return std::ranges::all_of(job(id).after, [&](int other) { return ended_[static_cast<size_t>(other)]; });
  }

  // Starts the jobs that can run now. Returns false if all jobs have ended.
  bool start_ready() {
    kernel_ = -1;
    transfers_.clear();
    bool waiting = false;
    for (size_t stream = 0; stream < queues_.size(); ++stream) {
      const int head = head_of(stream);
      if (head < 0) continue;
      waiting = true;
      if (!is_ready(head)) continue;
      if (left_[static_cast<size_t>(head)] == job(head).us) times(head).start = now_;
      if (stream == 0) {
        kernel_ = head;
      } else {
        transfers_.push_back(head);
      }
    }
    if (waiting && kernel_ < 0 && transfers_.empty()) throw std::logic_error("streams wait for each other");
    return waiting;
  }

  double rate_of_kernel() const {
    double slowest = 1;
    for (const int transfer : transfers_) slowest = std::max(slowest, slowdown_(job(kernel_).id, job(transfer).id));
    return 1 / slowest;
  }

  // Returns the transfer that kernels wait for; if several run, the transfer that the next kernel needs.
  int waited_for() const {
    const int head = head_of(0);
    for (const int transfer : transfers_) {
      if (head >= 0 && std::ranges::find(job(head).after, transfer) != job(head).after.end()) return transfer;
    }
    return transfers_.front();
  }

  void step() {
    const double rate = kernel_ < 0 ? 0 : rate_of_kernel();
    double length = std::numeric_limits<double>::infinity();
    if (kernel_ >= 0) length = left_[static_cast<size_t>(kernel_)] / rate;
    for (const int transfer : transfers_) length = std::min(length, left_[static_cast<size_t>(transfer)]);
    now_ += length;
    if (kernel_ < 0) {
      times(waited_for()).exposed_us += length;
    } else {
      for (const int transfer : transfers_) {
        if (length > 0) note_beside(transfer);
      }
      if (rate < 1) times(slowest_beside()).slowed_us += length * (1 - rate);
      advance(kernel_, length * rate);
    }
    for (const int transfer : transfers_) advance(transfer, length);
  }

  void note_beside(int transfer) {
    std::vector<int>& beside = times(transfer).beside;
    if (beside.empty() || beside.back() != kernel_) beside.push_back(kernel_);
  }

  int slowest_beside() const {
    return *std::ranges::max_element(transfers_, {}, [&](int transfer) { return slowdown_(job(kernel_).id, job(transfer).id); });
  }

  void advance(int id, double us) {
    double& left = left_[static_cast<size_t>(id)];
    left -= us;
    if (left > kDone) return;
    times(id).end = now_;
    ended_[static_cast<size_t>(id)] = true;
    ++heads_[static_cast<size_t>(job(id).stream)];
  }

  const std::vector<Job>& jobs_;
  const Slowdown& slowdown_;
  std::vector<JobTimes> times_;
  std::vector<std::vector<int>> queues_;
  std::vector<size_t> heads_;
  std::vector<double> left_;
  std::vector<bool> ended_;
  double now_ = 0;
  int kernel_ = -1;
  std::vector<int> transfers_;
};

}  // namespace

std::vector<JobTimes> run_streams(const std::vector<Job>& jobs, const Slowdown& slowdown) { return Machine(jobs, slowdown).run(); }

}  // namespace warpfold::cli
