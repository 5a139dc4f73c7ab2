// The time at which L2 writes back dirty lines. A kernel fills a part of L2, a pause follows, and then a pass writes or reads
// another array. If L2 wrote back whenever DRAM is idle, a pause would shorten the pass. A reading pass takes longer by the dirty
// lines that its lines evict.

#include "tools/silicon/report.h"
#include "tools/silicon/stream_kernel.h"
#include "tools/silicon/timed_loop.h"

namespace silicon {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

__global__ void pause_of(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

// Writes each word once, and records when each CTA began and ended.
__global__ void __launch_bounds__(512) fill(uint4* array, std::size_t words, LoopTime* times) {
  const unsigned long long start_ns = nanoseconds();
  const long long start = clock64();
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < words;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x)
    array[i] = make_uint4(1, 2, 3, 4);
  __syncthreads();
  if (threadIdx.x == 0) times[blockIdx.x] = {start, clock64(), start_ns, nanoseconds()};
}

// Reads each word once.
__global__ void __launch_bounds__(512) read_once(const uint4* array, std::size_t words, unsigned* sink, LoopTime* times) {
  const unsigned long long start_ns = nanoseconds();
  const long long start = clock64();
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  unsigned all = 0;
#pragma unroll 8
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < words; i += stride) {
    uint4 x;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "l"(array + i));
    all ^= x.x ^ x.y ^ x.z ^ x.w;
  }
  if (all == 0x9e3779b9U) *sink = all;
  __syncthreads();
  if (threadIdx.x == 0) times[blockIdx.x] = {start, clock64(), start_ns, nanoseconds()};
}

double span_us(const std::vector<LoopTime>& times) {
  unsigned long long first = ~0ULL;
  unsigned long long last = 0;
  for (const LoopTime& each : times) {
    first = std::min(first, each.start_ns);
    last = std::max(last, each.end_ns);
  }
  return static_cast<double>(last - first) / 1e3;
}

}  // namespace

void measure_write_back(Report& report) {
  const int ctas = 4 * report.device().sms;
  Buffer<uint4> before(64 * kMiB / sizeof(uint4));
  Buffer<uint4> pass(256 * kMiB / sizeof(uint4));
  Buffer<LoopTime> times(ctas);
  Buffer<unsigned> sink(1);
  const Stream on;
  for (const bool reads : {false, true}) {
    for (const std::size_t dirty :
         {std::size_t{0}, 8 * kMiB, 16 * kMiB, 24 * kMiB, 32 * kMiB, 40 * kMiB, 48 * kMiB, 56 * kMiB, 64 * kMiB}) {
      for (const int pause_us : {0, 10, 50, 200, 1000}) {
        if (dirty == 0 && pause_us != 50) continue;
        std::vector<double> spans;
        for (int run = 0; run < 9; ++run) {
          // 256 MiB of reads leave L2 clean.
          stream<Access::kRead><<<ctas, 512, 0, on.get()>>>(pass.get(), nullptr, nullptr, pass.count(), 1, sink.get());
          if (dirty > 0) fill<<<ctas, 512, 0, on.get()>>>(before.get(), dirty / sizeof(uint4), times.get());
          if (pause_us > 0) pause_of<<<1, 1, 0, on.get()>>>(1980LL * pause_us);
          if (reads)
            read_once<<<ctas, 512, 0, on.get()>>>(pass.get(), 64 * kMiB / sizeof(uint4), sink.get(), times.get());
          else
            fill<<<ctas, 512, 0, on.get()>>>(pass.get(), 64 * kMiB / sizeof(uint4), times.get());
          check(cudaGetLastError(), "write_back");
          check(cudaStreamSynchronize(on.get()), "write_back");
          spans.push_back(span_us(times.read()));
        }
        Measurement row;
        row.category = "MEM";
        row.kernel = reads ? "64 MiB read behind others" : "64 MiB written behind others";
        row.metric = "time from the first CTA's start to the last one's end";
        row.value = spread_of(spans).median;
        row.unit = "us";
        row.dims_other = "dirty_bytes=" + std::to_string(dirty) + ";pause_us=" + std::to_string(pause_us);
        report.add(row);
      }
    }
  }
}

}  // namespace silicon
