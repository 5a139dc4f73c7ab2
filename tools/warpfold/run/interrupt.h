#pragma once

#include <string>

namespace warpfold::cli {

// Makes Ctrl-C (SIGINT), SIGTERM and SIGHUP stop simulations from now on. While an Interruptible object exists, a signal makes
// simulations throw sim::Interrupted, and a second signal ends the program at once. Otherwise the first signal ends it. For
// programs only: a library's signals belong to its host.
void stop_on_signals();

// Stops simulations after `seconds`, as Ctrl-C does. The program ends with `exit_code` and the message on standard error if no
// Interruptible object exists then, or if it still runs two seconds later. Call stop_on_signals() first.
void stop_after(double seconds, const std::string& message, int exit_code);

// A part of the program that checks sim::stop_wanted() often.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};

// Returns the signal that arrived, SIGALRM for the limit of stop_after(); 0 if none did.
int received_signal();

// Ends the program by the signal's default action, so that a shell stops its script too.
[[noreturn]] void end_by_signal(int signal);

}  // namespace warpfold::cli
