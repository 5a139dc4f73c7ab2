#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace warpfold::cli {

// The state of a step as one line on stderr, which is redrawn and removed at the end. Silent in a pipe.
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

// The progress of the outermost bar.
struct Progress {
  std::string what;
  size_t done = 0;
  size_t steps = 0;
  bool operator==(const Progress&) const = default;
};
// Returns none while no command counts its steps.
std::optional<Progress> current_progress();

// Returns "1 h 5 min", "2 min 10 s", "7 s".
std::string duration_text(std::chrono::seconds duration);

// A progress bar: one line on stderr, redrawn every second and removed at the end:
//
//   dropout_overlap [##########              ] 21/84, 1 min 5 s left
//
// The time left is estimated from the steps so far, without steps that were done from the beginning. Lines of a log appear above
// the bar. Silent in a pipe, and inside another bar: a study shows its points, not the simulations of each point. Any thread may
// call step().
class ProgressBar {
 public:
  ProgressBar(std::string what, size_t steps);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void step();
  void set(size_t done);  // the first call gives the steps that were done from the beginning
  void log(const std::string& line) const;
  std::string text() const;
  Progress progress() const;

 private:
  void draw() const;

  struct State;
  std::unique_ptr<State> state_;
  std::jthread ticker_;
};

}  // namespace warpfold::cli
