// FFMA by the number of its three sources that are fresh, that is, differ from those of the previous instruction: the throughput of
// register ports and register-file cache. Zero fresh sources cannot be tested, because equal sources give equal results, which
// ptxas drops. ptxas chooses the banks of the registers; the disassembly shows them (cuobjdump -sass).

#include "tools/silicon/report.h"
#include "tools/silicon/timed_loop.h"

namespace silicon {
namespace {

constexpr int kRegisters = 16;
constexpr int kInstructions = 64;

template <int kFresh>
class Fma {
 public:
  __device__ explicit Fma(unsigned thread) : a_(1.0F + static_cast<float>(thread)), b_(2.0F) {
    for (int r = 0; r < kRegisters; ++r) {
      sum_[r] = static_cast<float>(thread + r);
      x_[r] = static_cast<float>(thread * r);
      y_[r] = static_cast<float>(thread ^ r);
    }
  }
  __device__ void step() {
#pragma unroll
    for (int i = 0; i < kInstructions; ++i) {
      const int r = i % kRegisters;
      if constexpr (kFresh == 1) asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum_[r]) : "f"(a_), "f"(b_));
      if constexpr (kFresh == 2) asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum_[r]) : "f"(x_[r]), "f"(b_));
      if constexpr (kFresh == 3) asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum_[r]) : "f"(x_[r]), "f"(y_[r]));
    }
  }
  __device__ unsigned result() const {
    float all = 0;
    for (int r = 0; r < kRegisters; ++r) all += sum_[r] + x_[r] + y_[r];
    return __float_as_uint(all);
  }

 private:
  float a_, b_;
  float sum_[kRegisters], x_[kRegisters], y_[kRegisters];
};

template <int kFresh>
void measure(Report& report) {
  constexpr int kSteps = 512;
  constexpr int kWarps = 16;
  const LoopResult rate = run_loop<Fma<kFresh>>(report.device(), kWarps, kSteps);
  Measurement is;
  is.category = "PIPE";
  is.kernel = "FFMA";
  is.metric = "cycles between issues of a sub-core";
  is.value = cycles_each(rate.cycles, kWarps / 4, static_cast<double>(kSteps) * kInstructions);
  is.unit = "cycles";
  is.dims_other = "fresh_registers=" + std::to_string(kFresh) + ";warps_per_sub_core=4";
  is.clock_mhz = rate.clock_mhz;
  report.add(is);
}

}  // namespace

void measure_ffma_registers(Report& report) {
  measure<1>(report);
  measure<2>(report);
  measure<3>(report);
}

}  // namespace silicon
