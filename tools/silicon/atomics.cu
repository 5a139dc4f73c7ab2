// Additions in L2 that return the old value (ATOM) or do not (RED): all threads on one address, one address per warp, one per CTA,
// or one per thread.

#include "tools/silicon/rates.h"
#include "tools/silicon/report.h"
#include "tools/silicon/timed_loop.h"

namespace silicon {
namespace {

constexpr int kThreads = 256;
constexpr int kCtasOfSm = 4;
constexpr int kEach = 64;  // per thread

enum class Where { kOne, kOfWarp, kOfCta, kApart };

template <typename Value, bool kReturns>
__device__ void add_to(Value* at, Value& sum) {
  if constexpr (std::is_same_v<Value, float>) {
    if constexpr (kReturns) {
      float old = 0;
      asm volatile("atom.global.add.f32 %0, [%1], 0f3F800000;" : "=f"(old) : "l"(at) : "memory");
      sum += old;
    } else {
      asm volatile("red.global.add.f32 [%0], 0f3F800000;" ::"l"(at) : "memory");
    }
  } else {
    if constexpr (kReturns) {
      unsigned old = 0;
      asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(at) : "memory");
      sum += old;
    } else {
      asm volatile("red.global.add.u32 [%0], 1;" ::"l"(at) : "memory");
    }
  }
}

template <typename Value, bool kReturns>
__global__ void __launch_bounds__(kThreads) additions(Value* values, Where where, LoopTime* times, Value* sink) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  // Addresses of different warps or CTAs are one line apart.
  const std::size_t at = where == Where::kOne      ? 0
                         : where == Where::kOfWarp ? thread / 32 * 32
                         : where == Where::kOfCta  ? blockIdx.x * 32
                                                   : thread;
  Value sum = 0;
  __syncthreads();
  const unsigned long long start_ns = nanoseconds();
  const long long start = clock64();
#pragma unroll 8
  for (int i = 0; i < kEach; ++i) add_to<Value, kReturns>(values + at, sum);
  __syncthreads();
  if (threadIdx.x == 0) times[blockIdx.x] = {start, clock64(), start_ns, nanoseconds()};
  if (sum == Value(0x1e3779b9)) *sink = sum;
}

template <typename Value, bool kReturns>
void measure(Report& report) {
  const int sms = report.device().sms;
  const int ctas = kCtasOfSm * sms;
  Buffer<Value> values(static_cast<std::size_t>(ctas) * kThreads);
  Buffer<LoopTime> times(ctas);
  Buffer<Value> sink(1);
  for (const Where where : {Where::kOne, Where::kOfWarp, Where::kOfCta, Where::kApart}) {
    const Spread us = time_us(5, [&](cudaStream_t on) {
      for (int i = 0; i < 4; ++i)
        additions<Value, kReturns><<<ctas, kThreads, 0, on>>>(values.get(), where, times.get(), sink.get());
    });
    std::vector<double> clocks;
    for (const LoopTime& each : times.read())
      clocks.push_back(mhz_of(static_cast<double>(each.end - each.start), static_cast<double>(each.end_ns - each.start_ns)));
    const double clock = spread_of(clocks).median;
    const double cycles = us.median * clock;
    const double all = 4.0 * ctas * kThreads * kEach;
    const double addresses = where == Where::kOne      ? 1
                             : where == Where::kOfWarp ? ctas * kThreads / 32.0
                             : where == Where::kOfCta  ? ctas
                                                       : ctas * kThreads;
    const char* names[] = {"one", "one of a warp", "one of a CTA", "all apart"};
    Measurement row;
    row.category = "MEM";
    row.kernel = std::string(kReturns ? "ATOM" : "RED") + ".ADD";
    row.dtype = std::is_same_v<Value, float> ? "fp32" : "int32";
    row.metric = "additions a cycle of the chip";
    row.value = all / cycles;
    row.unit = "1/clk";
    row.dims_other = std::string("addresses=") + names[static_cast<int>(where)] + ";threads=" + std::to_string(ctas * kThreads);
    row.clock_mhz = clock;
    row.notes = "cycles of an SM between two instructions of a warp " + CsvWriter::number(cycles * sms / (all / 32)) +
                "; cycles between two additions to an address " + CsvWriter::number(cycles * addresses / all);
    report.add(row);
  }
}

}  // namespace

void measure_atomics(Report& report) {
  measure<unsigned, false>(report);
  measure<unsigned, true>(report);
  measure<float, false>(report);
  measure<float, true>(report);
}

}  // namespace silicon
