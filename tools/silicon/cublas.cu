// cuBLAS's GEMM (cublasGemmEx), if the library is installed. It is opened at run time, so that the kit builds without it.

#include <dlfcn.h>

#include "tools/silicon/gemm_bench.h"
#include "tools/silicon/rates.h"
#include "tools/silicon/report.h"
#include "tools/silicon/timed_loop.h"

namespace silicon {
namespace {

// Values from cublas_api.h.
constexpr int kSuccess = 0;
constexpr int kTransposed = 1;
constexpr int kPlain = 0;
constexpr int kBf16 = 14;         // CUDA_R_16BF
constexpr int kComputeFp32 = 68;  // CUBLAS_COMPUTE_32F
constexpr int kDefaultAlgorithm = -1;

using Create = int (*)(void**);
using SetStream = int (*)(void*, cudaStream_t);
using GemmEx = int (*)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*,
                       void*, int, int, int, int);

class Cublas {
 public:
  Cublas() {
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"}) {
      if (library_ == nullptr) library_ = dlopen(name, RTLD_NOW);
    }
    if (library_ == nullptr) return;
    const auto create = reinterpret_cast<Create>(dlsym(library_, "cublasCreate_v2"));
    set_stream_ = reinterpret_cast<SetStream>(dlsym(library_, "cublasSetStream_v2"));
    gemm_ = reinterpret_cast<GemmEx>(dlsym(library_, "cublasGemmEx"));
    if (create == nullptr || set_stream_ == nullptr || gemm_ == nullptr || create(&handle_) != kSuccess) handle_ = nullptr;
  }
  bool there() const { return handle_ != nullptr; }

  // cuBLAS is column-major: C^T[n,m] = B[n,k] A[m,k]^T is our row-major C[m,n].
  void multiply(const GemmShape& shape, const GemmData& data, cudaStream_t stream) const {
    const float one = 1;
    const float zero = 0;
    set_stream_(handle_, stream);
    const int status = gemm_(handle_, kTransposed, kPlain, shape.n, shape.m, shape.k, &one, data.b.get(), kBf16, shape.k,
                             data.a.get(), kBf16, shape.k, &zero, data.c.get(), kBf16, shape.n, kComputeFp32, kDefaultAlgorithm);
    if (status != kSuccess) throw std::runtime_error("cuBLAS: status " + std::to_string(status));
  }

 private:
  void* library_ = nullptr;
  void* handle_ = nullptr;
  SetStream set_stream_ = nullptr;
  GemmEx gemm_ = nullptr;
};

__global__ void spin(LoopTime* time, long long cycles) {
  const unsigned long long start_ns = nanoseconds();
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
  *time = {start, clock64(), start_ns, nanoseconds()};
}

// The clock of an SM while products run. A thread that was resident first counts cycles for half of the time of `calls`.
double clock_beside(const Cublas& cublas, const GemmShape& shape, const GemmData& data, int calls, double us) {
  const Stream stream;
  const Stream beside;
  Buffer<LoopTime> time(1);
  spin<<<1, 1, 0, beside.get()>>>(time.get(), static_cast<long long>(0.5 * us * calls * 1600));
  for (int i = 0; i < calls; ++i) cublas.multiply(shape, data, stream.get());
  check(cudaDeviceSynchronize(), "cuBLAS");
  return result_of(time.read(), 1).clock_mhz;
}

}  // namespace

void measure_cublas(Report& report) {
  const Cublas cublas;
  if (!cublas.there()) return;
  for (const GemmShape& shape :
       {GemmShape{2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192}, {8192, 8192, 512}, {1024, 8192, 8192}}) {
    const GemmData data(shape);
    Measurement row;
    row.category = "GEMM";
    row.kernel = "GEMM";
    row.impl = "cuBLAS";
    row.dtype = "bf16";
    row.m = std::to_string(shape.m);
    row.n = std::to_string(shape.n);
    row.k = std::to_string(shape.k);
    row.metric = "median time";
    constexpr int kCalls = 20;  // one after the other, so that no call waits for the host
    const Spread us = time_us(5, [&](cudaStream_t stream) {
      for (int i = 0; i < kCalls; ++i) cublas.multiply(shape, data, stream);
    });
    row.value = us.median / kCalls;
    row.unit = "us";
    row.clock_mhz = clock_beside(cublas, shape, data, 2 * kCalls, row.value);
    row.notes = CsvWriter::number(tflops(gemm_operations(shape.m, shape.n, shape.k), row.value)) + " TFLOPS";
    report.add(row);
  }
}

}  // namespace silicon
