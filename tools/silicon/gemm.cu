// Our own GEMM alone: timed, and rejected if it differs from sums in double.

#include <cuda_fp8.h>

#include <cmath>
#include <random>
#include <stdexcept>

#include "tools/silicon/gemm_bench.h"
#include "tools/silicon/gemm_tma_kernel.h"
#include "tools/silicon/rates.h"
#include "tools/silicon/report.h"

namespace silicon {

namespace {

__device__ unsigned mixed(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352dU;
  x = (x ^ x >> 15) * 0x846ca68bU;
  return x ^ x >> 16;
}

__device__ float signed_unit(unsigned x) { return static_cast<float>(x >> 8) / 8388608.0F - 1.0F; }

__global__ void random_values(__nv_bfloat16* values, std::size_t count, unsigned seed, Type type) {
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    const unsigned x = mixed(static_cast<unsigned>(i) ^ mixed(seed));
    if (type == Type::kBf16) {
      values[i] = __float2bfloat16(signed_unit(x));
    } else {
      const float2 pair = {signed_unit(x), signed_unit(mixed(x))};
      values[i] = __ushort_as_bfloat16(__nv_cvt_float2_to_fp8x2(pair, __NV_SATFINITE, __NV_E4M3));
    }
  }
}

void fill_random(__nv_bfloat16* values, std::size_t count, unsigned seed, Type type) {
  random_values<<<1024, 256>>>(values, count, seed, type);
  check(cudaGetLastError(), "random numbers");
}

// The product of two words: one product of bf16, or the sum of two of fp8.
double product(__nv_bfloat16 a, __nv_bfloat16 b, Type type) {
  if (type == Type::kBf16) return static_cast<double>(__bfloat162float(a)) * static_cast<double>(__bfloat162float(b));
  const auto half_of = [](__nv_bfloat16 word, int shift) {
    const auto byte = static_cast<__nv_fp8_storage_t>(__bfloat16_as_ushort(word) >> shift);
    return static_cast<double>(__half2float(__half(__nv_cvt_fp8_to_halfraw(byte, __NV_E4M3))));
  };
  return half_of(a, 0) * half_of(b, 0) + half_of(a, 8) * half_of(b, 8);
}

// A tensor map whose box is 128 rows of 64 words of k, in the 128-byte swizzle.
CUtensorMap tensor_map(const __nv_bfloat16* values, int rows, int k) {
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found), "tensor maps");
  if (encode == nullptr || found != cudaDriverEntryPointSuccess) throw std::runtime_error("the driver makes no tensor maps");
  CUtensorMap map{};
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(k), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(k) * sizeof(__nv_bfloat16)};
  const cuuint32_t box[] = {kTileK, kTile};
  const cuuint32_t steps[] = {1, 1};
  const auto made = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
      &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<__nv_bfloat16*>(values), sizes, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (made != CUDA_SUCCESS) throw std::runtime_error("a tensor map: error " + std::to_string(made));
  return map;
}

void measure(Report& report, const GemmShape& shape, GemmKernel (*make)(const GemmShape&, const GemmData&), Type type) {
  const GemmData data(shape, type);
  const GemmKernel gemm = make(shape, data);
  prepare_shared_memory(gemm.kernel, gemm.shared_bytes);
  Buffer<SmWork> work(1);
  std::vector<double> times;
  SmWork is{};
  for (int r = 0; r < 11; ++r) {
    work.write({fresh_work()});
    gemm.launch(report.device().sms, 1, {0, report.device().sms}, work.get(), nullptr, nullptr);
    check(cudaDeviceSynchronize(), "GEMM");
    is = work.read().front();
    if (r > 0) times.push_back(static_cast<double>(is.end_ns - is.start_ns) / 1e3);
  }
  check_product(shape, data);
  Measurement row;
  row.category = "GEMM";
  row.kernel = "GEMM";
  row.impl = gemm.impl;
  const int k = shape.k * elements_of_word(type);
  row.dtype = name_of(type);
  row.m = std::to_string(shape.m);
  row.n = std::to_string(shape.n);
  row.k = std::to_string(k);
  row.metric = "median time";
  row.value = spread_of(times).median;
  row.unit = "us";
  row.set = "tile_m=128 tile_n=128 tile_k=" + std::to_string(kTileK * elements_of_word(type)) +
            " cluster_m=1 cluster_n=1 persistent=true";
  row.clock_mhz = mhz_of(static_cast<double>(is.cycles), static_cast<double>(is.ns));
  row.notes = CsvWriter::number(tflops(gemm_operations(shape.m, shape.n, k), row.value)) + " TFLOPS";
  report.add(row);
}

}  // namespace

GemmData::GemmData(const GemmShape& shape, Type of)
    : type(of),
      a(static_cast<std::size_t>(shape.m) * shape.k),
      b(static_cast<std::size_t>(shape.n) * shape.k),
      c(static_cast<std::size_t>(shape.m) * shape.n) {
  std::random_device fresh;
  fill_random(a.get(), a.count(), fresh(), type);
  fill_random(b.get(), b.count(), fresh(), type);
  check(cudaMemset(c.get(), 0xff, c.count() * sizeof(__nv_bfloat16)), "poison");
  check(cudaDeviceSynchronize(), "random numbers");
}

void check_product(const GemmShape& shape, const GemmData& data) {
  const auto a = data.a.read();
  const auto b = data.b.read();
  const auto c = data.c.read();
  for (const __nv_bfloat16 each : c) {
    if (std::isnan(__bfloat162float(each))) throw std::runtime_error("the kit's own GEMM left an element unwritten");
  }
  // bf16 has fp32 sums. With fp8, tensor cores keep some 14 bits of the sums (DeepSeek-V3, arXiv 2412.19437, section 3.3.2).
  const double kept = data.type == Type::kBf16 ? 1e-4 : 1e-2;
  for (int sample = 0; sample < 1000; ++sample) {
    const std::size_t row = static_cast<std::size_t>(sample) * 7919 % shape.m;
    const std::size_t column = static_cast<std::size_t>(sample) * 104729 % shape.n;
    double sum = 0;
    for (int i = 0; i < shape.k; ++i) sum += product(a[row * shape.k + i], b[column * shape.k + i], data.type);
    const double off = std::abs(static_cast<double>(__bfloat162float(c[row * shape.n + column])) - sum);
    if (off > std::abs(sum) / 256 + kept * std::sqrt(shape.k))
      throw std::runtime_error("the kit's own GEMM is wrong by " + std::to_string(off) + " of " + std::to_string(sum));
  }
}

GemmKernel cp_async_gemm(const GemmShape& shape, const GemmData& data) {
  return {"silicon kit, wgmma and cp.async",
          Type::kBf16,
          reinterpret_cast<const void*>(&gemm_kernel),
          kGemmThreads,
          kGemmSharedBytes,
          [shape, &data](int ctas, int repeats, SmRange sms, SmWork* own, SmWork* other, cudaStream_t stream) {
            gemm_kernel<<<ctas, kGemmThreads, kGemmSharedBytes, stream>>>(data.a.get(), data.b.get(), data.c.get(), shape.m,
                                                                          shape.n, shape.k, repeats, sms, own, other);
            check(cudaGetLastError(), "GEMM");
          }};
}

GemmKernel tma_gemm(const GemmShape& shape, const GemmData& data) {
  const CUtensorMap a = tensor_map(data.a.get(), shape.m, shape.k);
  const CUtensorMap b = tensor_map(data.b.get(), shape.n, shape.k);
  const auto kernel = data.type == Type::kBf16 ? &gemm_tma_kernel<Type::kBf16> : &gemm_tma_kernel<Type::kFp8>;
  return {"silicon kit, wgmma and TMA",
          data.type,
          reinterpret_cast<const void*>(kernel),
          kTmaGemmThreads,
          kGemmSharedBytes,
          [shape, &data, a, b, kernel](int ctas, int repeats, SmRange sms, SmWork* own, SmWork* other, cudaStream_t stream) {
            kernel<<<ctas, kTmaGemmThreads, kGemmSharedBytes, stream>>>(a, b, data.c.get(), shape.m, shape.n, shape.k, repeats, sms,
                                                                        own, other);
            check(cudaGetLastError(), "GEMM");
          }};
}

void measure_gemm(Report& report) {
  if (report.device().compute != 90) return;
  for (const auto make : {tma_gemm, cp_async_gemm}) {
    for (const GemmShape& shape :
         {GemmShape{2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192}, {8192, 8192, 512}, {1024, 8192, 8192}})
      measure(report, shape, make, Type::kBf16);
  }
  measure(report, {8192, 8192, 8192}, tma_gemm, Type::kFp8);
}

}  // namespace silicon
