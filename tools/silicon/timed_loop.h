#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "tools/silicon/device.h"
#include "tools/silicon/rates.h"

// A timed loop of instructions, in cycles of the SM's own clock.
namespace silicon {

// Start and end of a warp's loop, in cycles of its SM and in nanoseconds of the chip's timer.
struct LoopTime {
  long long start;
  long long end;
  unsigned long long start_ns;
  unsigned long long end_ns;
};

__device__ inline unsigned long long nanoseconds() {
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

// Every warp of a CTA runs body.step() `steps` times. The sink keeps the compiler from dropping unused results.
template <typename Body>
__global__ void timed_loop(LoopTime* times, unsigned* sink, int steps) {
  Body body(threadIdx.x);
  const unsigned warps = blockDim.x / 32;
  for (int warm = 0; warm < 2; ++warm) body.step();
  __syncthreads();
  const unsigned long long start_ns = nanoseconds();
  const long long start = clock64();
  for (int s = 0; s < steps; ++s) body.step();
  const long long end = clock64();
  const unsigned long long end_ns = nanoseconds();
  if (threadIdx.x % 32 == 0) times[blockIdx.x * warps + threadIdx.x / 32] = {start, end, start_ns, end_ns};
  if (body.result() == 0x9e3779b9U) *sink = threadIdx.x;
}

struct LoopResult {
  double cycles = 0;     // per SM, from the first warp's start to the last warp's end: median over the SMs
  double clock_mhz = 0;  // counted by the SMs
};

inline LoopResult result_of(const std::vector<LoopTime>& times, int warps) {
  std::vector<double> cycles;
  double clock = 0;
  for (std::size_t cta = 0; cta * warps < times.size(); ++cta) {
    LoopTime all = times[cta * warps];
    for (int w = 1; w < warps; ++w) {
      const LoopTime& warp = times[cta * warps + w];
      all.start = std::min(all.start, warp.start);
      all.end = std::max(all.end, warp.end);
      all.start_ns = std::min(all.start_ns, warp.start_ns);
      all.end_ns = std::max(all.end_ns, warp.end_ns);
    }
    cycles.push_back(static_cast<double>(all.end - all.start));
    clock += mhz_of(cycles.back(), static_cast<double>(all.end_ns - all.start_ns));
  }
  return {spread_of(cycles).median, clock / static_cast<double>(cycles.size())};
}

// Runs one CTA of `warps` warps on each SM.
template <typename Body>
LoopResult run_loop(const Device& device, int warps, int steps) {
  Buffer<LoopTime> times(static_cast<std::size_t>(device.sms) * warps);
  Buffer<unsigned> sink(1);
  for (int run = 0; run < 2; ++run) {  // the first run warms up instruction caches and the clock
    timed_loop<Body><<<device.sms, 32 * warps>>>(times.get(), sink.get(), steps);
    check(cudaGetLastError(), "a loop");
    check(cudaDeviceSynchronize(), "a loop");
  }
  return result_of(times.read(), warps);
}

}  // namespace silicon
