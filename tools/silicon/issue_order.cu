// The order of issue among warps that are always ready: warps of one CTA, and of CTAs that started one after the other. A second
// CTA joins an older first CTA, which then ends; a third CTA takes the first one's place. If the second CTA gives way to both, the
// warp's slot on the SM decides, and otherwise the warp's age.

#include "tools/silicon/instructions.h"
#include "tools/silicon/report.h"
#include "tools/silicon/sm_work.h"

namespace silicon {
namespace {

constexpr int kEach = 64;  // instructions between two reads of the clock
constexpr int kBuckets = 128;
constexpr int kBucketCycles = 8192;
constexpr int kMaxWarps = 16;
constexpr unsigned kSharedBytes = 100 << 10;  // two such CTAs on an SM

// Rounds of kEach instructions that each warp began in each bucket of time.
struct Began {
  unsigned rounds[kMaxWarps][kBuckets];
};

struct SmClock {
  unsigned long long start;  // start of the first CTA on the SM; the largest number before
};

// Runs for `buckets` buckets of time.
template <typename Op>
__global__ void __launch_bounds__(512) always_ready(Began* began, SmClock* clocks, int buckets) {
  __shared__ unsigned rounds[kMaxWarps][kBuckets];
  for (unsigned i = threadIdx.x; i < kMaxWarps * kBuckets; i += blockDim.x) rounds[i / kBuckets][i % kBuckets] = 0;
  __syncthreads();
  const long long own = clock64();
  const unsigned sm = sm_id();
  if (threadIdx.x == 0) atomicMin(&clocks[sm].start, static_cast<unsigned long long>(own));
  __syncthreads();
  const long long zero = static_cast<long long>(*const_cast<volatile unsigned long long*>(&clocks[sm].start));
  typename Op::Register r[8];
  for (unsigned i = 0; i < 8; ++i) r[i] = first_of<typename Op::Register>(threadIdx.x + i);
  const unsigned warp = threadIdx.x / 32;
  while (true) {
    const long long now = clock64();
    if (now - own > static_cast<long long>(buckets) * kBucketCycles) break;
    const auto bucket = static_cast<unsigned>((now - zero) / kBucketCycles);
    if (threadIdx.x % 32 == 0 && bucket < kBuckets) ++rounds[warp][bucket];
#pragma unroll
    for (int i = 0; i < kEach; ++i) Op::run(r[i % 8], threadIdx.x, 3);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kMaxWarps * kBuckets; i += blockDim.x)
    began[sm].rounds[i / kBuckets][i % kBuckets] = rounds[i / kBuckets][i % kBuckets];
  unsigned all = 0;
  for (const auto each : r) all ^= folded(each);
  if (all == 0x9e3779b9U) began[sm].rounds[0][0] = all;
}

// Rounds of warps [first, last), summed over all SMs and buckets [from, to).
double rounds_of(const std::vector<Began>& began, int first, int last, int from, int to) {
  double all = 0;
  for (const Began& sm : began) {
    for (int w = first; w < last; ++w) {
      for (int b = from; b < to; ++b) all += sm.rounds[w][b];
    }
  }
  return all;
}

void add(Report& report, const char* op, const std::string& dims, const std::string& metric, double share) {
  Measurement row;
  row.category = "PIPE";
  row.kernel = std::string(op) + ", warps that are always ready";
  row.dims_other = dims;
  row.metric = metric;
  row.value = share;
  row.unit = "share";
  report.add(row);
}

template <typename Op>
class Turns {
 public:
  explicit Turns(Report& report) : report_(report), sms_(report.device().sms), clocks_(sms_) {
    prepare_shared_memory(always_ready<Op>, kSharedBytes);
  }

  // Shares of a sub-core's warps, all of one CTA.
  void of_warps(int warps) {
    Buffer<Began> began(sms_);
    for (int run = 0; run < 2; ++run) {
      restart();
      always_ready<Op><<<sms_, 128 * warps, kSharedBytes>>>(began.get(), clocks_.get(), 60);
      check(cudaDeviceSynchronize(), "issue_order");
    }
    const std::vector<Began> is = began.read();
    const double all = rounds_of(is, 0, 4 * warps, 10, 50);
    for (int w = 0; w < warps; ++w)
      add(report_, Op::kName, "warps_per_sub_core=" + std::to_string(warps) + ";warp=" + std::to_string(w),
          "share of a sub-core's instructions", rounds_of(is, 4 * w, 4 * w + 4, 10, 50) / all);
  }

  // The second CTA's share of an SM, beside the first and beside the third CTA.
  void of_ctas(int warps) {
    Buffer<Began> first(sms_);
    Buffer<Began> second(sms_);
    Buffer<Began> third(sms_);
    const Stream of_first;
    const Stream of_second;
    for (int run = 0; run < 2; ++run) {
      for (const Buffer<Began>* each : {&first, &second, &third}) check(cudaMemset(each->get(), 0, sms_ * sizeof(Began)), "counts");
      restart();
      const int threads = 128 * warps;
      always_ready<Op><<<sms_, threads, kSharedBytes, of_first.get()>>>(first.get(), clocks_.get(), 40);
      always_ready<Op><<<sms_, threads, kSharedBytes, of_second.get()>>>(second.get(), clocks_.get(), 110);
      always_ready<Op><<<sms_, threads, kSharedBytes, of_first.get()>>>(third.get(), clocks_.get(), 40);
      check(cudaDeviceSynchronize(), "issue_order");
    }
    const std::vector<Began> a = first.read(), b = second.read(), c = third.read();
    const std::string dims = "warps_per_sub_core=" + std::to_string(2 * warps) + ";ctas_of_sm=2";
    const auto share = [&](const std::vector<Began>& other, int from, int to) {
      const double own = rounds_of(b, 0, 4 * warps, from, to);
      return own / (own + rounds_of(other, 0, 4 * warps, from, to));
    };
    add(report_, Op::kName, dims, "share of the second CTA beside the first one", share(a, 20, 36));
    add(report_, Op::kName, dims, "share of the second CTA beside the third one, in the first one's place", share(c, 55, 75));
  }

 private:
  void restart() { check(cudaMemset(clocks_.get(), 0xff, sms_ * sizeof(SmClock)), "clocks"); }

  Report& report_;
  int sms_;
  Buffer<SmClock> clocks_;
};

constexpr int kReadings = 32;
constexpr int kBetween = 8;  // instructions between two reads of the clock

struct Readings {
  unsigned clock[kMaxWarps][kReadings];
};

// Warps that start together: reads the clock after every eight instructions of each.
__global__ void __launch_bounds__(512) readings_of(Readings* readings, float* sink) {
  float r[8];
  for (unsigned i = 0; i < 8; ++i) r[i] = static_cast<float>(threadIdx.x + i);
  unsigned clock[kReadings];
  for (int run = 0; run < 2; ++run) {  // the first run fetches the code
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kReadings; ++i) {
      asm volatile("mov.u32 %0, %clock;" : "=r"(clock[i])::"memory");
#pragma unroll
      for (int k = 0; k < kBetween; ++k) asm volatile("fma.rn.f32 %0, %0, 0f3F800001, %0;" : "+f"(r[k]));
    }
  }
  if (threadIdx.x % 32 == 0) {
    for (int i = 0; i < kReadings; ++i) readings[blockIdx.x].clock[threadIdx.x / 32][i] = clock[i];
  }
  float all = 0;
  for (const float each : r) all += each;
  if (all == 1.5F) *sink = all;
}

// Cycles between two readings of a warp. If the scheduler stays with a warp until it stalls, these are the cycles of its
// instructions; if warps take turns, there are more.
void measure_stays(Report& report) {
  const int sms = report.device().sms;
  Buffer<Readings> readings(sms);
  Buffer<float> sink(1);
  for (const int warps : {1, 2, 4}) {
    for (int run = 0; run < 2; ++run) {
      readings_of<<<sms, 128 * warps>>>(readings.get(), sink.get());
      check(cudaDeviceSynchronize(), "issue_order");
    }
    for (int w = 0; w < warps; ++w) {
      std::vector<double> steps;
      for (const Readings& sm : readings.read()) {
        for (int i = 4; i + 1 < kReadings - 4; ++i) steps.push_back(sm.clock[4 * w][i + 1] - sm.clock[4 * w][i]);
      }
      Measurement row;
      row.category = "PIPE";
      row.kernel = "FFMA, eight and a reading of the clock";
      row.dims_other = "warps_per_sub_core=" + std::to_string(warps) + ";warp=" + std::to_string(w);
      row.metric = "cycles from reading to reading";
      row.value = percentile_of(steps, 50);
      row.unit = "cycles";
      row.notes = "5 % " + CsvWriter::number(percentile_of(steps, 5)) + ", 25 % " + CsvWriter::number(percentile_of(steps, 25)) +
                  ", 75 % " + CsvWriter::number(percentile_of(steps, 75)) + ", 95 % " + CsvWriter::number(percentile_of(steps, 95));
      report.add(row);
    }
  }
}

template <typename Op>
void measure(Report& report) {
  Turns<Op> turns(report);
  for (const int warps : {2, 3, 4}) turns.of_warps(warps);
  for (const int warps : {1, 2}) turns.of_ctas(warps);
}

}  // namespace

void measure_issue_order(Report& report) {
  measure<Alu>(report);
  measure<Ffma>(report);
  measure<Imad>(report);
  measure<Mufu>(report);
  measure_stays(report);
}

}  // namespace silicon
