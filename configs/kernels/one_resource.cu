// Kernels that use one resource of a GPU and as little as they can of the others, for measurements of two kernels beside each
// other: the FP32 or the FP64 pipe with 1 to 4 independent chains of multiplications a warp, L1 (each CTA copies a region of its
// own again and again), L2 or DRAM (the grid copies an array again and again). What each measures: docs/validation/arbiter.md.
//
//   nvcc -O3 -std=c++17 -arch=sm_89 -cubin -o one_resource.cubin one_resource.cu
//   nvdisasm -c -hex one_resource.cubin | tr -s " " > one_resource_sm_89.sass
#include <cstdint>

namespace {

// `chains` products of one factor, each of which waits for the one before it.
template <int chains, typename T>
__device__ void multiply(const T* factors, T* products, int64_t trips) {
  const T factor = factors[threadIdx.x];
  T product[chains];
  for (int c = 0; c < chains; ++c) product[c] = T(c + 1);
  for (int64_t trip = 0; trip < trips; ++trip)
    for (int c = 0; c < chains; ++c) product[c] = product[c] * factor;
  T sum = 0;
  for (int c = 0; c < chains; ++c) sum += product[c];
  products[threadIdx.x] = sum;
}

}  // namespace

extern "C" {

__global__ void multiply_fp32_4(const float* factors, float* products, int64_t trips) { multiply<4>(factors, products, trips); }
__global__ void multiply_fp64_1(const double* factors, double* products, int64_t trips) { multiply<1>(factors, products, trips); }
__global__ void multiply_fp64_2(const double* factors, double* products, int64_t trips) { multiply<2>(factors, products, trips); }
__global__ void multiply_fp64_3(const double* factors, double* products, int64_t trips) { multiply<3>(factors, products, trips); }
__global__ void multiply_fp64_4(const double* factors, double* products, int64_t trips) { multiply<4>(factors, products, trips); }

// Each CTA copies `elements` of a region of `stride` elements.
__global__ void copy_by_cta(float* in, float* out, int64_t elements, int64_t trips, int stride) {
  const int begin = blockIdx.x * stride;
  const int end = begin + elements;
  for (int trip = 0; trip < trips; ++trip)
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x) out[i] = in[i];
}

// The grid copies `elements`.
__global__ void copy_by_grid(float* in, float* out, int64_t elements, int64_t trips) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t trip = 0; trip < trips; ++trip)
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step) out[i] = in[i];
}

}  // extern "C"
