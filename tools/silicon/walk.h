#pragma once

#include <numeric>
#include <random>

#include "tools/silicon/device.h"

// Chains of lines through memory: each line holds the address of the next, so that a load's result is the next load's address.
namespace silicon {

constexpr std::size_t kLineBytes = 128;
using Address = unsigned long long;

// Visits every line of a region once, in random order, so that no prefetcher guesses the next line; the last line leads to the
// first.
class RandomWalk {
 public:
  explicit RandomWalk(std::size_t bytes) : memory_(bytes / sizeof(Address)) {
    std::vector<std::size_t> order(bytes / kLineBytes);
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin() + 1, order.end(), std::mt19937(1));
    std::vector<Address> next(memory_.count());
    for (std::size_t i = 0; i < order.size(); ++i) next[word_of(order[i])] = address_of(order[(i + 1) % order.size()]);
    memory_.write(next);
  }
  Address first() const { return address_of(0); }
  std::size_t bytes() const { return memory_.count() * sizeof(Address); }

 private:
  static std::size_t word_of(std::size_t line) { return line * kLineBytes / sizeof(Address); }
  Address address_of(std::size_t line) const { return reinterpret_cast<Address>(memory_.get() + word_of(line)); }

  Buffer<Address> memory_;
};

// Evicts all earlier contents of L2.
class L2Flush {
 public:
  explicit L2Flush(const Device& device) : memory_(4 * device.l2_bytes) {}
  void run() {
    memory_.clear();
    check(cudaDeviceSynchronize(), "a flush of L2");
  }

 private:
  Buffer<unsigned char> memory_;
};

}  // namespace silicon
