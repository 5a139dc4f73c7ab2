// Between floating point and integers: rounded, truncated, saturated to a byte, and by way of FP64.
extern "C" __global__ void __launch_bounds__(256)
    conversions(const float* x, const int* y, int* rounded, unsigned char* bytes, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float value = x[i];
  rounded[i] = __float2int_rn(value) + static_cast<int>(value);
  bytes[i] = static_cast<unsigned char>(fminf(fmaxf(value, 0), 255));
  sums[i] = static_cast<float>(static_cast<double>(value) + y[i]) + static_cast<float>(static_cast<unsigned>(y[i]) >> 8);
}
