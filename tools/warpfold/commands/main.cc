#include <google/protobuf/stubs/logging.h>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "tools/warpfold/commands/dispatch.h"
#include "tools/warpfold/run/interrupt.h"
#include "tools/warpfold/run/limits.h"

namespace warpfold::cli {

namespace {

int run(int argc, const char* const* argv) {
  // Protobuf's own remarks on bad input would stand beside our one line.
  google::protobuf::SetLogHandler(nullptr);
  std::vector<std::string> words(argv + 1, argv + argc);
  stop_on_signals();
  Outcome<void> done = enforce_limits(words);
  if (done && words.empty()) done = user_error("a command is missing; see warpfold --help");
  if (done) {
    done = unless_stopped([&] { return dispatch(words.front(), {{words.begin() + 1, words.end()}, command_line(argc, argv)}); },
                          [] { return "nothing is kept"; });
  }
  if (done) return kSuccess;
  std::cerr << done.error().text;
  if (!done.error().text.ends_with('\n')) std::cerr << '\n';
  if (done.error().exit_code == kInterrupted && signal_that_came() != 0) end_by_signal(signal_that_came());
  return done.error().exit_code;
}

}  // namespace

}  // namespace warpfold::cli

int main(int argc, char** argv) {
  try {
    return warpfold::cli::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "internal error: " << error.what() << '\n';
    return 1;
  }
}
