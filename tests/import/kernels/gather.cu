// Loads and stores through an array of indices.
extern "C" __global__ void __launch_bounds__(256) gather(const float* x, const int* index, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[index[i]];
}

extern "C" __global__ void __launch_bounds__(256) scatter(const float* x, const int* index, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[index[i]] = x[i];
}
