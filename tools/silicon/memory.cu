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

// One thread follows a chain of lines. It first reads a word of each page, so that no step waits for an address translation.
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
  for (int run = 0; run < 2; ++run) {  // the first run fills the cache, unless the cache is flushed before each run
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

constexpr unsigned kSectorBytes = 32;

// Each lane of a warp reads or writes a sector, `kOfLine` sectors per line, in lines that are in L2.
template <int kOfLine, bool kWrites>
__global__ void __launch_bounds__(kStreamThreads) single_sectors(Address first, unsigned lines, unsigned each, unsigned* sink) {
  constexpr unsigned kLines = 32 / kOfLine;  // lines per access of a warp
  const unsigned lane = threadIdx.x % 32;
  const unsigned stride = gridDim.x * blockDim.x / 32 * kLines;
  unsigned line = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * kLines % lines;
  unsigned all = 0;
#pragma unroll 8
  for (unsigned i = 0; i < each; ++i) {
    const Address at = first + (line + lane / kOfLine) * kLineBytes + lane % kOfLine * kSectorBytes;
    if constexpr (kWrites) {
      asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at), "r"(i) : "memory");
      asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at + 16), "r"(i) : "memory");
    } else {
      unsigned x = 0;
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(at));
      all ^= x;
    }
    line += stride;
    if (line >= lines) line %= lines;
  }
  if (all == 0x9e3779b9U) *sink = all;
}

template <int kOfLine, bool kWrites>
void measure_sectors(Report& report) {
  constexpr unsigned kEach = 512;
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  Buffer<uint4> array(kBytes / sizeof(uint4));
  Buffer<unsigned> sink(1);
  const int ctas = 4 * report.device().sms;
  const Spread us = time_us(5, [&](cudaStream_t on) {
    single_sectors<kOfLine, kWrites><<<ctas, kStreamThreads, 0, on>>>(
        reinterpret_cast<Address>(array.get()), static_cast<unsigned>(kBytes / kLineBytes), kEach, sink.get());
  });
  Measurement row;
  row.category = "MEM";
  row.kernel = kWrites ? "sectors written in L2" : "sectors read in L2";
  row.metric = "bandwidth";
  row.value = gb_per_s(static_cast<double>(ctas) * kStreamThreads * kEach * kSectorBytes, us.median);
  row.unit = "GB/s";
  row.dims_other = "sectors_of_line=" + std::to_string(kOfLine) + ";bytes_of_array=" + std::to_string(kBytes);
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
  measure_sectors<1, false>(report);
  measure_sectors<2, false>(report);
  measure_sectors<4, false>(report);
  measure_sectors<1, true>(report);
  measure_sectors<2, true>(report);
  measure_sectors<4, true>(report);
  measure_bandwidth<Access::kRead>(report, "stream read", "DRAM", 1024 * kMiB, 1, 1);
  measure_bandwidth<Access::kWrite>(report, "stream init", "DRAM", 1024 * kMiB, 1, 1);
  measure_bandwidth<Access::kCopy>(report, "stream scale", "DRAM", 1024 * kMiB, 1, 2);
  measure_bandwidth<Access::kTriad>(report, "stream triad", "DRAM", 1024 * kMiB, 1, 3);
}

}  // namespace silicon
