#pragma once

#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "sim/engine/interrupt.h"
#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// The help text of --time-limit and --memory-limit, which every command takes.
std::string limit_help();

// Takes --time-limit and --memory-limit out of the words, and has them hold for this process from here on. Default of
// --memory-limit: the memory that is available now, of the machine or of the process's control group. For programs alone: a
// library's process is its host's. After stop_on_signals().
//
// At the time limit simulations end as by Ctrl-C; what goes on two seconds later is ended. Past the memory limit (RLIMIT_DATA:
// private writable memory) operator new throws std::bad_alloc. Sanitizers reserve terabytes: under them memory has no limit.
Outcome<void> enforce_limits(std::vector<std::string>& words);

// Why a command ended early, with kInterrupted or kLimit. `kept`: what is kept of its work, and how to go on.
Failure interrupted(const std::string& kept);
Failure out_of_memory(const std::string& kept);

// What `work` returns; where a signal, the time limit or the memory limit ends it, a failure with the sentence that `kept` returns.
template <typename Work, typename Kept>
Outcome<void> unless_stopped(Work work, Kept kept) {
  try {
    return work();
  } catch (const sim::Interrupted&) {
    return std::unexpected(interrupted(kept()));
  } catch (const std::bad_alloc&) {
    return std::unexpected(out_of_memory(kept()));
  } catch (const std::system_error& error) {
    // A thread whose stack finds no room.
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    return std::unexpected(out_of_memory(kept()));
  }
}

}  // namespace warpfold::cli
