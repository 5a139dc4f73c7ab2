// Quotient and remainder by a divisor known only at run time, of 32 and of 64 bits.
extern "C" __global__ void __launch_bounds__(256) integer_division(const int* x, int2* parts, int divisor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int value = x[i];
  parts[i] = make_int2(value / divisor, value % divisor);
}

extern "C" __global__ void __launch_bounds__(256)
    integer_division_64(const long long* x, long long* quotient, long long divisor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) quotient[i] = x[i] / divisor + x[i] % divisor;
}
