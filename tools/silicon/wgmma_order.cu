// The order in which an SM runs the wgmma of two warpgroups that begin together. With one batch each: whether commands complete
// batch after batch or alternate. With rounds of a batch and exponentials, as in attention without turns: whether the warpgroups
// stay in step, or drift apart so that one multiplies while the other does not.

#include "tools/silicon/report.h"
#include "tools/silicon/statistics.h"
#include "tools/silicon/timed_loop.h"
#include "tools/silicon/wgmma.h"

namespace silicon {
namespace {

constexpr int kColumns = 128;
constexpr int kGroups = 2;   // warpgroups
constexpr int kBatch = 8;    // wgmmas, as for the scores of a key block at head_dim 128
constexpr int kRounds = 64;  // rounds of one batch and exponentials
constexpr int kSharedBytes = 65536;

struct Batch {
  long long completed[kGroups][kBatch];
};
struct Rounds {
  long long began[kGroups][kRounds];
};

struct Operands {
  float d[kColumns / 2] = {};
  unsigned r[4] = {0x3c003c00U, 0x3c003c00U, 0x3c003c00U, 0x3c003c00U};
  std::uint64_t a;
  std::uint64_t b;

  __device__ explicit Operands(unsigned* shared)
      : a(descriptor(static_cast<unsigned>(__cvta_generic_to_shared(shared)))),
        b(descriptor(static_cast<unsigned>(__cvta_generic_to_shared(shared + 8192)))) {        // 32 KiB after A
    for (int i = threadIdx.x; i < kSharedBytes / 4; i += blockDim.x) shared[i] = 0x3c003c00U;  // small numbers
  }
  __device__ void multiply() { Wgmma<kColumns, Source::kShared, Type::kBf16>::run(d, r, a, b); }
  __device__ void keep(float* sink) const {
    float all = 0;
    for (int i = 0; i < kColumns / 2; ++i) all += d[i];
    if (all == 1.5F) *sink = all;
  }
};

template <int kLeft>
__device__ void wait_each(long long (&completed)[kBatch]) {
  wgmma_wait<kLeft>();
  completed[kBatch - 1 - kLeft] = clock64();
  if constexpr (kLeft > 0) wait_each<kLeft - 1>(completed);
}

__global__ void __launch_bounds__(kGroups * 128, 1) one_batch_each(Batch* batches, float* sink) {
  extern __shared__ __align__(1024) unsigned shared[];
  Operands operands(shared);
  long long completed[kBatch];
  for (int run = 0; run < 2; ++run) {  // the first run fetches the code
    __syncthreads();
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      operands.multiply();
      wgmma_commit();
    }
    wait_each<kBatch - 1>(completed);
  }
  if (threadIdx.x % 128 == 0) {
    for (int i = 0; i < kBatch; ++i) batches[blockIdx.x].completed[threadIdx.x / 128][i] = completed[i];
  }
  operands.keep(sink);
}

__global__ void __launch_bounds__(kGroups * 128, 1) rounds_each(Rounds* rounds, float* sink, int exponentials) {
  extern __shared__ __align__(1024) unsigned shared[];
  Operands operands(shared);
  float value[8];
  for (int i = 0; i < 8; ++i) value[i] = static_cast<float>(threadIdx.x + i) * 1e-3F;
  __syncthreads();
  for (int round = 0; round < kRounds; ++round) {
    if (threadIdx.x % 128 == 0) rounds[blockIdx.x].began[threadIdx.x / 128][round] = clock64();
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < kBatch; ++i) operands.multiply();
    wgmma_commit();
    wgmma_wait<0>();
    for (int e = 0; e < exponentials; e += 8) {
#pragma unroll
      for (int i = 0; i < 8; ++i) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(value[i]));
    }
  }
  float all = 0;
  for (int i = 0; i < 8; ++i) all += value[i];
  if (all == 1.5F) *sink = all;
  operands.keep(sink);
}

Measurement row(const std::string& metric, double value, const std::string& unit) {
  Measurement is;
  is.category = "WGMMA";
  is.kernel = "wgmma m64n" + std::to_string(kColumns) + "k16, two warpgroups";
  is.dtype = "bf16";
  is.metric = metric;
  is.value = value;
  is.unit = unit;
  return is;
}

void measure_batches(Report& report) {
  const int sms = report.device().sms;
  Buffer<Batch> batches(sms);
  Buffer<float> sink(1);
  check(cudaFuncSetAttribute(one_batch_each, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes), "shared memory");
  one_batch_each<<<sms, kGroups * 128, kSharedBytes>>>(batches.get(), sink.get());
  check(cudaGetLastError(), "wgmma_order");
  check(cudaDeviceSynchronize(), "wgmma_order");
  std::vector<double> changes;
  std::vector<double> apart;
  for (const Batch& batch : batches.read()) {
    const std::vector<long long> first(batch.completed[0], batch.completed[0] + kBatch);
    const std::vector<long long> second(batch.completed[1], batch.completed[1] + kBatch);
    changes.push_back(changes_between(first, second));
    apart.push_back(static_cast<double>(std::abs(first.back() - second.back())));
  }
  Measurement is = row("changes of warpgroup in the order of completion", spread_of(changes).median, "changes");
  is.dims_other = "batch=" + std::to_string(kBatch);
  is.notes = "1: batch after batch; " + std::to_string(kGroups * kBatch - 1) + ": in turn";
  report.add(is);
  is = row("cycles between the ends of the batches", spread_of(apart).median, "cycles");
  is.dims_other = "batch=" + std::to_string(kBatch);
  report.add(is);
}

// `exponentials`: per thread, between two batches.
void measure_rounds(Report& report, int exponentials) {
  const int sms = report.device().sms;
  Buffer<Rounds> rounds(sms);
  Buffer<float> sink(1);
  check(cudaFuncSetAttribute(rounds_each, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes), "shared memory");
  for (int run = 0; run < 2; ++run) {
    rounds_each<<<sms, kGroups * 128, kSharedBytes>>>(rounds.get(), sink.get(), exponentials);
    check(cudaGetLastError(), "wgmma_order");
    check(cudaDeviceSynchronize(), "wgmma_order");
  }
  const std::vector<Rounds> all = rounds.read();
  for (int round = 1; round < kRounds; round *= 2) {
    std::vector<double> cycles;
    std::vector<double> phases;
    for (const Rounds& each : all) {
      cycles.push_back(static_cast<double>(each.began[0][round] - each.began[0][round - 1]));
      phases.push_back(phase_of(static_cast<double>(each.began[1][round] - each.began[0][round]), cycles.back()));
    }
    Measurement is = row("second warpgroup's begin, share of a round", spread_of(phases).median, "share");
    is.dims_other = "exponentials=" + std::to_string(exponentials) + ";round=" + std::to_string(round);
    is.notes = "0: in step, 0.5: half a round apart; a round takes " + CsvWriter::number(spread_of(cycles).median) + " cycles";
    report.add(is);
  }
}

}  // namespace

void measure_wgmma_order(Report& report) {
  if (report.device().compute != 90) return;
  measure_batches(report);
  for (const int exponentials : {0, 32, 64, 128}) measure_rounds(report, exponentials);
}

}  // namespace silicon
