// Points in a square that lie within the circle: xorshift, a warp's ballot, one atomic a CTA.
__host__ __device__ inline unsigned monte_carlo_next(unsigned& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

__host__ __device__ inline bool monte_carlo_inside(unsigned& state) {
  const float x = (monte_carlo_next(state) >> 8) * 0x1p-24f;
  const float y = (monte_carlo_next(state) >> 8) * 0x1p-24f;
  return x * x + y * y < 1;
}

extern "C" __global__ void __launch_bounds__(256) monte_carlo_pi(unsigned long long* inside, unsigned seed, int points) {
  __shared__ unsigned of_cta;
  if (threadIdx.x == 0) of_cta = 0;
  __syncthreads();
  unsigned state = (blockIdx.x * blockDim.x + threadIdx.x + 1) * 2654435761u ^ seed;
  unsigned of_warp = 0;
  for (int i = 0; i < points; ++i) of_warp += __popc(__ballot_sync(0xffffffff, monte_carlo_inside(state)));
  if (threadIdx.x % 32 == 0) atomicAdd(&of_cta, of_warp);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(inside, static_cast<unsigned long long>(of_cta));
}
