#pragma once

#include "tools/silicon/philox_bits.h"
#include "tools/silicon/sm_work.h"

namespace silicon {

constexpr int kPhiloxThreads = 128;      // one warp on each sub-core
constexpr unsigned kPassesOfPiece = 16;  // stored words per thread and piece of work

// CTAs take pieces until `pieces` are taken or another kernel stops them. Each thread stores one word of keep bits per pass.
template <int kRounds, int kBits>
__global__ void __launch_bounds__(kPhiloxThreads)
    philox_kernel(std::uint32_t* out, unsigned pieces, unsigned threshold, SmRange sms, SmWork* own, SmWork* other) {
  if (!may_run(sms)) return;
  __shared__ unsigned piece;
  const long long start = clock64();
  const unsigned long long start_ns = nanoseconds();
  begin_work(*own, other);
  while (true) {
    if (threadIdx.x == 0) {
      const bool stopped = *reinterpret_cast<volatile unsigned*>(&own->stop) != 0;
      piece = stopped ? pieces : atomicAdd(&own->next, 1U);
    }
    __syncthreads();
    const unsigned mine = piece;
    __syncthreads();
    if (mine >= pieces) break;
    std::uint32_t* words = out + (mine % 4096) * kPassesOfPiece * kPhiloxThreads + threadIdx.x;
    for (unsigned pass = 0; pass < kPassesOfPiece; ++pass)
      words[pass * kPhiloxThreads] = keep_word<kRounds, kBits>(mine * kPhiloxThreads + threadIdx.x, pass, threshold);
    finish_piece(*own, nullptr, pieces);
  }
  end_work(*own, start, start_ns);
}

constexpr std::size_t kPhiloxWords = std::size_t{4096} * kPassesOfPiece * kPhiloxThreads;

// Philox calls of a warp per piece.
template <int kBits>
constexpr double calls_of_piece() {
  return kPassesOfPiece * (kBits / 4.0);  // 32 / (4 x 32 / bits) calls per pass
}

}  // namespace silicon
