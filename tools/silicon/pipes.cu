// The issue interval of a sub-core for an instruction of each pipe, and the latency from an instruction to a dependent one.

#include "tools/silicon/instructions.h"
#include "tools/silicon/report.h"
#include "tools/silicon/timed_loop.h"

namespace silicon {
namespace {

constexpr int kInstructions = 64;  // per step, whatever the number of chains

// The first register of a chain. For loads it is an address whose word is the address itself (LDS) or the lane's row (LDSM).
template <typename Op>
__device__ typename Op::Register first_value(unsigned thread, int chain) {
  return first_of<typename Op::Register>(thread + chain + 1);
}
__device__ unsigned shared_base(unsigned stride) {
  __shared__ unsigned words[128];
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(words));
  for (unsigned i = threadIdx.x % 32; i < 128; i += 32) words[i] = base + stride * (i % 32);
  __syncwarp();
  return base;
}
template <>
__device__ Lds::Register first_value<Lds>(unsigned thread, int) {
  return shared_base(4) + 4 * (thread % 32);
}
template <>
__device__ Ldsm::Register first_value<Ldsm>(unsigned thread, int) {
  return shared_base(16) + 16 * (thread % 32);  // lane L receives word L of the first matrix: its own row again
}

// kInstructions instructions in independent chains.
template <typename Op, int kChains>
class Chains {
 public:
  __device__ explicit Chains(unsigned thread) : a_(2 * thread + 1), b_(thread + 3) {
    for (int c = 0; c < kChains; ++c) registers_[c] = first_value<Op>(thread, c);
  }
  __device__ void step() {
#pragma unroll
    for (int i = 0; i < kInstructions; ++i) Op::run(registers_[i % kChains], a_, b_);
  }
  __device__ unsigned result() const {
    unsigned all = 0;
    for (int c = 0; c < kChains; ++c) all ^= folded(registers_[c]);
    return all;
  }

 private:
  typename Op::Register registers_[kChains];
  unsigned a_, b_;
};

template <typename Op>
void measure(Report& report) {
  constexpr int kSteps = 512;
  constexpr int kWarps = 16;  // four on each sub-core
  const LoopResult rate = run_loop<Chains<Op, 8>>(report.device(), kWarps, kSteps);
  Measurement is;
  is.category = "PIPE";
  is.kernel = Op::kName;
  is.metric = "cycles between issues of a sub-core";
  is.value = cycles_each(rate.cycles, kWarps / 4, static_cast<double>(kSteps) * kInstructions);
  is.unit = "cycles";
  is.dims_other = "warps_per_sub_core=4;chains=8";
  is.clock_mhz = rate.clock_mhz;
  report.add(is);

  const LoopResult chain = run_loop<Chains<Op, 1>>(report.device(), 1, kSteps);
  is.category = "LATENCY";
  is.metric = "cycles from issue to a dependent issue";
  is.value = cycles_each(chain.cycles, 1, static_cast<double>(kSteps) * kInstructions);
  is.dims_other = "warps=1;chains=1";
  is.clock_mhz = chain.clock_mhz;
  report.add(is);
}

}  // namespace

void measure_pipes(Report& report) {
  measure<Alu>(report);
  measure<Imad>(report);
  measure<ImadWide>(report);
  measure<Ffma>(report);
  measure<Hfma2>(report);
  measure<F2fp>(report);
  measure<Mufu>(report);
  measure<Shfl>(report);
  measure<Lds>(report);
  measure<Ldsm>(report);
}

}  // namespace silicon
