// Persistent CTAs that draw tiles of 4,096 numbers from a counter. The CTA that draws the last ticket of all resets the counter.
extern "C" __global__ void __launch_bounds__(256) ticket_queue(const float4* x, float4* y, unsigned* tickets, unsigned tiles) {
  __shared__ unsigned drawn;
  for (;;) {
    if (threadIdx.x == 0) drawn = atomicAdd(tickets, 1u);
    __syncthreads();
    const unsigned tile = drawn;
    __syncthreads();
    if (tile >= tiles) {
      if (tile == tiles + gridDim.x - 1 && threadIdx.x == 0) *tickets = 0;
      return;
    }
    for (int i = threadIdx.x; i < 1024; i += 256) {
      const float4 v = x[tile * 1024 + i];
      y[tile * 1024 + i] = make_float4(v.x * v.x, v.y * v.y, v.z * v.z, v.w * v.w);
    }
  }
}
