#include "tools/warpfold/run/progress.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <utility>

#include "configs/escape/visible.h"
#include "tools/warpfold/run/log.h"

namespace warpfold::cli {

namespace {

constexpr const char* kClearLine = "\r\x1b[K";

// A log has lines of its own there.
bool on_terminal() { return isatty(STDERR_FILENO) != 0 && !logs(LogLevel::kInfo); }

// The outermost bar, with the lock that keeps its line apart from other output.
struct Terminal {
  std::mutex mutex;
  const ProgressBar* bar = nullptr;

  void draw() const {
    if (bar != nullptr && on_terminal()) std::cerr << kClearLine << bar->text() << std::flush;
  }
};

Terminal& terminal() {
  static Terminal one;
  return one;
}

}  // namespace

std::optional<Progress> current_progress() {
  const std::lock_guard lock(terminal().mutex);
  if (terminal().bar == nullptr) return std::nullopt;
  return terminal().bar->progress();
}

ProgressLine::ProgressLine(std::string what) : what_(std::move(what)), shown_(on_terminal()) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::cerr << kClearLine << std::flush;
}

void ProgressLine::draw(const std::string& state) const {
  if (shown_) std::cerr << '\r' << escape::visible(what_) << ": " << escape::visible(state) << "\x1b[K" << std::flush;
}

std::string duration_text(std::chrono::seconds duration) {
  constexpr int kMinute = 60;
  constexpr int kHour = 60 * kMinute;
  const auto seconds = duration.count();
  if (seconds >= kHour) return std::to_string(seconds / kHour) + " h " + std::to_string(seconds % kHour / kMinute) + " min";
  if (seconds >= kMinute) return std::to_string(seconds / kMinute) + " min " + std::to_string(seconds % kMinute) + " s";
  return std::to_string(seconds) + " s";
}

struct ProgressBar::State {
  std::string what;
  size_t steps;
  std::atomic<size_t> done{0};
  std::atomic<size_t> from_the_beginning{0};
  std::atomic<bool> begun = false;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  bool outermost = false;
};

ProgressBar::ProgressBar(std::string what, size_t steps) : state_(new State{.what = std::move(what), .steps = steps}) {
  {
    const std::lock_guard lock(terminal().mutex);
    if (terminal().bar != nullptr) return;
    terminal().bar = this;
    state_->outermost = true;
    terminal().draw();
  }
  if (!on_terminal()) return;
  ticker_ = std::jthread([](const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any wake;
    while (!wake.wait_for(lock, stop, std::chrono::seconds(1), [&] { return stop.stop_requested(); })) {
      const std::lock_guard drawing(terminal().mutex);
      terminal().draw();
    }
  });
}

ProgressBar::~ProgressBar() {
  if (!state_->outermost) return;
  if (ticker_.joinable()) {
    ticker_.request_stop();
    ticker_.join();
  }
  const std::lock_guard lock(terminal().mutex);
  terminal().bar = nullptr;
  if (on_terminal()) std::cerr << kClearLine << std::flush;
}

void ProgressBar::step() {
  state_->begun = true;
  ++state_->done;
  draw();
}

void ProgressBar::set(size_t done) {
  if (!state_->begun.exchange(true)) state_->from_the_beginning = done;
  state_->done = done;
  draw();
}

void ProgressBar::log(const std::string& line) const {
  if (!state_->outermost || !on_terminal()) return;
  const std::lock_guard lock(terminal().mutex);
  std::cerr << kClearLine << escape::visible(line) << '\n';
  terminal().draw();
}

void ProgressBar::draw() const {
  if (!state_->outermost) return;
  const std::lock_guard lock(terminal().mutex);
  terminal().draw();
}

Progress ProgressBar::progress() const { return {state_->what, std::min(state_->done.load(), state_->steps), state_->steps}; }

std::string ProgressBar::text() const {
  constexpr size_t kWidth = 30;
  constexpr size_t kMostOfName = 60;
  const State& state = *state_;
  const size_t done = std::min(state.done.load(), state.steps);
  const size_t full = state.steps == 0 ? kWidth : kWidth * done / state.steps;
  std::string text = escape::visible(state.what, kMostOfName) + " [" + std::string(full, '#') + std::string(kWidth - full, ' ') +
                     "] " + std::to_string(done) + "/" + std::to_string(state.steps);
  const size_t made = done - std::min(done, state.from_the_beginning.load());
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - state.start).count();
  if (made == 0 || done == state.steps) return text + ", " + duration_text(std::chrono::seconds(static_cast<int64_t>(elapsed)));
  const double left = elapsed / static_cast<double>(made) * static_cast<double>(state.steps - done);
  return text + ", " + duration_text(std::chrono::seconds(static_cast<int64_t>(left + 1))) + " left";
}

}  // namespace warpfold::cli
