// Reads of doubles alone for a V100, as gpu-stream has it; elementwise.cu has the same for later architectures. What is read is stored where
// it has a value that it never has.
//
//   CUDA 12.4: nvcc -O3 -std=c++17 -arch=sm_70 -cubin -o stream_read.cubin stream_read.cu
//   nvdisasm -c -hex stream_read.cubin | tr -s " " > stream_read_sm_70.sass
#include <cstdint>

extern "C" __global__ void __launch_bounds__(1024) stream_read_fp64(const double* x, double* out, int64_t elements) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= elements) return;
  const double value = x[at];
  if (value == 1.25) out[at] = value;
}
