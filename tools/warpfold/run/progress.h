#pragma once

#include <cstddef>
#include <mutex>
#include <string>

namespace warpfold::cli {

// Writes the step that begins to stderr where that is a terminal; silent in a pipe.
void report_progress(const std::string& what);

// What is known so far of a step, as one line on stderr that is redrawn and gone at the end; silent in a pipe.
class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void draw(const std::string& state) const;

 private:
  std::string what_;
  bool shown_;
};

// Steps done out of all, as one line on stderr that is redrawn; silent in a pipe. Steps may come from several threads.
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
