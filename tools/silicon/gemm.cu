// Our own GEMM alone: checked against sums in double, then timed.

#include <cmath>
#include <stdexcept>

#include "tools/silicon/gemm_bench.h"
#include "tools/silicon/gemm_kernel.h"
#include "tools/silicon/rates.h"
#include "tools/silicon/report.h"

namespace silicon {

namespace {

__global__ void random_values(__nv_bfloat16* values, std::size_t count, unsigned seed) {
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    unsigned x = static_cast<unsigned>(i) * 2654435761U + seed;
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    values[i] = __float2bfloat16(static_cast<float>(x >> 8) / 8388608.0F - 1.0F);
  }
}

void run(const GemmShape& shape, const GemmData& data, const Device& device, SmWork* work, cudaStream_t stream) {
  gemm_kernel<<<device.sms, kGemmThreads, kGemmSharedBytes, stream>>>(data.a.get(), data.b.get(), data.c.get(), shape.m, shape.n,
                                                                      shape.k, {0, device.sms}, work, nullptr);
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
  const double worst = worst_deviation(shape, data);
  if (worst > 0.02) throw std::runtime_error("the kit's own GEMM is wrong by " + std::to_string(worst));
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
  fill_random(a.get(), a.count(), 1);
  fill_random(b.get(), b.count(), 2);
  check(cudaDeviceSynchronize(), "random numbers");
}

double worst_deviation(const GemmShape& shape, const GemmData& data) {
  const auto a = data.a.read();
  const auto b = data.b.read();
  const auto c = data.c.read();
  double worst = 0;
  for (int sample = 0; sample < 200; ++sample) {
    const std::size_t row = static_cast<std::size_t>(sample) * 7919 % shape.m;
    const std::size_t column = static_cast<std::size_t>(sample) * 104729 % shape.n;
    double sum = 0;
    for (int i = 0; i < shape.k; ++i)
      sum += static_cast<double>(__bfloat162float(a[row * shape.k + i])) *
             static_cast<double>(__bfloat162float(b[column * shape.k + i]));
    const double is = static_cast<double>(__bfloat162float(c[row * shape.n + column]));
    worst = std::max(worst, std::abs(is - sum) / std::sqrt(shape.k));
  }
  return worst;
}

void measure_gemm(Report& report) {
  if (report.device().compute != 90) return;
  check(cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kGemmSharedBytes), "shared memory");
  for (const GemmShape& shape :
       {GemmShape{2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192}, {8192, 8192, 512}, {1024, 8192, 8192}})
    measure(report, shape);
}

}  // namespace silicon
