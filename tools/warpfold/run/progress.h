#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace warpfold::cli {

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

// How far the outermost bar is.
struct Progress {
  std::string what;
  size_t done = 0;
  size_t steps = 0;
  bool operator==(const Progress&) const = default;
};
// None while no command counts its steps.
std::optional<Progress> current_progress();

// "1 h 5 min", "2 min 10 s", "7 s".
std::string duration_text(std::chrono::seconds duration);

// One line on stderr, redrawn every second and gone at the end:
//
//   dropout_overlap [##########              ] 21/84, 1 min 5 s left
//
// The time left is estimated from the steps taken so far; steps that were there from the beginning say nothing of it. Lines of a
// log stand above. Silent in a pipe, and inside another bar: a study shows its points, not the simulations of each. Steps may come
// from several threads.
class ProgressBar {
 public:
  ProgressBar(std::string what, size_t steps);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void step();
  void set(size_t done);  // the first time: those that were there from the beginning
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
