#pragma once

#include "tools/silicon/timed_loop.h"

// Kernels that share the chip: which SMs they may run on, work that CTAs take piece by piece, and when all that happened.
namespace silicon {

struct SmRange {
  int first;
  int count;
};

__device__ inline bool may_run(const SmRange& sms) {
  unsigned sm = 0;
  asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
  return static_cast<int>(sm) >= sms.first && static_cast<int>(sm) < sms.first + sms.count;
}

// In global memory, one for each kernel; all zero before a launch but for start_ns, which is the largest number.
struct SmWork {
  unsigned next;                // piece of work that no CTA has taken
  unsigned stop;                // set: take no more
  unsigned long long start_ns;  // first CTA's start
  unsigned long long end_ns;    // end of the last piece
  unsigned other_at_start;      // pieces that the other kernel had taken then
  unsigned other_at_end;
  unsigned ctas;          // that ran
  unsigned finished;      // pieces that are done
  unsigned ended;         // CTAs that have ended
  long long cycles;       // of the first CTA that ended, on its SM
  unsigned long long ns;  // the same in nanoseconds
};

__device__ inline void begin_work(SmWork& own, const SmWork* other) {
  if (threadIdx.x != 0) return;
  if (atomicAdd(&own.ctas, 1U) == 0 && other != nullptr)
    own.other_at_start = *reinterpret_cast<const volatile unsigned*>(&other->next);
  atomicMin(&own.start_ns, nanoseconds());
}

// The CTA that finishes the last piece notes how far the other kernel is and stops it.
__device__ inline void finish_piece(SmWork& own, SmWork* other, unsigned pieces) {
  if (threadIdx.x != 0) return;
  if (atomicAdd(&own.finished, 1U) + 1 != pieces) return;
  atomicMax(&own.end_ns, nanoseconds());
  if (other == nullptr) return;
  own.other_at_end = *reinterpret_cast<volatile unsigned*>(&other->next);
  *reinterpret_cast<volatile unsigned*>(&other->stop) = 1;
}

// The clock is that of the first CTA that ends.
__device__ inline void end_work(SmWork& own, long long start, unsigned long long start_ns) {
  if (threadIdx.x != 0 || atomicAdd(&own.ended, 1U) != 0) return;
  own.cycles = clock64() - start;
  own.ns = nanoseconds() - start_ns;
}

inline SmWork fresh_work() {
  SmWork work{};
  work.start_ns = ~0ULL;
  return work;
}

}  // namespace silicon
