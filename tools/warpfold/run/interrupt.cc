#include "tools/warpfold/run/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "configs/write_file.h"
#include "sim/engine/interrupt.h"

namespace warpfold::cli {

namespace {

std::atomic<int>& came() {
  static std::atomic<int> signal{0};
  return signal;
}

std::atomic<int>& interruptible_parts() {
  static std::atomic<int> parts{0};
  return parts;
}

// Lock-free atomics, signal, raise and unlink alone, which a handler may use.
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void note(int signal) {
  came() = signal;
  sim::stop_wanted() = true;
  if (interruptible_parts() > 0) return;
  remove_unfinished_files();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void stop_on_signals() {
  // Made before a handler asks for them.
  came() = 0;
  interruptible_parts() = 0;
  (void)sim::stop_wanted();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before{};
    // nohup and a shell's background jobs ignore SIGINT, and so does the program then.
    if (sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) continue;
    struct sigaction action{};
    action.sa_handler = note;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

Interruptible::Interruptible() { ++interruptible_parts(); }
Interruptible::~Interruptible() { --interruptible_parts(); }

int signal_that_came() { return came(); }

void end_by_signal(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::abort();  // not reached
}

}  // namespace warpfold::cli
