// Mean of a point and its four neighbours through a texture, whose addresses are clamped at the edges.
extern "C" __global__ void __launch_bounds__(256) texture_blur(cudaTextureObject_t image, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float u = x + 0.5f, v = y + 0.5f;
  const float sum = tex2D<float>(image, u, v) + tex2D<float>(image, u - 1, v) + tex2D<float>(image, u + 1, v) +
                    tex2D<float>(image, u, v - 1) + tex2D<float>(image, u, v + 1);
  out[y * width + x] = sum * 0.2f;
}
