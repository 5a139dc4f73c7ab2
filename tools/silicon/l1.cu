// The capacity of L1 by the carve-out of shared memory: a dependent walk through random lines, and a CTA that reads an array again
// and again.

#include "tools/silicon/rates.h"
#include "tools/silicon/report.h"
#include "tools/silicon/timed_loop.h"
#include "tools/silicon/walk.h"

namespace silicon {
namespace {

constexpr int kThreads = 1024;
constexpr int kPasses = 20;

// One thread walks the chain twice; the second pass is timed.
__global__ void walk(Address first, int lines, long long* cycles, Address* last) {
  Address at = first;
  long long start = 0;
  for (int pass = 0; pass < 2; ++pass) {
    start = clock64();
#pragma unroll 8
    for (int i = 0; i < lines; ++i) asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
  }
  *cycles = clock64() - start;
  *last = at;
}

__global__ void __launch_bounds__(kThreads) reuse(const uint4* array, int words, long long* cycles, unsigned* sink) {
  unsigned all = 0;
  long long start = 0;
  for (int pass = 0; pass < 1 + kPasses; ++pass) {
    __syncthreads();
    if (pass == 1) start = clock64();
    for (int i = static_cast<int>(threadIdx.x); i < words; i += kThreads) {
      uint4 x;
      asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "l"(array + i));
      all ^= x.x ^ x.y ^ x.z ^ x.w;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) *cycles = clock64() - start;
  if (all == 0x9e3779b9U) *sink = all;
}

void add(Report& report, const char* kernel, const char* metric, double value, const char* unit, int carve_out, int kib) {
  Measurement row;
  row.category = "MEM";
  row.kernel = kernel;
  row.metric = metric;
  row.value = value;
  row.unit = unit;
  row.dims_other = "carve_out_percent=" + std::to_string(carve_out) + ";bytes=" + std::to_string(1024 * kib);
  report.add(row);
}

}  // namespace

void measure_l1(Report& report) {
  Buffer<long long> cycles(1);
  Buffer<Address> last(1);
  Buffer<unsigned> sink(1);
  for (const int carve_out : {0, 50, 100}) {
    check(cudaFuncSetAttribute(walk, cudaFuncAttributePreferredSharedMemoryCarveout, carve_out), "a carve-out");
    check(cudaFuncSetAttribute(reuse, cudaFuncAttributePreferredSharedMemoryCarveout, carve_out), "a carve-out");
    for (const int kib : {16, 24, 32, 48, 64, 96, 112, 128, 144, 160, 176, 192, 208, 224, 232, 240, 256, 272, 300}) {
      const RandomWalk lines(static_cast<std::size_t>(kib) << 10);
      walk<<<1, 1>>>(lines.first(), 8 * kib, cycles.get(), last.get());
      check(cudaDeviceSynchronize(), "a walk");
      add(report, "L1, dependent walk", "cycles of a dependent load", static_cast<double>(cycles.read().front()) / (8 * kib),
          "cycles", carve_out, kib);
      const Buffer<uint4> array(static_cast<std::size_t>(kib) << 6);
      reuse<<<1, kThreads>>>(array.get(), kib << 6, cycles.get(), sink.get());
      check(cudaDeviceSynchronize(), "a reuse");
      add(report, "L1, array read over and over", "bytes a cycle",
          bytes_per_clk(kPasses * 1024.0 * kib, static_cast<double>(cycles.read().front())), "B/clk", carve_out, kib);
    }
  }
}

}  // namespace silicon
