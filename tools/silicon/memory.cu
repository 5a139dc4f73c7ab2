// Latency and bandwidth of L1, L2 and DRAM.

#include "tools/silicon/rates.h"
#include "tools/silicon/report.h"
#include "tools/silicon/stream_kernel.h"
#include "tools/silicon/timed_loop.h"
#include "tools/silicon/walk.h"

namespace silicon {
namespace {

struct Walk {
  long long cycles;
  unsigned long long ns;
  Address last;
};

constexpr std::size_t kPage = std::size_t{2} << 20;

// One thread follows a chain of lines. It reads a word of each page first, so that no step waits for an address translation.
template <bool kThroughL1>
__global__ void follow(Address first, std::size_t bytes, int steps, Walk* walk) {
  unsigned touched = 0;
  for (std::size_t byte = kLineBytes - 4; byte < bytes; byte += kPage)
    touched += *reinterpret_cast<const volatile unsigned*>(first + byte);
  Address at = first + (touched == 0x9e3779b9U);
  const unsigned long long start_ns = nanoseconds();
  const long long start = clock64();
#pragma unroll 16
  for (int s = 0; s < steps; ++s) {
    if constexpr (kThroughL1) asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
    if constexpr (!kThroughL1) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
  }
  *walk = {clock64() - start, nanoseconds() - start_ns, at};
}

enum class Warm { kNo, kYes };

template <bool kThroughL1>
void measure_latency(Report& report, const char* name, std::size_t bytes, int steps, Warm warm) {
  const RandomWalk lines(bytes);
  Buffer<Walk> walk(1);
  L2Flush flush(report.device());
  for (int run = 0; run < 2; ++run) {  // the first one fills the cache, or the next one finds it emptied
    if (warm == Warm::kNo) flush.run();
    follow<kThroughL1><<<1, 1>>>(lines.first(), lines.bytes(), steps, walk.get());
    check(cudaGetLastError(), "a walk");
    check(cudaDeviceSynchronize(), "a walk");
  }
  const Walk is = walk.read().front();
  Measurement row;
  row.category = "LATENCY";
  row.kernel = name;
  row.metric = "cycles of a dependent load";
  row.value = static_cast<double>(is.cycles) / steps;
  row.unit = "cycles";
  row.dims_other = "bytes=" + std::to_string(bytes);
  row.clock_mhz = mhz_of(static_cast<double>(is.cycles), static_cast<double>(is.ns));
  report.add(row);
}

template <Access kAccess>
void measure_bandwidth(Report& report, const char* name, const char* where, std::size_t bytes, int passes, double arrays) {
  const std::size_t words = bytes / sizeof(uint4);
  Buffer<uint4> a(words);
  Buffer<uint4> b(words);
  Buffer<uint4> c(words);
  Buffer<unsigned> sink(1);
  const int sms = report.device().sms;
  const Spread us = time_us(10, [&](cudaStream_t on) {
    stream<kAccess><<<4 * sms, kStreamThreads, 0, on>>>(a.get(), b.get(), c.get(), words, passes, sink.get());
  });
  Measurement row;
  row.category = "MEM";
  row.kernel = name;
  row.metric = "bandwidth";
  row.value = gb_per_s(arrays * static_cast<double>(bytes) * passes, us.median);
  row.unit = "GB/s";
  row.dims_other = std::string("where=") + where + ";bytes_of_array=" + std::to_string(bytes) + ";passes=" + std::to_string(passes);
  report.add(row);
}

}  // namespace

void measure_memory(Report& report) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  const std::size_t l2 = report.device().l2_bytes;
  measure_latency<true>(report, "L1", 16 << 10, 20000, Warm::kYes);
  measure_latency<false>(report, "L2", 2 * kMiB, 20000, Warm::kYes);
  measure_latency<false>(report, "DRAM", 32 * kMiB, 20000, Warm::kNo);
  measure_latency<false>(report, "DRAM", 512 * kMiB, 20000, Warm::kNo);

  const std::size_t in_l2 = l2 / 8;
  measure_bandwidth<Access::kWrite>(report, "stream init", "L2", in_l2, 50, 1);
  measure_bandwidth<Access::kRead>(report, "stream read", "DRAM", 1024 * kMiB, 1, 1);
  measure_bandwidth<Access::kWrite>(report, "stream init", "DRAM", 1024 * kMiB, 1, 1);
  measure_bandwidth<Access::kCopy>(report, "stream scale", "DRAM", 1024 * kMiB, 1, 2);
  measure_bandwidth<Access::kTriad>(report, "stream triad", "DRAM", 1024 * kMiB, 1, 3);
}

}  // namespace silicon
