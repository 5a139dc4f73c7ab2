#include "sim/analytic/composition.h"

#include <algorithm>

namespace warpfold::sim {
namespace {

double dropping_attention(const ChainTimes& times, const Interference& interference) {
  return times.attention * interference.dropping;
}

Composition sum_of(std::string name, double others, double gemm, double exposed_rng, double attention) {
  return {std::move(name), others + gemm + exposed_rng + attention, gemm, exposed_rng, attention};
}

}  // namespace

Interference paper_interference() {
  // GEMM 4 % slower, random numbers 50 % slower, dropping 12 % on attention. Fusion hides 10 to 20 % of the random
  // numbers' time; the model uses the middle.
  return {"paper", 1.04, 1.5, 1.12, 0.15};
}

Composition sequential(const ChainTimes& times, const Interference& interference) {
  return sum_of("sequential", times.others, times.gemm, times.rng, dropping_attention(times, interference));
}

Composition fused(const ChainTimes& times, const Interference& interference) {
  const double attention = dropping_attention(times, interference);
  const double visible =
      interference.hidden_by_fusion ? attention + times.rng * (1 - *interference.hidden_by_fusion) : times.merged;
  return sum_of("fused", times.others, times.gemm, 0, visible);
}

Composition overlapped(const ChainTimes& times, const Interference& interference) {
  const double gemm = times.gemm * interference.gemm_slowdown;
  const double exposed = std::max(0.0, times.rng - gemm / interference.rng_slowdown);
  return sum_of("overlapped", times.others, gemm, exposed, dropping_attention(times, interference));
}

Region region_of(const ChainTimes& times, const Interference& interference) {
  if (overlapped(times, interference).exposed_rng > 0) return Region::kRngExposed;
  const double whole = sequential(times, interference).total - times.others;
  return times.rng < kLittleRng * whole ? Region::kGemmDominates : Region::kBalanced;
}

}  // namespace warpfold::sim
