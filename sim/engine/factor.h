#pragma once

#include <cstdint>

namespace warpfold::sim {

// Multiplier of a machine resource, in thousandths, so that times stay integers.
//
//   Factor(1500): an interval of 2 cycles becomes 2 (1 1/3, rounded up), a latency of 30 becomes 45, 5 entries become 7
class Factor {
 public:
  constexpr Factor() = default;
  constexpr explicit Factor(uint64_t thousandths) : thousandths_(thousandths) {}

  constexpr uint64_t thousandths() const { return thousandths_; }
  // Returns the duration of `cycles` of work at a rate multiplied by the factor, rounded up.
  constexpr uint64_t at_rate(uint64_t cycles) const { return (cycles * kOne + thousandths_ - 1) / thousandths_; }
  // Returns a latency multiplied by the factor, rounded up.
  constexpr uint64_t longer(uint64_t cycles) const { return (cycles * thousandths_ + kOne - 1) / kOne; }
  // Returns an amount multiplied by the factor, rounded down.
  constexpr uint64_t of(uint64_t amount) const { return amount * thousandths_ / kOne; }

  bool operator==(const Factor&) const = default;

  static constexpr uint64_t kOne = 1000;

 private:
  uint64_t thousandths_ = kOne;
};

}  // namespace warpfold::sim
