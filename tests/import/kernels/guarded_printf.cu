// Square roots, with a message where a number has none.
#include <cstdio>

extern "C" __global__ void __launch_bounds__(256) guarded_printf(const float* x, float* roots, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float value = x[i];
  if (value < 0) printf("x[%d] is %f\n", i, value);
  roots[i] = sqrtf(value);
}
