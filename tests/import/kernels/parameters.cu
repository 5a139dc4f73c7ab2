// Parameters of every size: bytes and shorts, a struct by value, doubles.
extern "C" __global__ void __launch_bounds__(256)
    small_parameters(const int* x, int* y, bool negate, signed char shift, short offset, unsigned short scale, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int value = (x[i] >> shift) * scale + offset;
  y[i] = negate ? -value : value;
}

struct ParametersFilter {
  const float* in;
  float* out;
  int n;
  float taps[3];
  short step;
  double bias;
};

extern "C" __global__ void __launch_bounds__(256) struct_parameter(ParametersFilter filter) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= filter.n) return;
  float sum = static_cast<float>(filter.bias);
#pragma unroll
  for (int tap = 0; tap < 3; ++tap) {
    const int at = i + (tap - 1) * filter.step;
    if (at >= 0 && at < filter.n) sum += filter.taps[tap] * filter.in[at];
  }
  filter.out[i] = sum;
}

extern "C" __global__ void __launch_bounds__(256) double_parameter(const double* x, double* y, double a, double b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + b;
}
