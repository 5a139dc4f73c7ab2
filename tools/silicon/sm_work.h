#pragma once

#include "tools/silicon/timed_loop.h"

// Support for kernels that share the chip: the SMs on which a kernel may run, work that CTAs take piece by piece, and their times.
namespace silicon {

constexpr int kMaxSms = 256;

__device__ inline unsigned sm_id() {
  unsigned sm = 0;
  asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
  return sm;
}

struct SmRange {
  int first;
  int count;
};

__device__ inline bool may_run(const SmRange& sms) {
  const int sm = static_cast<int>(sm_id());
  return sm >= sms.first && sm < sms.first + sms.count;
}

// The CTAs of a kernel on one SM.
struct SmSpan {
  unsigned long long first_ns;  // start of the first CTA
  unsigned long long last_ns;   // end of the last CTA
  unsigned ctas;
};

// State of a kernel's work in global memory. Set to fresh_work() before each launch.
struct SmWork {
  unsigned next;                // next piece of work to take
  unsigned stop;                // nonzero: take no more pieces
  unsigned long long start_ns;  // start of the first CTA
  unsigned long long end_ns;    // end of the last piece
  unsigned other_at_start;      // pieces that the other kernel had taken at the start
  unsigned other_at_end;
  unsigned ctas;              // CTAs that ran
  unsigned finished;          // finished pieces
  unsigned long long cycles;  // sum over CTAs, each on its SM's clock: GPCs have different clocks
  unsigned long long ns;      // the same sum in nanoseconds
  SmSpan on[kMaxSms];
};

__device__ inline void begin_work(SmWork& own, const SmWork* other) {
  if (threadIdx.x != 0) return;
  if (atomicAdd(&own.ctas, 1U) == 0 && other != nullptr)
    own.other_at_start = *reinterpret_cast<const volatile unsigned*>(&other->next);
  atomicMin(&own.start_ns, nanoseconds());
  SmSpan& here = own.on[sm_id()];
  atomicMin(&here.first_ns, nanoseconds());
  atomicAdd(&here.ctas, 1U);
}

// The CTA that finishes the last piece records the progress of the other kernel and stops it.
__device__ inline void finish_piece(SmWork& own, SmWork* other, unsigned pieces) {
  if (threadIdx.x != 0) return;
  if (atomicAdd(&own.finished, 1U) + 1 != pieces) return;
  atomicMax(&own.end_ns, nanoseconds());
  if (other == nullptr) return;
  own.other_at_end = *reinterpret_cast<volatile unsigned*>(&other->next);
  *reinterpret_cast<volatile unsigned*>(&other->stop) = 1;
}

__device__ inline void end_work(SmWork& own, long long start, unsigned long long start_ns) {
  if (threadIdx.x != 0) return;
  atomicAdd(&own.cycles, static_cast<unsigned long long>(clock64() - start));
  const unsigned long long now = nanoseconds();
  atomicAdd(&own.ns, now - start_ns);
  atomicMax(&own.on[sm_id()].last_ns, now);
}

inline SmWork fresh_work() {
  SmWork work{};
  work.start_ns = ~0ULL;
  for (SmSpan& here : work.on) here.first_ns = ~0ULL;
  return work;
}

// True if, on every SM of the range, `first` had one CTA and `second` had `ctas` CTAs, and `second` was present for at least nine
// tenths of the time of `first`.
inline bool ran_beside(const SmWork& first, const SmWork& second, const SmRange& sms, unsigned ctas) {
  for (int sm = sms.first; sm < sms.first + sms.count; ++sm) {
    const SmSpan& one = first.on[sm];
    const SmSpan& other = second.on[sm];
    if (one.ctas != 1 || other.ctas != ctas) return false;
    const unsigned long long begin = std::max(one.first_ns, other.first_ns);
    const unsigned long long end = std::min(one.last_ns, other.last_ns);
    if (end < begin || 10 * (end - begin) < 9 * (one.last_ns - one.first_ns)) return false;
  }
  return true;
}

// Selects the largest carve-out of shared memory, whatever the kernel needs: kernels with different carve-outs do not share an SM.
template <typename Kernel>
void prepare_shared_memory(Kernel kernel, std::size_t dynamic_bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(dynamic_bytes)),
        "shared memory");
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared),
        "a carve-out");
}

}  // namespace silicon
