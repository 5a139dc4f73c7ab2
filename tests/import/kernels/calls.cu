// Calls that stay calls: a function that is never inlined, and one that calls itself.
__host__ __device__ __noinline__ float calls_horner(float x, const float* coefficients, int degree) {
  float sum = coefficients[degree];
  for (int i = degree - 1; i >= 0; --i) sum = sum * x + coefficients[i];
  return sum;
}

extern "C" __global__ void __launch_bounds__(256)
    noinline_call(const float* x, const float* coefficients, float* y, int degree, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float value = x[i];
  y[i] = calls_horner(value, coefficients, degree) / (1 + fabsf(calls_horner(-value, coefficients, degree - 1)));
}

__host__ __device__ __noinline__ int calls_fibonacci(int n) { return n < 2 ? n : calls_fibonacci(n - 1) + calls_fibonacci(n - 2); }

extern "C" __global__ void __launch_bounds__(128) recursion(int* y, int depth, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = calls_fibonacci(depth + i % 2);
}

// Calls through a table of functions: the address comes from memory.
__device__ __noinline__ float calls_square(float x) { return x * x; }
__device__ __noinline__ float calls_half(float x) { return 0.5f * x; }
__device__ __noinline__ float calls_logistic(float x) { return 1 / (1 + expf(-x)); }

__device__ float (*const calls_table[3])(float) = {calls_square, calls_half, calls_logistic};

extern "C" __global__ void __launch_bounds__(256)
    indirect_call(const unsigned* codes, const float* x, float* y, int length, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  for (int pass = 0; pass < length; ++pass) value = calls_table[codes[pass]](value);
  y[i] = value;
}
