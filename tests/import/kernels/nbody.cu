// Accelerations of bodies by all bodies in FP32, tiles of them in shared memory.
constexpr int kNbodyTile = 128;

extern "C" __global__ void __launch_bounds__(kNbodyTile)
    nbody_fp32(const float4* __restrict__ bodies, float4* __restrict__ forces, int n, float softening) {
  __shared__ float4 tile[kNbodyTile];
  const float4 own = bodies[blockIdx.x * kNbodyTile + threadIdx.x];
  float ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += kNbodyTile) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < kNbodyTile; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
      const float pull = other.w * inverse * inverse * inverse;
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    __syncthreads();
  }
  forces[blockIdx.x * kNbodyTile + threadIdx.x] = make_float4(ax, ay, az, 0);
}

// The same in FP64: each CTA adds the pull of `slice` bodies.
extern "C" __global__ void __launch_bounds__(128)
    nbody_fp64(const double* __restrict__ x, const double* __restrict__ y, const double* __restrict__ z,
               const double* __restrict__ mass, double* __restrict__ potential, int slice, double softening) {
  const int body = blockIdx.x * blockDim.x + threadIdx.x;
  const double own_x = x[body], own_y = y[body], own_z = z[body];
  double sum = 0;
  for (int other = blockIdx.y * slice; other < static_cast<int>(blockIdx.y + 1) * slice; ++other) {
    const double dx = x[other] - own_x, dy = y[other] - own_y, dz = z[other] - own_z;
    sum += mass[other] / sqrt(dx * dx + dy * dy + dz * dz + softening);
  }
  atomicAdd(&potential[body], sum);
}
