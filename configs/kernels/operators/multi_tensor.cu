// Kernels over lists of tensors in FP32, as optimisers launch them: multi_tensor_apply_kernel of PyTorch and apex. A
// CTA of 512 threads has a chunk of 65,536 elements; a tensor's last chunk may be partial. Here the first `whole`
// chunks are whole and the others have `part` elements, side by side in each array.
//
//   chunks_adam: NVIDIA/apex @004da4e, csrc/multi_tensor_adam.cu, AdamFunctor with decoupled weight decay. Four single
//     elements a turn, 512 apart; elements behind the chunk's end are zeros.
//   chunks_add, chunks_scale: pytorch/pytorch @v2.4, aten/src/ATen/native/cuda/ForeachFunctors.cuh,
//     BinaryOpListAlphaFunctor and BinaryOpScalarFunctor, in place. assumed: tensors that are whole vectors of 16
//     bytes, as weights mostly are.
//   Left out: the look-up of a CTA's tensor and chunk in the arguments, of which each CTA has one.
//
//   nvcc -O3 -std=c++17 -arch=sm_80 -ptx -o multi_tensor.ptx multi_tensor.cu        (CUDA 13.0; then .version 7.8)
//   ptxas -O3 -arch=sm_80 -o multi_tensor.cubin multi_tensor.ptx                     (CUDA 11.8, as nvdisasm)
//   nvdisasm -c -hex multi_tensor.cubin | tr -s " " > multi_tensor_sm_80.sass
#include "operators.cuh"

namespace operators {

constexpr int kChunk = 65536, kThreads = 512, kTogether = 4;

}  // namespace operators

using namespace operators;

#define KERNEL extern "C" __global__ void __launch_bounds__(kThreads)

KERNEL chunks_adam(const float* gradient, float* weights, float* first, float* second, int whole, int part, float rate, float beta1,
                   float beta2, float correction1, float correction2, float epsilon, float decay) {
  const int elements = blockIdx.x < whole ? kChunk : part;
  const int64_t chunk = static_cast<int64_t>(blockIdx.x) * kChunk;
  gradient += chunk;
  weights += chunk;
  first += chunk;
  second += chunk;
  for (int start = 0; start < elements; start += kThreads * kTogether) {
    float g[kTogether], w[kTogether], m[kTogether], v[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int at = start + threadIdx.x + i * kThreads;
      const bool inside = at < elements;
      g[i] = inside ? gradient[at] : 0;
      w[i] = inside ? weights[at] : 0;
      m[i] = inside ? first[at] : 0;
      v[i] = inside ? second[at] : 0;
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      m[i] = beta1 * m[i] + (1 - beta1) * g[i];
      v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
      w[i] -= rate * (m[i] / correction1 / (sqrtf(v[i] / correction2) + epsilon) + decay * w[i]);
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int at = start + threadIdx.x + i * kThreads;
      if (at >= elements) continue;
      weights[at] = w[i];
      first[at] = m[i];
      second[at] = v[i];
    }
  }
}

KERNEL chunks_add(float* x, const float* y, int whole, int part, float alpha) {
  const int elements = blockIdx.x < whole ? kChunk : part;
  const int64_t chunk = static_cast<int64_t>(blockIdx.x) * kChunk;
  for (int at = threadIdx.x; at * kTogether < elements; at += kThreads) {
    Values<float> a = values(load(x + chunk + at * kTogether));
    const Values<float> b = values(load(y + chunk + at * kTogether));
#pragma unroll
    for (int i = 0; i < kTogether; ++i) a.at[i] = fmaf(alpha, b.at[i], a.at[i]);
    store(x + chunk + at * kTogether, a);
  }
}

KERNEL chunks_scale(float* x, int whole, int part, float factor) {
  const int elements = blockIdx.x < whole ? kChunk : part;
  const int64_t chunk = static_cast<int64_t>(blockIdx.x) * kChunk;
  for (int at = threadIdx.x; at * kTogether < elements; at += kThreads) {
    Values<float> a = values(load(x + chunk + at * kTogether));
#pragma unroll
    for (int i = 0; i < kTogether; ++i) a.at[i] *= factor;
    store(x + chunk + at * kTogether, a);
  }
}
