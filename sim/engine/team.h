#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace warpfold::sim {

// Thread pool that runs one function over a range of indices. The order of calls and their threads are unspecified, so
// a call may touch only the data of its own index.
class Team {
 public:
  // `threads`: number of threads including the caller's, at least 1.
  explicit Team(unsigned threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Calls work(0) to work(count - 1) and returns when all calls have returned. Rethrows the exception of the lowest
  // index that threw.
  void for_each(size_t count, const std::function<void(size_t)>& work);

 private:
  void help();
  void take_calls();

  std::vector<std::jthread> helpers_;
  const std::function<void(size_t)>* work_ = nullptr;  // function of the current round
  size_t count_ = 0;
  std::vector<std::exception_ptr> thrown_;  // by index
  std::atomic<size_t> next_{0};
  std::atomic<uint32_t> round_{0};
  std::atomic<uint32_t> busy_{0};  // helpers that have not finished the round
  std::atomic<bool> over_{false};
};

}  // namespace warpfold::sim
