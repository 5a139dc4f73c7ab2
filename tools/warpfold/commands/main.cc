#include <fcntl.h>
#include <google/protobuf/stubs/logging.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "configs/escape/terminal.h"
#include "tools/warpfold/commands/dispatch.h"
#include "tools/warpfold/commands/failure_text.h"
#include "tools/warpfold/render/output.h"
#include "tools/warpfold/run/interrupt.h"
#include "tools/warpfold/run/limits.h"
#include "tools/warpfold/run/log.h"

namespace warpfold::cli {

namespace {

// Opens /dev/null for each standard descriptor that is closed. Otherwise the first file that the program opens would get the
// descriptor, and standard output would go to that file. The opposite direction of opening makes reads and writes fail, as they do
// on a closed descriptor.
void open_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(file, F_GETFD) < 0 && errno == EBADF) (void)open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int run(int argc, const char* const* argv) {
  // Protobuf's own messages about bad input would appear beside the program's one line.
  google::protobuf::SetLogHandler(nullptr);
  std::vector<std::string> words(argv + 1, argv + argc);
  open_standard_files();
  // A write beyond `ulimit -f` then fails and is reported like any failed write.
  std::signal(SIGXFSZ, SIG_IGN);
  stop_on_signals();
  Outcome<void> done = start_log(words);
  // Without the log's option: a result is the same with a log and without.
  const std::string line = command_line(argc > 0 ? argv[0] : "warpfold", words);
  if (done) done = enforce_limits(words);
  if (done && words.empty()) done = user_error("a command is missing; see warpfold --help");
  if (done) {
    const LoggedPhase phase(LogLevel::kInfo, words.front());
    done = unless_stopped(
        [&] {
          return dispatch(words.front(), {{words.begin() + 1, words.end()}, line});
        },
        [] { return "no result is kept"; });
  }
  if (done) done = close_standard_output();
  if (done) return kSuccess;
  const std::string shown = text_of(done.error());
  std::cerr << shown;
  if (!shown.ends_with('\n')) std::cerr << '\n';
  if (done.error().exit_code == kInterrupted && received_signal() != 0) end_by_signal(received_signal());
  return done.error().exit_code;
}

}  // namespace

}  // namespace warpfold::cli

int main(int argc, char** argv) {
  try {
    return warpfold::cli::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "internal error: " << warpfold::escape::terminal(error.what()) << '\n';
    return 1;
  }
}
