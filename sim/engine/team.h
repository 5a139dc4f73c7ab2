#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace warpfold::sim {

// Threads that share the calls of one function over a range of indices. Which thread takes which index is left open: calls may only
// touch what belongs to their own index.
class Team {
 public:
  // `threads`: the caller's included, at least 1.
  explicit Team(unsigned threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Calls work(0) to work(count - 1); returns when all have returned. Throws what the call of the lowest index threw.
  void for_each(size_t count, const std::function<void(size_t)>& work);

 private:
  void help();
  void take_calls();

  std::vector<std::jthread> helpers_;
  const std::function<void(size_t)>* work_ = nullptr;  // of the round
  size_t count_ = 0;
  std::vector<std::exception_ptr> thrown_;  // by index
  std::atomic<size_t> next_{0};
  std::atomic<uint32_t> round_{0};
  std::atomic<uint32_t> busy_{0};  // helpers in the round
  std::atomic<bool> over_{false};
};

}  // namespace warpfold::sim
