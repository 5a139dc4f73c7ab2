#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

#include "sim/engine/interrupt.h"
#include "tools/warpfold/run/interrupt.h"

namespace warpfold::cli {

// Calls work(0) ... work(count - 1), `jobs` at a time. Rethrows the first exception after all calls have ended. An interrupt ends
// simulations in progress and skips calls that have not started.
template <typename Work>
void in_parallel(size_t count, unsigned jobs, Work work) {
  const Interruptible interruptible;
  std::atomic<size_t> next{0};
  std::vector<std::exception_ptr> thrown(count);
  const auto take_turns = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        sim::stop_if_wanted();
        work(i);
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (size_t j = 1; j < std::min<size_t>(jobs, count); ++j) others.emplace_back(take_turns);
    take_turns();
  }
  for (const std::exception_ptr& each : thrown) {
    if (each) std::rethrow_exception(each);
  }
}

}  // namespace warpfold::cli
