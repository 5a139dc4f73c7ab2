// Our own GEMM alone: timed, and refused where it is not what sums in double say.

#include <cmath>
#include <random>
#include <stdexcept>

#include "tools/silicon/gemm_bench.h"
#include "tools/silicon/gemm_kernel.h"
#include "tools/silicon/rates.h"
#include "tools/silicon/report.h"

namespace silicon {

namespace {

__device__ unsigned mixed(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352dU;
  x = (x ^ x >> 15) * 0x846ca68bU;
  return x ^ x >> 16;
}

__global__ void random_values(__nv_bfloat16* values, std::size_t count, unsigned seed) {
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    unsigned x = mixed(static_cast<unsigned>(i) ^ mixed(seed));
    values[i] = __float2bfloat16(static_cast<float>(x >> 8) / 8388608.0F - 1.0F);
  }
}

void run(const GemmShape& shape, const GemmData& data, const Device& device, SmWork* work, cudaStream_t stream) {
  gemm_kernel<<<device.sms, kGemmThreads, kGemmSharedBytes, stream>>>(data.a.get(), data.b.get(), data.c.get(), shape.m, shape.n,
                                                                      shape.k, 1, {0, device.sms}, work, nullptr);
  check(cudaGetLastError(), "GEMM");
}

void measure(Report& report, const GemmShape& shape) {
  const GemmData data(shape);
  Buffer<SmWork> work(1);
  std::vector<double> times;
  SmWork is{};
  for (int r = 0; r < 11; ++r) {
    work.write({fresh_work()});
    run(shape, data, report.device(), work.get(), nullptr);
    check(cudaDeviceSynchronize(), "GEMM");
    is = work.read().front();
    if (r > 0) times.push_back(static_cast<double>(is.end_ns - is.start_ns) / 1e3);
  }
  check_product(shape, data);
  Measurement row;
  row.category = "GEMM";
  row.kernel = "GEMM";
  row.impl = "silicon kit, wgmma and cp.async";
  row.dtype = "bf16";
  row.m = std::to_string(shape.m);
  row.n = std::to_string(shape.n);
  row.k = std::to_string(shape.k);
  row.metric = "median time";
  row.value = spread_of(times).median;
  row.unit = "us";
  row.set = "tile_m=128 tile_n=128 tile_k=64 cluster_m=1 cluster_n=1 persistent=true";
  row.clock_mhz = mhz_of(static_cast<double>(is.cycles), static_cast<double>(is.ns));
  row.notes = CsvWriter::number(tflops(gemm_operations(shape.m, shape.n, shape.k), row.value)) + " TFLOPS";
  report.add(row);
}

}  // namespace

void fill_random(__nv_bfloat16* values, std::size_t count, unsigned seed) {
  random_values<<<1024, 256>>>(values, count, seed);
  check(cudaGetLastError(), "random numbers");
}

GemmData::GemmData(const GemmShape& shape)
    : a(static_cast<std::size_t>(shape.m) * shape.k),
      b(static_cast<std::size_t>(shape.n) * shape.k),
      c(static_cast<std::size_t>(shape.m) * shape.n) {
  std::random_device fresh;
  fill_random(a.get(), a.count(), fresh());
  fill_random(b.get(), b.count(), fresh());
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
  for (int sample = 0; sample < 1000; ++sample) {
    const std::size_t row = static_cast<std::size_t>(sample) * 7919 % shape.m;
    const std::size_t column = static_cast<std::size_t>(sample) * 104729 % shape.n;
    double sum = 0;
    for (int i = 0; i < shape.k; ++i)
      sum += static_cast<double>(__bfloat162float(a[row * shape.k + i])) *
             static_cast<double>(__bfloat162float(b[column * shape.k + i]));
    const double off = std::abs(static_cast<double>(__bfloat162float(c[row * shape.n + column])) - sum);
    if (off > std::abs(sum) / 256 + 1e-4 * std::sqrt(shape.k))
      throw std::runtime_error("the kit's own GEMM is wrong by " + std::to_string(off) + " of " + std::to_string(sum));
  }
}

void measure_gemm(Report& report) {
  if (report.device().compute != 90) return;
  prepare_shared_memory(gemm_kernel, kGemmSharedBytes);
  for (const GemmShape& shape :
       {GemmShape{2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192}, {8192, 8192, 512}, {1024, 8192, 8192}})
    measure(report, shape);
}

}  // namespace silicon
