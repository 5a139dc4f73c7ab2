#include "tools/warpfold/progress.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

namespace warpfold::cli {

void report_progress(const std::string& what) {
  if (isatty(STDERR_FILENO) == 0) return;
  auto logger = spdlog::get("progress");
  if (logger == nullptr) {
    logger = spdlog::stderr_color_st("progress");
    logger->set_pattern("%^[%T]%$ %v");
  }
  logger->info("{}", what);
}

}  // namespace warpfold::cli
