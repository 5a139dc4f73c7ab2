// mma.sync as in FlashAttention-2: the issue interval and the latency on a sub-core; and rounds of products and exponentials by one
// to four warps per sub-core: the time of a round, and the distance between the warps after many rounds.

#include "tools/silicon/report.h"
#include "tools/silicon/timed_loop.h"

namespace silicon {
namespace {

constexpr int kInstructions = 64;
constexpr int kSums = 16;  // accumulators per warp, 16 x 8 each: a round's products go to them in rotation
constexpr int kRounds = 96;
constexpr int kSettled = 32;  // first rounds, which are not counted
constexpr int kMaxWarps = 16;

// D += A B of 16 x 8 x 16.
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <int kChains>
class Products {
 public:
  __device__ explicit Products(unsigned thread) {
    for (unsigned i = 0; i < 4; ++i) a_[i] = 0x3c003c00U + thread + i;
  }
  __device__ void step() {
#pragma unroll
    for (int i = 0; i < kInstructions; ++i) multiply(d_[i % kChains], a_, a_[0], a_[1]);
  }
  __device__ unsigned result() const {
    float all = 0;
    for (const auto& sums : d_) all += sums[0] + sums[1] + sums[2] + sums[3];
    return __float_as_uint(all);
  }

 private:
  float d_[kChains][4] = {};
  unsigned a_[4];
};

void measure_pipe(Report& report) {
  constexpr int kSteps = 256;
  Measurement is;
  is.kernel = "HMMA.16816.F32.BF16";
  is.unit = "cycles";
  is.category = "PIPE";
  is.metric = "cycles between issues of a sub-core";
  for (const int warps : {4, 8, 16}) {
    const LoopResult rate = run_loop<Products<8>>(report.device(), warps, kSteps);
    is.value = cycles_each(rate.cycles, warps / 4, static_cast<double>(kSteps) * kInstructions);
    is.dims_other = "warps_per_sub_core=" + std::to_string(warps / 4) + ";chains=8";
    is.clock_mhz = rate.clock_mhz;
    report.add(is);
  }
  const LoopResult chain = run_loop<Products<1>>(report.device(), 1, kSteps);
  is.category = "LATENCY";
  is.metric = "cycles from issue to a dependent issue";
  is.value = cycles_each(chain.cycles, 1, static_cast<double>(kSteps) * kInstructions);
  is.dims_other = "warps=1;chains=1";
  is.clock_mhz = chain.clock_mhz;
  report.add(is);
}

struct Rounds {
  long long began[kMaxWarps][kRounds];
};

// Each round executes `batches` times kSums products, then kExponentials exponentials per thread. The exponentials read the sums,
// and the next factors are exponentials. The loop over products keeps the compiler from mixing the two.
template <int kExponentials>
__global__ void __launch_bounds__(32 * kMaxWarps, 1) rounds_each(Rounds* rounds, float* sink, int batches) {
  float d[kSums][4] = {};
  unsigned a[4] = {threadIdx.x, 1, 2, 3};
  __syncthreads();
  for (int round = 0; round < kRounds; ++round) {
    if (threadIdx.x % 32 == 0) rounds[blockIdx.x].began[threadIdx.x / 32][round] = clock64();
#pragma unroll 1
    for (int batch = 0; batch < batches; ++batch) {
#pragma unroll
      for (int i = 0; i < kSums; ++i) multiply(d[i], a, 0, 0);
    }
    float x[4] = {d[0][0], d[1][0], d[2][0], d[3][0]};
#pragma unroll
    for (int e = 0; e < kExponentials; ++e) {
      float value = 0;
      asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(d[e / 4 % kSums][e % 4]));
      x[e % 4] += value;
    }
    for (int i = 0; i < 4; ++i) a[i] = __float_as_uint(x[i]);
  }
  float all = 0;
  for (int i = 0; i < kSums; ++i) all += d[i][0] + d[i][1] + d[i][2] + d[i][3];
  if (all == 1.5F) *sink = all;
}

void add(Report& report, const std::string& dims, const char* metric, const std::vector<double>& values, const char* unit,
         const std::string& notes) {
  Measurement is;
  is.category = "PIPE";
  is.kernel = "rounds of HMMA and MUFU.EX2";
  is.dtype = "bf16";
  is.dims_other = dims;
  is.metric = metric;
  is.value = spread_of(values).median;
  is.unit = unit;
  is.notes = "over SMs and launches: 5 % " + CsvWriter::number(percentile_of(values, 5)) + ", 95 % " +
             CsvWriter::number(percentile_of(values, 95)) + notes;
  report.add(is);
}

template <int kExponentials>
void measure_rounds(Report& report, int products, int warps) {
  const int sms = report.device().sms;
  Buffer<Rounds> rounds(sms);
  Buffer<float> sink(1);
  std::vector<double> cycles;  // per round, of every warp
  std::vector<double> phases;  // a sub-core's second warp relative to its first
  std::vector<double> least;   // a warp's short rounds (5 %)
  std::vector<double> longest;
  for (int launch = 0; launch < 4; ++launch) {
    rounds_each<kExponentials><<<sms, 128 * warps>>>(rounds.get(), sink.get(), products / kSums);
    check(cudaGetLastError(), "mma_rounds");
    check(cudaDeviceSynchronize(), "mma_rounds");
    if (launch == 0) continue;  // the first launch fetches the code
    for (const Rounds& sm : rounds.read()) {
      for (int w = 0; w < 4 * warps; ++w) {
        const long long* began = sm.began[w];
        cycles.push_back(static_cast<double>(began[kRounds - 1] - began[kSettled]) / (kRounds - 1 - kSettled));
        std::vector<double> each;
        for (int r = kSettled; r + 1 < kRounds; ++r) each.push_back(static_cast<double>(began[r + 1] - began[r]));
        least.push_back(percentile_of(each, 5));
        longest.push_back(percentile_of(each, 95));
        if (w < 4 && warps > 1)
          phases.push_back(phase_of(static_cast<double>(sm.began[w + 4][kRounds - 1] - began[kRounds - 1]), cycles.back()));
      }
    }
  }
  const std::string dims = "products=" + std::to_string(products) + ";exponentials=" + std::to_string(kExponentials) +
                           ";warps_per_sub_core=" + std::to_string(warps);
  add(report, dims, "cycles of a round", cycles, "cycles",
      "; rounds of one warp: 5 % " + CsvWriter::number(spread_of(least).median) + ", 95 % " +
          CsvWriter::number(spread_of(longest).median));
  if (!phases.empty()) add(report, dims, "second warp behind the first one, share of a round", phases, "share", "");
}

template <int kExponentials>
void measure_exponentials(Report& report) {
  for (const int warps : {1, 2, 3, 4}) measure_rounds<kExponentials>(report, 32, warps);
  if (kExponentials % 16 == 0)
    for (const int warps : {1, 2, 3, 4}) measure_rounds<kExponentials>(report, 64, warps);
}

}  // namespace

void measure_mma_rounds(Report& report) {
  if (report.device().compute < 80) return;
  measure_pipe(report);
  measure_exponentials<0>(report);
  measure_exponentials<8>(report);
  measure_exponentials<16>(report);
  measure_exponentials<24>(report);
  measure_exponentials<30>(report);
  measure_exponentials<31>(report);
  measure_exponentials<32>(report);
  measure_exponentials<33>(report);
  measure_exponentials<34>(report);
  measure_exponentials<40>(report);
  measure_exponentials<48>(report);
  measure_exponentials<64>(report);
}

}  // namespace silicon
