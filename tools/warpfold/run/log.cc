#include "tools/warpfold/run/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>

#include "configs/escape/quoted.h"
#include "configs/escape/visible.h"
#include "configs/near_miss.h"
#include "configs/read_file.h"
#include "tools/report/number_text.h"
#include "tools/warpfold/run/take_option.h"

namespace warpfold::cli {

namespace {

constexpr const char* kOption = "--log-level";
constexpr const char* kVariable = "WARPFOLD_LOG";

struct Name {
  std::string_view name;
  LogLevel level;
};
constexpr std::array kNames{Name{"debug", LogLevel::kDebug}, Name{"info", LogLevel::kInfo}, Name{"off", LogLevel::kOff}};

struct Log {
  LogLevel level = LogLevel::kOff;
  std::unique_ptr<spdlog::logger> writer{};
};
Log& the_log() {
  static Log log;
  return log;
}

Outcome<LogLevel> level_called(const std::string& name, const std::string& asks) {
  std::vector<std::string> known;
  for (const Name& each : kNames) {
    if (each.name == name) return each.level;
    known.emplace_back(each.name);
  }
  return user_error(asks + ": unknown level " + escape::quoted(name) + suggestion(name, known));
}

Outcome<LogLevel> wanted_level(std::vector<std::string>& words) {
  const auto option = take_option(words, kOption);
  if (!option) return std::unexpected(option.error());
  if (*option) return level_called(**option, kOption);
  const char* variable = std::getenv(kVariable);
  if (variable == nullptr || *variable == '\0') return LogLevel::kOff;
  return level_called(variable, kVariable);
}

}  // namespace

std::string log_help() {
  return "Log, of every command\n"
         "  --log-level LEVEL     info: files, choices, shared and estimated simulations, and times, on standard error; debug: "
         "more;\n"
         "                        off (default). The variable WARPFOLD_LOG does the same\n";
}

Outcome<void> start_log(std::vector<std::string>& words) {
  const auto level = wanted_level(words);
  if (!level) return std::unexpected(level.error());
  if (*level == LogLevel::kOff) return {};
  auto writer = std::make_unique<spdlog::logger>("warpfold", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  writer->set_level(*level == LogLevel::kDebug ? spdlog::level::debug : spdlog::level::info);
  writer->set_pattern("%H:%M:%S.%e %l: %v");
  writer->flush_on(spdlog::level::debug);
  the_log() = {*level, std::move(writer)};
  watch_reads([](const std::string& path, size_t bytes) {
    log_info([&] { return "read " + path + ", " + report::bytes_text(static_cast<double>(bytes)); });
  });
  return {};
}

bool logs(LogLevel level) { return level >= the_log().level && level != LogLevel::kOff; }

void write_log(LogLevel level, const std::string& text) {
  const std::string line = escape::visible(text);
  if (level == LogLevel::kDebug) {
    the_log().writer->debug(line);
  } else {
    the_log().writer->info(line);
  }
}

std::string Stopwatch::text() const {
  constexpr int kMilliseconds = 3;  // decimals
  return report::fixed(std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(), kMilliseconds) + " s";
}

LoggedPhase::~LoggedPhase() {
  if (logs(level_)) write_log(level_, name_ + ": " + watch_.text());
}

}  // namespace warpfold::cli
