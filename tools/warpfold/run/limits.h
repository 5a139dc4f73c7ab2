#pragma once

#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "sim/engine/interrupt.h"
#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// Returns the help text of --time-limit and --memory-limit, which every command takes.
std::string limit_help();

// Removes --time-limit and --memory-limit from the words and enforces them for this process from now on. Default of --memory-limit:
// the memory that is available now, of the machine or of the process's control group. For programs only: a library's process
// belongs to its host. Call stop_on_signals() first.
//
// At the time limit, simulations end as by Ctrl-C; the program is ended if it still runs two seconds later. Past the memory limit
// (RLIMIT_DATA: private writable memory) operator new throws std::bad_alloc. Sanitizers reserve terabytes, so under them memory has
// no limit.
Outcome<void> enforce_limits(std::vector<std::string>& words);

// Return the failure of a command that ended early, with kInterrupted or kLimit. `kept` says which work is kept and how to
// continue.
Failure interrupted(const std::string& kept);
Failure out_of_memory(const std::string& kept);

// Returns the result of `work`. If a signal, the time limit or the memory limit ends it, returns a failure with the sentence from
// `kept`.
template <typename Work, typename Kept>
Outcome<void> unless_stopped(Work work, Kept kept) {
  try {
    return work();
  } catch (const sim::Interrupted&) {
    return std::unexpected(interrupted(kept()));
  } catch (const std::bad_alloc&) {
    return std::unexpected(out_of_memory(kept()));
  } catch (const std::system_error& error) {
    // No memory is left for a thread's stack.
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    return std::unexpected(out_of_memory(kept()));
  }
}

}  // namespace warpfold::cli
