// Latency and bandwidth of L1, L2 and DRAM.

#include <numeric>
#include <random>

#include "tools/silicon/rates.h"
#include "tools/silicon/report.h"
#include "tools/silicon/timed_loop.h"

namespace silicon {
namespace {

constexpr std::size_t kLine = 128;

struct Walk {
  long long cycles;
  unsigned long long ns;
  unsigned last;
};

// One thread follows a chain of lines that visits each once.
template <bool kThroughL1>
__global__ void follow(const unsigned* next, int steps, Walk* walk) {
  unsigned at = 0;
  const unsigned long long start_ns = nanoseconds();
  const long long start = clock64();
  for (int s = 0; s < steps; ++s) {
    if constexpr (kThroughL1) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(at) : "l"(next + at));
    if constexpr (!kThroughL1) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(next + at));
  }
  *walk = {clock64() - start, nanoseconds() - start_ns, at};
}

// A random cycle through all lines, so that no prefetcher guesses the next one.
std::vector<unsigned> random_cycle(std::size_t bytes) {
  const std::size_t lines = bytes / kLine;
  std::vector<unsigned> order(lines);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin() + 1, order.end(), std::mt19937(1));
  const std::size_t words = kLine / sizeof(unsigned);
  std::vector<unsigned> next(lines * words);
  for (std::size_t i = 0; i < lines; ++i) next[order[i] * words] = static_cast<unsigned>(order[(i + 1) % lines] * words);
  return next;
}

template <bool kThroughL1>
void measure_latency(Report& report, const char* name, std::size_t bytes, int steps) {
  const std::vector<unsigned> chain = random_cycle(bytes);
  Buffer<unsigned> next(chain.size());
  next.write(chain);
  Buffer<Walk> walk(1);
  for (int run = 0; run < 2; ++run) {  // the first one fills the cache
    follow<kThroughL1><<<1, 1>>>(next.get(), steps, walk.get());
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

enum class Access { kRead, kWrite, kCopy, kTriad };

// Grid-stride over 16-byte words, `passes` times over the same.
template <Access kAccess>
__global__ void stream(const uint4* a, const uint4* b, uint4* c, std::size_t words, int passes, unsigned* sink) {
  unsigned all = 0;
  for (int p = 0; p < passes; ++p) {
    for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < words;
         i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
      uint4 x = make_uint4(1, 2, 3, static_cast<unsigned>(p));
      if constexpr (kAccess != Access::kWrite)
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "l"(a + i));
      if constexpr (kAccess == Access::kTriad) {
        const uint4 y = b[i];
        x = make_uint4(x.x + 3 * y.x, x.y + 3 * y.y, x.z + 3 * y.z, x.w + 3 * y.w);
      }
      if constexpr (kAccess == Access::kRead) all ^= x.x ^ x.y ^ x.z ^ x.w;
      if constexpr (kAccess != Access::kRead) c[i] = x;
    }
  }
  if (all == 0x9e3779b9U) *sink = all;
}

template <Access kAccess>
void measure_bandwidth(Report& report, const char* name, const char* where, std::size_t bytes, int passes, double arrays) {
  const std::size_t words = bytes / sizeof(uint4);
  Buffer<uint4> a(words);
  Buffer<uint4> b(words);
  Buffer<uint4> c(words);
  Buffer<unsigned> sink(1);
  const int sms = report.device().sms;
  const Spread us = time_us(
      10, [&](cudaStream_t on) { stream<kAccess><<<4 * sms, 512, 0, on>>>(a.get(), b.get(), c.get(), words, passes, sink.get()); });
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
  measure_latency<true>(report, "L1", 16 << 10, 20000);
  measure_latency<false>(report, "L2", l2 / 8, 20000);
  measure_latency<false>(report, "DRAM", 8 * l2, 20000);

  const std::size_t in_l2 = l2 / 8;
  measure_bandwidth<Access::kRead>(report, "stream read", "L2", in_l2, 50, 1);
  measure_bandwidth<Access::kWrite>(report, "stream init", "L2", in_l2, 50, 1);
  measure_bandwidth<Access::kRead>(report, "stream read", "DRAM", 1024 * kMiB, 1, 1);
  measure_bandwidth<Access::kWrite>(report, "stream init", "DRAM", 1024 * kMiB, 1, 1);
  measure_bandwidth<Access::kCopy>(report, "stream scale", "DRAM", 1024 * kMiB, 1, 2);
  measure_bandwidth<Access::kTriad>(report, "stream triad", "DRAM", 1024 * kMiB, 1, 3);
}

}  // namespace silicon
