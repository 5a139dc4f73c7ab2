#include "tools/warpfold/run/interrupt.h"

#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>

#include "configs/write_file.h"
#include "sim/engine/interrupt.h"

namespace warpfold::cli {

namespace {

std::atomic<int>& received() {
  static std::atomic<int> signal{0};
  return signal;
}

std::atomic<int>& interruptible_parts() {
  static std::atomic<int> parts{0};
  return parts;
}

struct TimeLimit {
  std::string message{};
  int exit_code = 0;
};
TimeLimit& time_limit() {
  static TimeLimit limit;
  return limit;
}

// A signal handler may use only lock-free atomics, write, _exit, unlink, signal and raise.
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void note(int signal) {
  received() = signal;
  sim::stop_wanted() = true;
  if (interruptible_parts() > 0) return;
  remove_unfinished_files();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void note_time(int signal) {
  const bool again = received() == signal;
  received() = signal;
  sim::stop_wanted() = true;
  if (interruptible_parts() > 0 && !again) return;
  remove_unfinished_files();
  const TimeLimit& limit = time_limit();
  (void)!write(STDERR_FILENO, limit.message.data(), limit.message.size());
  _exit(limit.exit_code);
}

}  // namespace

void stop_on_signals() {
  // Creates these static variables before a handler uses them.
  received() = 0;
  interruptible_parts() = 0;
  (void)sim::stop_wanted();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before{};
    // nohup and a shell's background jobs ignore SIGINT; the program then ignores it too.
    if (sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) continue;
    struct sigaction action{};
    action.sa_handler = note;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

void stop_after(double seconds, const std::string& message, int exit_code) {
  time_limit() = {message + "\n", exit_code};
  struct sigaction action{};
  action.sa_handler = note_time;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  constexpr timeval kToEnd{2, 0};
  const auto whole = static_cast<time_t>(seconds);
  itimerval timer{kToEnd, {whole, static_cast<suseconds_t>((seconds - static_cast<double>(whole)) * 1e6)}};
  if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) timer.it_value.tv_usec = 1;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

Interruptible::Interruptible() { ++interruptible_parts(); }
Interruptible::~Interruptible() { --interruptible_parts(); }

int received_signal() { return received(); }

void end_by_signal(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::abort();  // not reached
}

}  // namespace warpfold::cli
