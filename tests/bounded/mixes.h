#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "sim/gpu/simulate.h"
#include "traces/kernel.h"

namespace warpfold {

template <typename T>
T must(Expected<T> value) {
  if (!value) throw std::logic_error(value.error().text());
  return *std::move(value);
}

class Dice {
 public:
  explicit Dice(uint32_t seed) : engine_(seed) {}
  // By remainder, not by a distribution: those differ between standard libraries.
  uint64_t between(uint64_t least, uint64_t most) { return least + engine_() % (most - least + 1); }
  template <typename T>
  T of(std::initializer_list<T> values) {
    return values.begin()[between(0, values.size() - 1)];
  }
  template <typename T>
  T of(const std::vector<T>& values) {
    return values[between(0, values.size() - 1)];
  }

 private:
  std::mt19937 engine_;
};

enum class Beside : uint8_t { kNothing, kCtaAfterCta, kPersistent };

struct Kind {
  uint64_t warps = 0;  // of random numbers, a sub-core
  Beside gemm{};
  bool chain = false;  // a second GEMM behind the first
  auto operator<=>(const Kind&) const = default;
};

// Random numbers, in three of four mixes beside a GEMM or two behind each other.
struct Mix {
  std::string description;
  Kind kind;
  configs::Gpu gpu;
  std::vector<traces::Kernel> kernels;
  std::vector<sim::Launch> launches;
};

// SMs of an H100 with their share of the memory system, and with registers and warp slots for 16 RNG warps a sub-core beside a
// GEMM.
configs::Gpu machine(Dice& dice, uint32_t sms = 1);
// Of several SMs some may have a tile more than others.
Mix mix(uint32_t seed, uint32_t sms = 1);
// Returns two or three short kernels of any kind that compete for room on two to six SMs, with any remainder of CTAs. The kernels
// include attention with a mask, and launches that wait for other launches to end.
Mix crowd(uint32_t seed);

struct Errors {
  double cycles = 0;    // largest of a kernel
  double counters = 0;  // largest of a counter, relative; states of the kernel's resident warp-cycles
};

// Appends to `failure` the differences that are not allowed.
Errors compare(const sim::Outcome& folded, const sim::Outcome& replayed, std::string& failure);

}  // namespace warpfold
