// Fourier transforms of 1,024 points, a CTA each, by radix-2 steps in shared memory. Inputs are stored in bit-reversed order first.
extern "C" __global__ void __launch_bounds__(256) fft_shared(const float2* in, float2* out, float sign) {
  __shared__ float2 points[1024];
  const float2* from = in + blockIdx.x * 1024;
  float2* to = out + blockIdx.x * 1024;
  for (int i = threadIdx.x; i < 1024; i += 256) points[__brev(i) >> 22] = from[i];
  for (int half = 1; half < 1024; half *= 2) {
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += 256) {
      const int place = i & (half - 1);
      const int low = 2 * i - place, high = low + half;
      float sine, cosine;
      sincosf(sign * 3.14159265f * place / half, &sine, &cosine);
      const float2 a = points[low], b = points[high];
      const float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
      points[low] = make_float2(a.x + turned.x, a.y + turned.y);
      points[high] = make_float2(a.x - turned.x, a.y - turned.y);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 1024; i += 256) to[i] = points[i];
}
