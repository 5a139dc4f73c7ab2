// The nearest of up to 64 centroids in four dimensions, for each point.
extern "C" __global__ void __launch_bounds__(256)
    kmeans_assign(const float4* points, const float4* centroids, int* nearest, int clusters, int n) {
  __shared__ float4 shared[64];
  if (threadIdx.x < clusters) shared[threadIdx.x] = centroids[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 p = points[i];
  float least = INFINITY;
  int best = 0;
  for (int cluster = 0; cluster < clusters; ++cluster) {
    const float4 c = shared[cluster];
    const float dx = p.x - c.x, dy = p.y - c.y, dz = p.z - c.z, dw = p.w - c.w;
    const float distance = dx * dx + dy * dy + dz * dz + dw * dw;
    if (distance < least) {
      least = distance;
      best = cluster;
    }
  }
  nearest[i] = best;
}
