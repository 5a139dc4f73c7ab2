// Seven-point stencil of a volume: a CTA walks along z with a plane of 32 x 8 points and its border in shared memory.
constexpr int kStencilX = 32, kStencilY = 8;

extern "C" __global__ void __launch_bounds__(256)
    stencil_3d(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz, int planes) {
  __shared__ float plane[kStencilY + 2][kStencilX + 2];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * kStencilX + tx, y = blockIdx.y * kStencilY + ty;
  const int area = nx * ny;
  const int first = max(blockIdx.z * planes, 1u), last = min((blockIdx.z + 1) * planes, nz - 1u);
  const float* at = in + first * area + y * nx + x;
  float* to = out + first * area + y * nx + x;
  const bool inside = x > 0 && y > 0 && x < nx - 1 && y < ny - 1;
  float below = at[-area], centre = at[0];
  for (int z = first; z < last; ++z) {
    const float above = at[area];
    plane[ty + 1][tx + 1] = centre;
    if (tx == 0 && x > 0) plane[ty + 1][0] = at[-1];
    if (tx == kStencilX - 1 && x < nx - 1) plane[ty + 1][kStencilX + 1] = at[1];
    if (ty == 0 && y > 0) plane[0][tx + 1] = at[-nx];
    if (ty == kStencilY - 1 && y < ny - 1) plane[kStencilY + 1][tx + 1] = at[nx];
    __syncthreads();
    if (inside) {
      *to = 0.5f * centre +
            (plane[ty + 1][tx] + plane[ty + 1][tx + 2] + plane[ty][tx + 1] + plane[ty + 2][tx + 1] + below + above) / 12;
    }
    __syncthreads();
    below = centre;
    centre = above;
    at += area;
    to += area;
  }
}
