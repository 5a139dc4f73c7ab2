#include "traces/import/moving_window.h"

#include <numeric>

namespace warpfold::sass {
namespace {

// Returns the inverse of `value`, which must be coprime to `modulus`.
uint64_t inverse_of(uint64_t value, uint64_t modulus) {
  int64_t before = 0;
  int64_t now = 1;
  auto rest_before = static_cast<int64_t>(modulus);
  auto rest = static_cast<int64_t>(value);
  while (rest > 1) {
    const int64_t quotient = rest_before / rest;
    const int64_t next = before - quotient * now;
    before = now;
    now = next;
    const int64_t next_rest = rest_before - quotient * rest;
    rest_before = rest;
    rest = next_rest;
  }
  return static_cast<uint64_t>(now < 0 ? now + static_cast<int64_t>(modulus) : now);
}

}  // namespace

MovingWindow::MovingWindow(int64_t stride, uint64_t every) : period_(access::kLineBytes * every) {
  const auto period = static_cast<int64_t>(period_);
  const auto moved = static_cast<uint64_t>((stride % period + period) % period);
  step_ = std::gcd(moved, period_);
  distance_ = period_ / step_;
  inverse_ = distance_ == 1 ? 0 : inverse_of(moved / step_, distance_);
}

// Returns the first pass at which the run has moved by `ahead` bytes, a multiple of step_, modulo the period.
uint64_t MovingWindow::solution(uint64_t ahead) const {
  // Both factors are below 2^32: a period is the gap between two sampled lines.
  return ahead / step_ * inverse_ % distance_;
}

}  // namespace warpfold::sass
