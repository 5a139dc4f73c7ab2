#pragma once

#include <string>

namespace warpfold::cli {

// From here on Ctrl-C (SIGINT) and SIGTERM stop simulations where an object of the class below lives: they throw sim::Interrupted,
// and a second signal ends the program at once. Elsewhere the first one does. For programs alone: a library's signals are its
// host's.
void stop_on_signals();

// Has simulations stop after so many seconds, as Ctrl-C does. The program ends with `exit_code` and the message on standard error
// where no object of the class below lives, and where it goes on two seconds later. After stop_on_signals().
void stop_after(double seconds, const std::string& message, int exit_code);

// A part of the program that looks at sim::stop_wanted() often.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};

// The signal that came, SIGALRM for the limit of stop_after(); 0: none.
int signal_that_came();

// Ends the program as the signal would have without stop_on_signals, so that a shell stops its script too.
[[noreturn]] void end_by_signal(int signal);

}  // namespace warpfold::cli
