#pragma once

namespace warpfold::cli {

// From here on Ctrl-C (SIGINT) and SIGTERM stop simulations, which throw sim::Interrupted; a second signal ends the program at
// once. For programs alone: a library's signals are its host's.
void stop_on_signals();

// The signal that came; 0: none.
int signal_that_came();

// Ends the program as the signal would have without stop_on_signals, so that a shell stops its script too.
[[noreturn]] void end_by_signal(int signal);

}  // namespace warpfold::cli
