#pragma once

#include <cstddef>
#include <mutex>
#include <string>

namespace warpfold::cli {

// Says on stderr what is being done, where somebody looks at a terminal; silent in a pipe.
void report_progress(const std::string& what);

// How many of a number of steps are done, as one line on stderr that is drawn over; silent in a pipe. Steps may come from several
// threads.
class ProgressBar {
 public:
  ProgressBar(std::string what, size_t steps);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void step();

 private:
  void draw() const;

  std::string what_;
  size_t steps_;
  size_t done_ = 0;
  bool shown_;
  std::mutex mutex_;
};

}  // namespace warpfold::cli
