// A ring all-reduce as NCCL's simple protocol shapes one, as far as the SM that it runs on can tell: few CTAs of 17 warps, which
// wait for a peer's flag, add a chunk that the peer has written to one of their own and write the sum to the next peer's buffer.
// The link between GPUs is not simulated: how long a flag takes to come is how often it is read (`polls`).
//
//   nvcc -O3 -std=c++17 -arch=sm_80 -cubin -o all_reduce.cubin all_reduce.cu
//   nvdisasm -c -hex all_reduce.cubin | tr -s " " > all_reduce_sm_80.sass
#include <cstdint>

namespace {

constexpr int kMovers = 512;  // threads that move data; the warp behind them posts flags
constexpr int kUnrolled = 8;  // 16 bytes each at a time

}  // namespace

extern "C" __global__ void __launch_bounds__(544)
    all_reduce(const float4* own, const float4* received, float4* sent, volatile int* flags, int chunks, int polls) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * chunks * (kMovers * kUnrolled) + threadIdx.x;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    for (int poll = 0; poll < polls; ++poll) __syncthreads_or(flags[blockIdx.x * 32] == chunk);
    if (threadIdx.x < kMovers) {
      const int64_t begin = first + static_cast<int64_t>(chunk) * (kMovers * kUnrolled);
      float4 sum[kUnrolled];
#pragma unroll
      for (int u = 0; u < kUnrolled; ++u) {
        const float4 a = own[begin + u * kMovers];
        const float4 b = received[begin + u * kMovers];
        sum[u] = {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
      }
#pragma unroll
      for (int u = 0; u < kUnrolled; ++u) sent[begin + u * kMovers] = sum[u];
    }
    __syncthreads();
    if (threadIdx.x == kMovers) flags[blockIdx.x * 32 + 16] = chunk;
  }
}
