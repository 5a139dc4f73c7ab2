// IEEE division and square root in FP32, with the compiler's slow paths for extreme operands.
extern "C" __global__ void __launch_bounds__(256) divide_sqrt(const float* x, const float* y, float* quotient, float* root, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float ratio = x[i] / y[i];
  quotient[i] = ratio;
  root[i] = sqrtf(ratio);
}
