// The interval at which an SM starts wgmma of each width, source and type, alone and while other warps flood one of the pipes; and
// the flood's loss. One warpgroup multiplies and a second warpgroup of the same CTA floods: one warp of each per sub-core.

#include "tools/silicon/wgmma.h"

#include "tools/silicon/instructions.h"
#include "tools/silicon/report.h"
#include "tools/silicon/timed_loop.h"

namespace silicon {
namespace {

constexpr int kEach = 8;        // wgmmas per committed group
constexpr int kFloodEach = 64;  // instructions of a flood between two checks of the flag
constexpr int kSharedBytes = 65536;

struct FloodTime {
  long long cycles;
  long long instructions;
};

struct NoFlood {
  static constexpr const char* kName = "nothing";
};
struct Ffma3 {  // three fresh registers
  using Register = float;
  static constexpr const char* kName = "FFMA, 3 fresh registers";
};

template <typename Flood>
__device__ void flood_step(typename Flood::Register (&r)[16], std::uint32_t a, std::uint32_t b) {
#pragma unroll
  for (int i = 0; i < kFloodEach; ++i) {
    if constexpr (std::is_same_v<Flood, Ffma3>) {
      asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(r[i % 8]) : "f"(r[8 + i % 8]), "f"(r[8 + (i + 3) % 8]));
    } else {
      Flood::run(r[i % 8], a, b);
    }
  }
}

template <int kColumns, Source kSource, Type kType, typename Flood>
__global__ void __launch_bounds__(256, 1) multiply_beside(LoopTime* times, FloodTime* floods, float* sink, int groups) {
  extern __shared__ __align__(1024) unsigned shared[];
  __shared__ volatile int done;
  if (threadIdx.x == 0) done = 0;
  for (int i = threadIdx.x; i < kSharedBytes / 4; i += blockDim.x) shared[i] = 0x3c003c00U;  // small numbers
  __syncthreads();
  if (threadIdx.x < 128) {
    float d[kColumns / 2] = {};
    const unsigned r[4] = {0x3c003c00U, 0x3c003c00U, 0x3c003c00U, 0x3c003c00U};
    const std::uint64_t a = descriptor(static_cast<unsigned>(__cvta_generic_to_shared(shared)));
    const std::uint64_t b = descriptor(static_cast<unsigned>(__cvta_generic_to_shared(shared + 8192)));  // 32 KiB after A
    const unsigned long long start_ns = nanoseconds();
    const long long start = clock64();
    for (int g = 0; g < groups; ++g) {
      wgmma_fence();
#pragma unroll
      for (int i = 0; i < kEach; ++i) Wgmma<kColumns, kSource, kType>::run(d, r, a, b);
      wgmma_commit();
      wgmma_wait<0>();
    }
    const long long end = clock64();
    if (threadIdx.x == 0) {
      times[blockIdx.x] = {start, end, start_ns, nanoseconds()};
      done = 1;
    }
    float all = 0;
    for (int i = 0; i < kColumns / 2; ++i) all += d[i];
    if (all == 1.5F) *sink = all;
  } else if constexpr (!std::is_same_v<Flood, NoFlood>) {
    typename Flood::Register r[16];
    for (int i = 0; i < 16; ++i) r[i] = first_of<typename Flood::Register>(threadIdx.x + i);
    const auto own = static_cast<unsigned>(__cvta_generic_to_shared(shared + threadIdx.x));
    if constexpr (std::is_same_v<Flood, Lds>) {
      for (int i = 0; i < 16; ++i) r[i] = own;
      shared[threadIdx.x] = own;
      __syncwarp();
    }
    const long long start = clock64();
    long long count = 0;
    while (done == 0) {
      flood_step<Flood>(r, threadIdx.x, 3);
      count += kFloodEach;
    }
    if (threadIdx.x == 128) floods[blockIdx.x] = {clock64() - start, count};
    float all = 0;
    for (int i = 0; i < 16; ++i) all += static_cast<float>(folded(r[i]));
    if (all == 1.5F) *sink = all;
  }
}

template <int kColumns, Source kSource, Type kType, typename Flood>
double measure(Report& report, double alone) {
  const int sms = report.device().sms;
  constexpr int kGroups = 2000;
  Buffer<LoopTime> times(sms);
  Buffer<FloodTime> floods(sms);
  Buffer<float> sink(1);
  const auto kernel = multiply_beside<kColumns, kSource, kType, Flood>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes), "shared memory");
  for (int run = 0; run < 2; ++run) {
    kernel<<<sms, 256, kSharedBytes>>>(times.get(), floods.get(), sink.get(), kGroups);
    check(cudaGetLastError(), "wgmma");
    check(cudaDeviceSynchronize(), "wgmma");
  }
  const LoopResult loop = result_of(times.read(), 1);
  Measurement is;
  is.category = "WGMMA";
  is.kernel = "wgmma m64n" + std::to_string(kColumns) + (kType == Type::kBf16 ? "k16" : "k32");
  is.dtype = kType == Type::kBf16 ? "bf16" : "fp8";
  is.dims_other = std::string("a=") + (kSource == Source::kShared ? "shared" : "registers") + ";beside=" + Flood::kName;
  is.metric = "cycles between starts";
  is.value = loop.cycles / (static_cast<double>(kGroups) * kEach);
  is.unit = "cycles";
  is.clock_mhz = loop.clock_mhz;
  if (alone > 0) is.notes = "slowdown " + CsvWriter::number(slowdown(is.value, alone));
  report.add(is);
  if constexpr (!std::is_same_v<Flood, NoFlood>) {
    const FloodTime flood = floods.read().front();
    is.metric = "cycles between the flood's instructions";
    is.notes.clear();
    is.kernel = std::string(Flood::kName) + " beside " + is.kernel;
    is.value = static_cast<double>(flood.cycles) / static_cast<double>(flood.instructions);
    report.add(is);
  }
  return loop.cycles / (static_cast<double>(kGroups) * kEach);
}

template <int kColumns>
void measure_floods(Report& report, double alone) {
  measure<kColumns, Source::kShared, Type::kBf16, Alu>(report, alone);
  measure<kColumns, Source::kShared, Type::kBf16, Imad>(report, alone);
  measure<kColumns, Source::kShared, Type::kBf16, ImadWide>(report, alone);
  measure<kColumns, Source::kShared, Type::kBf16, Ffma>(report, alone);
  measure<kColumns, Source::kShared, Type::kBf16, Ffma3>(report, alone);
  measure<kColumns, Source::kShared, Type::kBf16, Mufu>(report, alone);
  measure<kColumns, Source::kShared, Type::kBf16, Shfl>(report, alone);
  measure<kColumns, Source::kShared, Type::kBf16, Lds>(report, alone);
}

template <int kColumns>
void measure_columns(Report& report) {
  const double alone = measure<kColumns, Source::kShared, Type::kBf16, NoFlood>(report, 0);
  measure<kColumns, Source::kRegisters, Type::kBf16, NoFlood>(report, 0);
  measure<kColumns, Source::kShared, Type::kFp8, NoFlood>(report, 0);
  measure<kColumns, Source::kRegisters, Type::kFp8, NoFlood>(report, 0);
  measure_floods<kColumns>(report, alone);
}

}  // namespace

void measure_wgmma(Report& report) {
  if (report.device().compute != 90) return;
  measure_columns<64>(report);
  measure_columns<128>(report);
  measure_columns<256>(report);
}

}  // namespace silicon
