#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// Why a command did what it did, which files it read, and how long its phases took: lines on standard error, by spdlog. Results do
// not depend on it. Nothing is written before start_log(), which programs alone call: a library's standard error is its host's.
//
//   19:20:31.402 info: qkv: cuBLAS offers 12 GEMMs; 3 simulated, in the order of their lower bounds; taken: tile: T128X256 ...
//   19:20:31.519 info: policy CARVE_OUT: 71,173 cycles; 2 of 132 SMs simulated, fast-forwarded where states recurred: ...
enum class LogLevel {
  kDebug,  // the candidates of a choice, and each phase of each scenario
  kInfo,   // files, choices, simulations
  kOff,
};

// The help text of --log-level, which every command takes.
std::string log_help();

// Takes --log-level out of the words. Without it WARPFOLD_LOG has the level; without both nothing is written.
Outcome<void> start_log(std::vector<std::string>& words);

bool logs(LogLevel level);
// One line, whatever `text` holds. From any thread.
void write_log(LogLevel level, const std::string& text);

// `text` returns the line, and is called only if the line is written.
template <typename Text>
void log_info(const Text& text) {
  if (logs(LogLevel::kInfo)) write_log(LogLevel::kInfo, text());
}
template <typename Text>
void log_debug(const Text& text) {
  if (logs(LogLevel::kDebug)) write_log(LogLevel::kDebug, text());
}

// Time since it was made.
class Stopwatch {
 public:
  std::string text() const;  // "0.113 s"

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Writes how long it was there, at `level`.
class LoggedPhase {
 public:
  LoggedPhase(LogLevel level, std::string name) : level_(level), name_(std::move(name)) {}
  ~LoggedPhase();
  LoggedPhase(const LoggedPhase&) = delete;
  LoggedPhase& operator=(const LoggedPhase&) = delete;

 private:
  LogLevel level_;
  std::string name_;
  Stopwatch watch_;
};

}  // namespace warpfold::cli
