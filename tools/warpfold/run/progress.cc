#include "tools/warpfold/run/progress.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <iostream>
#include <utility>

namespace warpfold::cli {

void report_progress(const std::string& what) {
  if (isatty(STDERR_FILENO) == 0) return;
  static const auto logger = [] {
    auto made = spdlog::stderr_color_mt("progress");
    made->set_pattern("%^[%T]%$ %v");
    return made;
  }();
  logger->info("{}", what);
}

ProgressLine::ProgressLine(std::string what) : what_(std::move(what)), shown_(isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::cerr << "\r\x1b[K" << std::flush;
}

void ProgressLine::draw(const std::string& state) const {
  if (shown_) std::cerr << '\r' << what_ << ": " << state << "\x1b[K" << std::flush;
}

ProgressBar::ProgressBar(std::string what, size_t steps)
    : what_(std::move(what)), steps_(steps), shown_(isatty(STDERR_FILENO) != 0) {
  draw();
}

ProgressBar::~ProgressBar() {
  if (shown_) std::cerr << '\n';
}

void ProgressBar::step() {
  const std::lock_guard lock(mutex_);
  ++done_;
  draw();
}

void ProgressBar::draw() const {
  if (!shown_) return;
  constexpr size_t kWidth = 40;
  const size_t full = steps_ == 0 ? kWidth : kWidth * done_ / steps_;
  std::cerr << '\r' << what_ << " [" << std::string(full, '#') << std::string(kWidth - full, ' ') << "] " << done_ << '/' << steps_
            << std::flush;
}

}  // namespace warpfold::cli
