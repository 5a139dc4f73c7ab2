// Every thread adds its value to the same number.
extern "C" __global__ void __launch_bounds__(256) atomic_one(const float* x, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, x[i]);
}
