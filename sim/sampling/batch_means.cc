#include "sim/sampling/batch_means.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace warpfold::sim {
namespace {

// Student's t, two-sided 99 %, for 1, 2, 3, ... degrees of freedom; the last value also applies to more than 30.
// Source: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, upper critical values at 0.995.
constexpr std::array<double, 30> kStudent = {63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169,
                                             3.106,  3.055, 3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845,
                                             2.831,  2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.750};

double rate(std::span<const Batch> batches) {
  Batch sum;
  for (const Batch& batch : batches) {
    sum.done += batch.done;
    sum.cycles += batch.cycles;
  }
  return sum.cycles > 0 ? sum.done / sum.cycles : 0;
}

double half_width(const std::vector<Batch>& batches) {
  const auto count = static_cast<double>(batches.size());
  const double mean = rate(batches);
  double squares = 0;
  double cycles = 0;
  for (const Batch& batch : batches) {
    const double residual = batch.done - mean * batch.cycles;
    squares += residual * residual;
    cycles += batch.cycles;
  }
  if (mean == 0) return 0;
  const double deviation = std::sqrt(squares * count / (count - 1)) / cycles;
  return kStudent[std::min(batches.size() - 2, kStudent.size() - 1)] * deviation / mean;
}

std::vector<Batch> joined(const std::vector<Batch>& batches) {
  std::vector<Batch> pairs;
  for (size_t i = batches.size() % 2; i + 1 < batches.size(); i += 2)
    pairs.push_back({batches[i].done + batches[i + 1].done, batches[i].cycles + batches[i + 1].cycles});
  return pairs;
}

}  // namespace

double relative_uncertainty(const std::vector<Batch>& batches) {
  constexpr size_t kFew = 4;  // fewer joined batches say too little about their deviation
  const std::vector<Batch> twos = joined(batches);
  const std::vector<Batch> fours = joined(twos);
  return std::max({half_width(batches), twos.size() < kFew ? 0 : half_width(twos), fours.size() < kFew ? 0 : half_width(fours)});
}

double relative_drift(const std::vector<Batch>& batches) {
  const std::span<const Batch> all(batches);
  const double mean = rate(all);
  if (mean == 0) return 0;
  return std::abs(rate(all.first(all.size() / 2)) - rate(all.last(all.size() / 2))) / mean;
}

}  // namespace warpfold::sim
