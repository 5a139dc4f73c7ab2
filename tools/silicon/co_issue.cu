// Two pipes at once. If a sub-core alternates between two instructions, the time is either the sum of their times or the longer of
// the two. FFMA beside IMAD.WIDE is the pair that random numbers and GEMM epilogues share.

#include "tools/silicon/instructions.h"
#include "tools/silicon/report.h"
#include "tools/silicon/timed_loop.h"

namespace silicon {
namespace {

constexpr int kPairs = 32;
constexpr int kChains = 8;

template <typename First, typename Second>
class Alternating {
 public:
  __device__ explicit Alternating(unsigned thread) : a_(2 * thread + 1), b_(thread + 3) {
    for (int c = 0; c < kChains; ++c) {
      first_[c] = first_of<typename First::Register>(thread + c);
      second_[c] = first_of<typename Second::Register>(thread ^ c);
    }
  }
  __device__ void step() {
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      First::run(first_[i % kChains], a_, b_);
      Second::run(second_[i % kChains], a_, b_);
    }
  }
  __device__ unsigned result() const {
    unsigned all = 0;
    for (int c = 0; c < kChains; ++c) all ^= folded(first_[c]) ^ folded(second_[c]);
    return all;
  }

 private:
  typename First::Register first_[kChains];
  typename Second::Register second_[kChains];
  unsigned a_, b_;
};

template <typename First, typename Second>
void measure(Report& report) {
  constexpr int kSteps = 512;
  constexpr int kWarps = 16;
  const LoopResult rate = run_loop<Alternating<First, Second>>(report.device(), kWarps, kSteps);
  Measurement is;
  is.category = "PIPE";
  is.kernel = std::string(First::kName) + " and " + Second::kName;
  is.metric = "cycles a pair of a sub-core";
  is.value = cycles_each(rate.cycles, kWarps / 4, static_cast<double>(kSteps) * kPairs);
  is.unit = "cycles";
  is.dims_other = "warps_per_sub_core=4;chains=8";
  is.clock_mhz = rate.clock_mhz;
  report.add(is);
}

}  // namespace

void measure_co_issue(Report& report) {
  measure<Ffma, ImadWide>(report);
  measure<Ffma, Imad>(report);
  measure<Alu, ImadWide>(report);
  measure<Alu, Imad>(report);
  measure<Alu, Ffma>(report);
  measure<Alu, Mufu>(report);
}

}  // namespace silicon
