// Each CTA sorts 1,024 keys in shared memory.
extern "C" __global__ void __launch_bounds__(512) bitonic_sort(const unsigned* keys, unsigned* in_order) {
  __shared__ unsigned sorted[1024];
  const unsigned* from = keys + blockIdx.x * 1024;
  unsigned* to = in_order + blockIdx.x * 1024;
  const unsigned thread = threadIdx.x;
  sorted[thread] = from[thread];
  sorted[thread + 512] = from[thread + 512];
  for (unsigned size = 2; size <= 1024; size *= 2) {
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const unsigned low = 2 * thread - (thread & (stride - 1));
      const unsigned a = sorted[low], b = sorted[low + stride];
      const bool ascending = (low & size) == 0;
      if ((a > b) == ascending) {
        sorted[low] = b;
        sorted[low + stride] = a;
      }
    }
  }
  __syncthreads();
  to[thread] = sorted[thread];
  to[thread + 512] = sorted[thread + 512];
}
