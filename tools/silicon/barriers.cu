// The cost of synchronisation: BAR.SYNC over a CTA, and an mbarrier at which all threads arrive and wait.

#include "tools/silicon/report.h"
#include "tools/silicon/timed_loop.h"

namespace silicon {
namespace {

constexpr int kEach = 16;

class Bar {
 public:
  __device__ explicit Bar(unsigned) {}
  __device__ void step() {
#pragma unroll
    for (int i = 0; i < kEach; ++i) __syncthreads();
  }
  __device__ unsigned result() const { return 0; }
};

class MBarrier {
 public:
  __device__ explicit MBarrier(unsigned thread) {
    __shared__ unsigned long long barrier;
    barrier_ = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
    if (thread == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier_), "r"(blockDim.x) : "memory");
    __syncthreads();
  }
  __device__ void step() {
#pragma unroll 1
    for (int i = 0; i < kEach; ++i) {
      unsigned long long state = 0;
      asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(barrier_) : "memory");
      unsigned done = 0;
      while (done == 0) {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(barrier_), "l"(state)
                     : "memory");
      }
    }
  }
  __device__ unsigned result() const { return 0; }

 private:
  unsigned barrier_;
};

template <typename Body>
void measure(Report& report, const char* name) {
  constexpr int kSteps = 256;
  for (const int warps : {1, 4, 8, 16, 32}) {
    const LoopResult loop = run_loop<Body>(report.device(), warps, kSteps);
    Measurement is;
    is.category = "LATENCY";
    is.kernel = name;
    is.metric = "cycles a round";
    is.value = loop.cycles / (static_cast<double>(kSteps) * kEach);
    is.unit = "cycles";
    is.dims_other = "warps=" + std::to_string(warps);
    is.clock_mhz = loop.clock_mhz;
    report.add(is);
  }
}

}  // namespace

void measure_barriers(Report& report) {
  measure<Bar>(report, "BAR.SYNC");
  measure<MBarrier>(report, "mbarrier arrive and wait");
}

}  // namespace silicon
