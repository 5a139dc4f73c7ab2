#include "tools/warpfold/progress.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

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

}  // namespace warpfold::cli
