// Bandwidth of DRAM by the share of writes, and by the number of consecutive bytes that are read or written.

#include "tools/silicon/rates.h"
#include "tools/silicon/report.h"

namespace silicon {
namespace {

constexpr int kThreads = 512;
constexpr int kAhead = 8;
constexpr std::size_t kBytes = std::size_t{1} << 30;  // size of each of the two arrays

// A pseudo-random hundredth for each run, so that reads and writes have no order.
__device__ unsigned hundredth(unsigned run) {
  run = (run ^ run >> 16) * 0x7feb352dU;
  run = (run ^ run >> 15) * 0x846ca68bU;
  return (run ^ run >> 16) % 100;
}

// Reads each run of words from one array, or writes it to the other.
__global__ void __launch_bounds__(kThreads)
    mix(const uint4* from, uint4* to, unsigned words_of_run, unsigned percent_written, unsigned* sink) {
  constexpr std::size_t kWords = kBytes / sizeof(uint4);
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  unsigned all = 0;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < kWords; i += stride * kAhead) {
    uint4 x[kAhead];
    bool writes[kAhead];
#pragma unroll
    for (int w = 0; w < kAhead; ++w) {
      const std::size_t at = i + w * stride;
      x[w] = make_uint4(1, 2, 3, 4);
      writes[w] = hundredth(static_cast<unsigned>(at / words_of_run)) < percent_written;
      if (at < kWords && !writes[w])
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[w].x), "=r"(x[w].y), "=r"(x[w].z), "=r"(x[w].w)
                     : "l"(from + at));
    }
#pragma unroll
    for (int w = 0; w < kAhead; ++w) {
      const std::size_t at = i + w * stride;
      if (at < kWords && writes[w]) to[at] = x[w];
      all ^= x[w].x ^ x[w].y ^ x[w].z ^ x[w].w;
    }
  }
  if (all == 0x9e3779b9U) *sink = all;
}

// One CTA per 16 KiB, as most passes over arrays are written: each word is read from `kRead` arrays and written to `kWritten`.
constexpr int kPassThreads = 256;
constexpr int kPassAhead = 4;

template <int kRead, int kWritten>
__global__ void __launch_bounds__(kPassThreads) pass(const uint4* a, const uint4* b, uint4* c, unsigned* sink) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kPassThreads * kPassAhead + threadIdx.x;
  uint4 x[kPassAhead];
#pragma unroll
  for (int w = 0; w < kPassAhead; ++w) {
    x[w] = make_uint4(1, 2, 3, 4);
    if constexpr (kRead > 0) x[w] = a[first + w * kPassThreads];
    if constexpr (kRead > 1) {
      const uint4 y = b[first + w * kPassThreads];
      x[w] = make_uint4(x[w].x + y.x, x[w].y + y.y, x[w].z + y.z, x[w].w + y.w);
    }
  }
  unsigned all = 0;
#pragma unroll
  for (int w = 0; w < kPassAhead; ++w) {
    if constexpr (kWritten > 0) c[first + w * kPassThreads] = x[w];
    all ^= x[w].x ^ x[w].y ^ x[w].z ^ x[w].w;
  }
  if (kWritten == 0 && all == 0x9e3779b9U) *sink = all;
}

template <int kRead, int kWritten>
void measure_pass(Report& report, const Buffer<uint4>& a, const Buffer<uint4>& b, Buffer<uint4>& c, Buffer<unsigned>& sink) {
  constexpr int kLaunches = 10;
  constexpr auto kCtas = static_cast<unsigned>(kBytes / sizeof(uint4) / kPassThreads / kPassAhead);
  const Spread us = time_us(5, [&](cudaStream_t on) {
    for (int i = 0; i < kLaunches; ++i)
      pass<kRead, kWritten><<<kCtas, kPassThreads, 0, on>>>(a.get(), b.get(), c.get(), sink.get());
  });
  Measurement row;
  row.category = "MEM";
  row.kernel = "pass of short CTAs";
  row.metric = "bandwidth";
  row.value = gb_per_s(static_cast<double>(kBytes) * (kRead + kWritten) * kLaunches, us.median);
  row.unit = "GB/s";
  row.dims_other = "arrays_read=" + std::to_string(kRead) + ";arrays_written=" + std::to_string(kWritten) +
                   ";bytes_of_array=" + std::to_string(kBytes);
  report.add(row);
}

}  // namespace

void measure_dram_mix(Report& report) {
  Buffer<uint4> from(kBytes / sizeof(uint4));
  Buffer<uint4> to(kBytes / sizeof(uint4));
  Buffer<unsigned> sink(1);
  constexpr int kLaunches = 10;  // each launch but the first writes back the dirty lines that L2 keeps of the previous one
  for (const unsigned bytes_of_run : {512U, 4096U, 65536U}) {
    for (const unsigned percent : {0U, 10U, 25U, 33U, 50U, 75U, 100U}) {
      const Spread us = time_us(5, [&](cudaStream_t on) {
        for (int i = 0; i < kLaunches; ++i)
          mix<<<4 * report.device().sms, kThreads, 0, on>>>(from.get(), to.get(), bytes_of_run / 16, percent, sink.get());
      });
      Measurement row;
      row.category = "MEM";
      row.kernel = "stream of reads and writes";
      row.metric = "bandwidth";
      row.value = gb_per_s(static_cast<double>(kBytes) * kLaunches, us.median);
      row.unit = "GB/s";
      row.dims_other = "percent_written=" + std::to_string(percent) + ";bytes_of_run=" + std::to_string(bytes_of_run) +
                       ";bytes_of_array=" + std::to_string(kBytes);
      report.add(row);
    }
  }
  Buffer<uint4> second(kBytes / sizeof(uint4));
  measure_pass<1, 0>(report, from, second, to, sink);
  measure_pass<2, 0>(report, from, second, to, sink);
  measure_pass<0, 1>(report, from, second, to, sink);
  measure_pass<1, 1>(report, from, second, to, sink);
  measure_pass<2, 1>(report, from, second, to, sink);
}

}  // namespace silicon
