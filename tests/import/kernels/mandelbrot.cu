// Iterations until a point leaves the circle of radius two.
extern "C" __global__ void __launch_bounds__(256)
    mandelbrot(int* iterations, int width, int height, float left, float top, float step, int limit) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float cr = left + step * x, ci = top - step * y;
  float zr = 0, zi = 0;
  int i = 0;
  for (; i < limit; ++i) {
    const float rr = zr * zr, ii = zi * zi;
    if (rr + ii > 4) break;
    zi = 2 * zr * zi + ci;
    zr = rr - ii + cr;
  }
  iterations[y * width + x] = i;
}
