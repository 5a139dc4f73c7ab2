// Our own GEMM beside a copy from DRAM to DRAM.

#include "tools/silicon/co_run_pair.h"

namespace silicon {
namespace {

constexpr std::size_t kCopyWords = std::size_t{1} << 26;  // words of 16 bytes: 1 GiB, half of the buffer
constexpr unsigned kWordsOfPiece = 4096;                  // words per piece: 64 KiB

// CTAs copy pieces until `pieces` are taken or another kernel stops them, with eight loads per thread in flight.
__global__ void __launch_bounds__(kBesideThreads)
    copy_kernel(std::uint32_t* data, unsigned pieces, unsigned, SmRange sms, SmWork* own, SmWork* other) {
  if (!may_run(sms)) return;
  __shared__ unsigned piece;
  const long long start = clock64();
  const unsigned long long start_ns = nanoseconds();
  begin_work(*own, other);
  auto* words = reinterpret_cast<uint4*>(data);
  while (true) {
    if (threadIdx.x == 0) {
      const bool stopped = *reinterpret_cast<volatile unsigned*>(&own->stop) != 0;
      piece = stopped ? pieces : atomicAdd(&own->next, 1U);
    }
    __syncthreads();
    const unsigned mine = piece;
    __syncthreads();
    if (mine >= pieces) break;
    const uint4* from = words + mine % (kCopyWords / kWordsOfPiece) * kWordsOfPiece + threadIdx.x;
    for (unsigned at = 0; at < kWordsOfPiece; at += 8 * kBesideThreads) {
      uint4 x[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) x[i] = __ldcs(from + at + i * kBesideThreads);
#pragma unroll
      for (int i = 0; i < 8; ++i) __stcs(words + kCopyWords + (from - words) + at + i * kBesideThreads, x[i]);
    }
    finish_piece(*own, nullptr, pieces);
  }
  end_work(*own, start, start_ns);
}

}  // namespace

void measure_co_run_memory(Report& report) {
  if (report.device().compute != 90) return;
  const GemmData data(kCoRunShape);
  const GemmKernel gemm = tma_gemm(kCoRunShape, data);
  Buffer<std::uint32_t> arrays(2 * 4 * kCopyWords);
  CoRunPair pair(report, gemm, {"copy", copy_kernel, arrays.get(), 0, "bytes_of_piece=" + std::to_string(16 * kWordsOfPiece)});
  for (const Placement& placement : placements(report.device().sms)) {
    for (const int ctas : {1, 2, 4}) pair.measure(placement, ctas);
  }
}

}  // namespace silicon
