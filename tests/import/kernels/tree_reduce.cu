// Maximum of 1,024 values a CTA: a tree in shared memory down to 32 values, shuffles for the last warp.
extern "C" __global__ void __launch_bounds__(256) tree_reduce(const float* x, float* maxima) {
  __shared__ float tree[256];
  const float* at = x + blockIdx.x * 1024 + threadIdx.x;
  tree[threadIdx.x] = fmaxf(fmaxf(at[0], at[256]), fmaxf(at[512], at[768]));
  __syncthreads();
  for (unsigned half = 128; half > 16; half /= 2) {
    if (threadIdx.x < half) tree[threadIdx.x] = fmaxf(tree[threadIdx.x], tree[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    float most = tree[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
    if (threadIdx.x == 0) maxima[blockIdx.x] = most;
  }
}
