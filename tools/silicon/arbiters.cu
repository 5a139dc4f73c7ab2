// Arbitration between wgmma and other instructions. One or two warpgroups keep wgmma in flight without a drain (two committed
// groups), while other warps flood a pipe with instructions. Times of both sides, alone and together, tell whether an arbiter
// starves one of them. m64n64k16 with both operands in shared memory takes every wavefront of 128 bytes that shared memory offers.

#include "tools/silicon/report.h"
#include "tools/silicon/timed_loop.h"
#include "tools/silicon/wgmma.h"

namespace silicon {
namespace {

constexpr int kEach = 4;         // wgmmas per committed group
constexpr int kFloodEach = 128;  // instructions of a flood between two checks of the flag
constexpr int kOperandBytes = 65536;
constexpr int kAreaBytes = 1024;  // shared memory per warp of a flood
constexpr int kMaxWarps = 12;
constexpr int kSharedBytes = kOperandBytes + kMaxWarps * kAreaBytes + 1024;
constexpr int kFloodSteps = 2000;  // steps of a flood without wgmma

struct FloodTime {
  long long cycles;
  long long instructions;
};

// The memory of a flood's warp: an area of shared memory, lines of global memory to write (one for each instruction between two
// checks), and words to read that hold their own address.
struct Area {
  unsigned shared;
  unsigned* lines;
  unsigned long long cell;
  unsigned lane;
};

// Prepares shared memory that holds its own addresses: lane i at byte `kStride` i.
template <unsigned kStride>
__device__ unsigned own_address(const Area& area) {
  const unsigned at = area.shared + kStride * area.lane;
  asm volatile("st.shared.u32 [%0], %0;" ::"r"(at) : "memory");
  __syncwarp();
  return at;
}

template <unsigned kStride>
class LdsFlood {
 public:
  __device__ explicit LdsFlood(const Area& area) {
    for (unsigned& each : r_) each = own_address<kStride>(area);
  }
  __device__ void run(int i) { asm volatile("ld.shared.u32 %0, [%0];" : "+r"(r_[i % 8])::"memory"); }
  __device__ unsigned result() const { return r_[0] ^ r_[1] ^ r_[2] ^ r_[3] ^ r_[4] ^ r_[5] ^ r_[6] ^ r_[7]; }

 private:
  unsigned r_[8];
};
struct Lds32 : LdsFlood<4> {
  using LdsFlood::LdsFlood;
  static constexpr const char* kName = "LDS.32";
};
struct LdsConflict : LdsFlood<32> {  // lanes i and i + 4 on the same bank
  using LdsFlood::LdsFlood;
  static constexpr const char* kName = "LDS.32 with 8 lanes on a bank";
};

class Lds128 {
 public:
  static constexpr const char* kName = "LDS.128";
  __device__ explicit Lds128(const Area& area) {
    for (unsigned& each : r_) each = own_address<16>(area);
    rest_ = 0;
  }
  __device__ void run(int i) {
    asm volatile("{ .reg .b32 x, y; ld.shared.v4.u32 {%0, x, y, %1}, [%0]; }" : "+r"(r_[i % 4]), "=r"(rest_)::"memory");
  }
  __device__ unsigned result() const { return r_[0] ^ r_[1] ^ r_[2] ^ r_[3] ^ rest_; }

 private:
  unsigned r_[4], rest_;
};

class Ldsm4 {
 public:
  static constexpr const char* kName = "LDSM.x4";
  __device__ explicit Ldsm4(const Area& area) {
    // Lane L receives word L of the first matrix: the address of its own row.
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(area.shared + 4 * area.lane), "r"(area.shared + 16 * area.lane) : "memory");
    __syncwarp();
    for (unsigned& each : r_) each = area.shared + 16 * area.lane;
  }
  __device__ void run(int i) {
    asm volatile("{ .reg .b32 x, y, z; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, x, y, z}, [%0]; }"
                 : "+r"(r_[i % 4])::"memory");
  }
  __device__ unsigned result() const { return r_[0] ^ r_[1] ^ r_[2] ^ r_[3]; }

 private:
  unsigned r_[4];
};

class Sts {
 public:
  static constexpr const char* kName = "STS.32";
  __device__ explicit Sts(const Area& area) : at_(area.shared + 4 * area.lane), value_(area.lane) {}
  __device__ void run(int) { asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(at_), "r"(value_) : "memory"); }
  __device__ unsigned result() const { return 0; }

 private:
  unsigned at_, value_;
};

class Shfl8 {
 public:
  static constexpr const char* kName = "SHFL.BFLY";
  __device__ explicit Shfl8(const Area& area) {
    for (unsigned i = 0; i < 8; ++i) r_[i] = area.lane + i;
  }
  __device__ void run(int i) { asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;" : "+r"(r_[i % 8])); }
  __device__ unsigned result() const { return r_[0] ^ r_[1] ^ r_[2] ^ r_[3] ^ r_[4] ^ r_[5] ^ r_[6] ^ r_[7]; }

 private:
  unsigned r_[8];
};

class Ldg {
 public:
  static constexpr const char* kName = "LDG.64 that hits L1";
  __device__ explicit Ldg(const Area& area) {
    for (unsigned long long& each : r_) each = area.cell;
  }
  __device__ void run(int i) { asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(r_[i % 8])::"memory"); }
  __device__ unsigned result() const {
    return static_cast<unsigned>(r_[0] ^ r_[1] ^ r_[2] ^ r_[3] ^ r_[4] ^ r_[5] ^ r_[6] ^ r_[7]);
  }

 private:
  unsigned long long r_[8];
};

class Stg {
 public:
  static constexpr const char* kName = "STG.32";
  __device__ explicit Stg(const Area& area) : at_(area.lines + area.lane), value_(area.lane) {}
  __device__ void run(int i) { asm volatile("st.global.u32 [%0], %1;" ::"l"(at_ + 32 * i), "r"(value_) : "memory"); }
  __device__ unsigned result() const { return 0; }

 private:
  unsigned* at_;
  unsigned value_;
};

class Mufu8 {
 public:
  static constexpr const char* kName = "MUFU.EX2";
  __device__ explicit Mufu8(const Area& area) {
    for (unsigned i = 0; i < 8; ++i) r_[i] = static_cast<float>(area.lane + i) * 1e-3F;
  }
  __device__ void run(int i) { asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(r_[i % 8])); }
  __device__ unsigned result() const { return __float_as_uint(r_[0] + r_[1] + r_[2] + r_[3] + r_[4] + r_[5] + r_[6] + r_[7]); }

 private:
  float r_[8];
};

class Ffma3 {
 public:
  static constexpr const char* kName = "FFMA with 3 fresh registers";
  __device__ explicit Ffma3(const Area& area) {
    for (unsigned i = 0; i < 16; ++i) r_[i] = static_cast<float>(area.lane + i) * 1e-3F;
  }
  __device__ void run(int i) {
    asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(r_[i % 8]) : "f"(r_[8 + i % 8]), "f"(r_[8 + (i + 3) % 8]));
  }
  __device__ unsigned result() const { return __float_as_uint(r_[0] + r_[1] + r_[2] + r_[3] + r_[4] + r_[5] + r_[6] + r_[7]); }

 private:
  float r_[16];
};

// Instructions with one result and the stated number of fresh registers.
struct Prmt1 {
  static constexpr const char* kName = "PRMT of 1 register";
  __device__ static void run(unsigned& r, unsigned, unsigned) { asm volatile("prmt.b32 %0, %0, %0, 0x0321;" : "+r"(r)); }
};
struct Lop2 {
  static constexpr const char* kName = "LOP3 of 2 registers";
  __device__ static void run(unsigned& r, unsigned x, unsigned) {
    asm volatile("lop3.b32 %0, %0, %1, 0x1234567, 0xE8;" : "+r"(r) : "r"(x));
  }
};
struct Lop3 {
  static constexpr const char* kName = "LOP3 of 3 registers";
  __device__ static void run(unsigned& r, unsigned x, unsigned y) {
    asm volatile("lop3.b32 %0, %0, %1, %2, 0xE8;" : "+r"(r) : "r"(x), "r"(y));
  }
};
struct Imad2 {
  static constexpr const char* kName = "IMAD of 2 registers";
  __device__ static void run(unsigned& r, unsigned x, unsigned) {
    asm volatile("mad.lo.u32 %0, %0, 0x1234567, %1;" : "+r"(r) : "r"(x));
  }
};
struct Imad3 {
  static constexpr const char* kName = "IMAD of 3 registers";
  __device__ static void run(unsigned& r, unsigned x, unsigned y) {
    asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(r) : "r"(x), "r"(y));
  }
};
struct Ffma1 {
  static constexpr const char* kName = "FFMA of 1 register";
  __device__ static void run(unsigned& r, unsigned, unsigned) {
    asm volatile("{ .reg .f32 a; mov.b32 a, %0; fma.rn.f32 a, a, 0f3F800001, a; mov.b32 %0, a; }" : "+r"(r));
  }
};
struct Ffma2 {
  static constexpr const char* kName = "FFMA of 2 registers";
  __device__ static void run(unsigned& r, unsigned x, unsigned) {
    asm volatile("{ .reg .f32 a, b; mov.b32 a, %0; mov.b32 b, %1; fma.rn.f32 a, a, 0f3F800001, b; mov.b32 %0, a; }"
                 : "+r"(r)
                 : "r"(x));
  }
};

template <typename Op>
class Of : public Op {
 public:
  __device__ explicit Of(const Area& area) {
    for (unsigned i = 0; i < 8; ++i) {
      r_[i] = 0x3f000000U + area.lane + i;
      x_[i] = 0x3f100000U + area.lane * (i + 1);
    }
  }
  __device__ void run(int i) { Op::run(r_[i % 8], x_[i % 8], x_[(i + 3) % 8]); }
  __device__ unsigned result() const { return r_[0] ^ r_[1] ^ r_[2] ^ r_[3] ^ r_[4] ^ r_[5] ^ r_[6] ^ r_[7]; }

 private:
  unsigned r_[8], x_[8];
};

class ImadWideFlood {  // two factors, two results
 public:
  static constexpr const char* kName = "IMAD.WIDE of 2 registers";
  __device__ explicit ImadWideFlood(const Area& area) {
    for (unsigned i = 0; i < 8; ++i) r_[i] = (static_cast<std::uint64_t>(area.lane + 2) << 32) + area.lane + i;
  }
  __device__ void run(int i) {
    asm volatile("{ .reg .u32 low, high; mov.b64 {low, high}, %0; mul.wide.u32 %0, low, high; }" : "+l"(r_[i % 8]));
  }
  __device__ unsigned result() const {
    const std::uint64_t all = r_[0] ^ r_[1] ^ r_[2] ^ r_[3] ^ r_[4] ^ r_[5] ^ r_[6] ^ r_[7];
    return static_cast<unsigned>(all ^ all >> 32);
  }

 private:
  std::uint64_t r_[8];
};

constexpr int threads_for(int columns) { return columns == 256 ? 384 : 640; }  // limited by the registers that the sums leave

// `warpgroups` warpgroups of the CTA multiply until they have committed `groups`. Its other warps flood for the same time, or for
// `kFloodSteps` if no warpgroup multiplies.
template <int kColumns, typename Flood>
__global__ void __launch_bounds__(threads_for(kColumns), 1)
    multiply_and_flood(LoopTime* times, FloodTime* floods, unsigned* lines, unsigned long long* cells, unsigned* sink,
                       int warpgroups, int groups) {
  extern __shared__ unsigned char bytes[];
  const unsigned shared = (static_cast<unsigned>(__cvta_generic_to_shared(bytes)) + 1023U) & ~1023U;
  __shared__ volatile int done;
  if (threadIdx.x == 0) done = 0;
  for (unsigned i = threadIdx.x; i < kOperandBytes / 4; i += blockDim.x)
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared + 4 * i), "r"(0x3c003c00U) : "memory");  // small numbers
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  if (warp < 4U * static_cast<unsigned>(warpgroups)) {
    publish_to_wgmma();
    __syncthreads();
    float d[kColumns / 2] = {};
    const unsigned r[4] = {};
    const std::uint64_t a = descriptor(shared + warp / 4 * 8192);
    const std::uint64_t b = descriptor(shared + kOperandBytes / 2);
    const unsigned long long start_ns = nanoseconds();
    const long long start = clock64();
    for (int g = 0; g < groups; ++g) {
      wgmma_fence();
#pragma unroll
      for (int i = 0; i < kEach; ++i) Wgmma<kColumns, Source::kShared, Type::kBf16>::run(d, r, a, b);
      wgmma_commit();
      wgmma_wait<1>();
    }
    wgmma_wait<0>();
    const long long end = clock64();
    if (lane == 0) done = 1;
    if (threadIdx.x % 128 == 0) times[2 * blockIdx.x + warp / 4] = {start, end, start_ns, nanoseconds()};
    float all = 0;
    for (int i = 0; i < kColumns / 2; ++i) all += d[i];
    if (all == 1.5F) *sink = 1;
  } else {
    const unsigned mine = warp - 4U * static_cast<unsigned>(warpgroups);
    const unsigned of_chip = blockIdx.x * kMaxWarps + mine;
    unsigned long long* cell = cells + blockIdx.x * 32 + lane;
    *cell = reinterpret_cast<unsigned long long>(cell);
    Flood flood({shared + kOperandBytes + mine * kAreaBytes, lines + std::size_t{32} * kFloodEach * of_chip,
                 reinterpret_cast<unsigned long long>(cell), lane});
    __syncthreads();
    const long long start = clock64();
    long long count = 0;
    while (warpgroups > 0 ? done == 0 : count < kFloodSteps * kFloodEach) {
#pragma unroll
      for (int i = 0; i < kFloodEach; ++i) flood.run(i);
      count += kFloodEach;
    }
    if (lane == 0) floods[of_chip] = {clock64() - start, count};
    if (flood.result() == 0x9e3779b9U) *sink = 1;
  }
}

struct Both {
  double wgmma = 0;  // SM cycles between two wgmmas
  double flood = 0;  // SM cycles between two instructions of the flood
  double clock_mhz = 0;
};

template <int kColumns, typename Flood>
Both run(const Device& device, int warpgroups, int warps) {
  constexpr int kGroups = 4000;
  const int sms = device.sms;
  Buffer<LoopTime> times(2 * sms);
  Buffer<FloodTime> floods(kMaxWarps * sms);
  Buffer<unsigned> lines(std::size_t{32} * kFloodEach * kMaxWarps * sms);
  Buffer<unsigned long long> cells(32 * sms);
  Buffer<unsigned> sink(1);
  const auto kernel = multiply_and_flood<kColumns, Flood>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes), "shared memory");
  for (int run = 0; run < 2; ++run) {
    kernel<<<sms, 128 * warpgroups + 32 * warps, kSharedBytes>>>(times.get(), floods.get(), lines.get(), cells.get(), sink.get(),
                                                                 warpgroups, kGroups);
    check(cudaGetLastError(), "arbiters");
    check(cudaDeviceSynchronize(), "arbiters");
  }
  Both is;
  if (warpgroups > 0) {
    std::vector<LoopTime> ran;
    const std::vector<LoopTime> all = times.read();
    for (int sm = 0; sm < sms; ++sm) ran.insert(ran.end(), all.begin() + 2 * sm, all.begin() + 2 * sm + warpgroups);
    const LoopResult loop = result_of(ran, warpgroups);
    is.wgmma = loop.cycles / (static_cast<double>(kGroups) * kEach * warpgroups);
    is.clock_mhz = loop.clock_mhz;
  }
  if (warps > 0) {
    std::vector<double> between;
    const std::vector<FloodTime> all = floods.read();
    for (int sm = 0; sm < sms; ++sm) {
      double rate = 0;
      for (int w = 0; w < warps; ++w) {
        const FloodTime& each = all[sm * kMaxWarps + w];
        rate += static_cast<double>(each.instructions) / static_cast<double>(each.cycles);
      }
      between.push_back(1 / rate);
    }
    is.flood = spread_of(between).median;
  }
  return is;
}

void add(Report& report, int columns, const std::string& kernel, const std::string& dims, const char* metric, double value,
         double alone, double clock_mhz) {
  Measurement row;
  row.category = "WGMMA";
  row.kernel = kernel;
  row.dtype = "bf16";
  row.dims_other = "columns=" + std::to_string(columns) + ";" + dims;
  row.metric = metric;
  row.value = value;
  row.unit = "cycles";
  row.clock_mhz = clock_mhz;
  row.notes = "alone " + CsvWriter::number(alone) + "; slowdown " + CsvWriter::number(slowdown(value, alone));
  report.add(row);
}

template <int kColumns, typename Flood>
void measure(Report& report) {
  for (const int warpgroups : {1, 2}) {
    const double wgmma = run<kColumns, Flood>(report.device(), warpgroups, 0).wgmma;
    for (const int warps : {4, 8, 12}) {
      if (128 * warpgroups + 32 * warps > threads_for(kColumns)) continue;
      const double flood = run<kColumns, Flood>(report.device(), 0, warps).flood;
      const Both both = run<kColumns, Flood>(report.device(), warpgroups, warps);
      const std::string dims =
          "warpgroups=" + std::to_string(warpgroups) + ";warps_of_flood=" + std::to_string(warps) + ";flood=" + Flood::kName;
      add(report, kColumns, "wgmma from shared memory, beside a flood", dims, "SM cycles between starts", both.wgmma, wgmma,
          both.clock_mhz);
      add(report, kColumns, std::string(Flood::kName) + " beside wgmma", dims, "SM cycles between the flood's instructions",
          both.flood, flood, both.clock_mhz);
    }
  }
}

template <int kColumns>
void measure_columns(Report& report) {
  measure<kColumns, Lds32>(report);
  measure<kColumns, Lds128>(report);
  measure<kColumns, LdsConflict>(report);
  measure<kColumns, Sts>(report);
  measure<kColumns, Ldsm4>(report);
  measure<kColumns, Shfl8>(report);
  measure<kColumns, Ldg>(report);
  measure<kColumns, Stg>(report);
  measure<kColumns, Mufu8>(report);
  measure<kColumns, Ffma3>(report);
  measure<kColumns, Of<Ffma1>>(report);
  measure<kColumns, Of<Ffma2>>(report);
  measure<kColumns, Of<Prmt1>>(report);
  measure<kColumns, Of<Lop2>>(report);
  measure<kColumns, Of<Lop3>>(report);
  measure<kColumns, Of<Imad2>>(report);
  measure<kColumns, Of<Imad3>>(report);
  measure<kColumns, ImadWideFlood>(report);
}

}  // namespace

void measure_arbiters(Report& report) {
  if (report.device().compute != 90) return;
  measure_columns<64>(report);
  measure_columns<128>(report);
  measure_columns<256>(report);
}

}  // namespace silicon
