// Latency of single lines that hit or miss L2, from SMs across the chip. L2 has two halves, and data in the far half takes longer.

#include "tools/silicon/report.h"
#include "tools/silicon/sm_work.h"
#include "tools/silicon/walk.h"

namespace silicon {
namespace {

constexpr int kLines = 4096;
constexpr std::size_t kApart = 1024;  // bytes between two lines: 4 MiB in total

// One thread, the first on SM `sm` to claim the work, reads line after line, each after the previous load has returned.
__global__ void time_lines(const unsigned char* memory, const unsigned short* order, int sm, unsigned* claimed, unsigned* taken,
                           unsigned* sink) {
  __shared__ unsigned short of[kLines];
  __shared__ unsigned cycles[kLines];
  if (static_cast<int>(sm_id()) != sm || atomicAdd(claimed, 1U) != 0) return;
  for (int i = 0; i < kLines; ++i) of[i] = order[i];
  unsigned all = *reinterpret_cast<const volatile unsigned*>(memory + 64);  // loads the translation of the first page
  all += *reinterpret_cast<const volatile unsigned*>(memory + (kLines - 1) * kApart + 64);
  for (int i = 0; i < kLines; ++i) {
    const unsigned char* line = memory + of[i] * kApart + (all == 0x9e3779b9U);
    unsigned value = 0;
    const long long start = clock64();
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(line) : "memory");
    all += value;
    asm volatile("" ::"r"(all) : "memory");
    cycles[of[i]] = static_cast<unsigned>(clock64() - start) + (value == 0x9e3779b9U);
  }
  for (int i = 0; i < kLines; ++i) taken[i] = cycles[i];
  if (all == 0x9e3779b9U) *sink = all;
}

class Lines {
 public:
  explicit Lines(const Device& device)
      : device_(device), memory_(kLines * kApart), order_(kLines), claimed_(1), taken_(kLines), sink_(1), flush_(device) {
    std::vector<unsigned short> order(kLines);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(2));
    order_.write(order);
  }

  // Cycles of each line, for loads from SM `sm`.
  std::vector<double> from(int sm, bool in_l2) {
    for (int run = 0; run < 2; ++run) {
      if (!in_l2) flush_.run();
      claimed_.clear();
      time_lines<<<8 * device_.sms, 1>>>(memory_.get(), order_.get(), sm, claimed_.get(), taken_.get(), sink_.get());
      check(cudaGetLastError(), "l2_latency");
      check(cudaDeviceSynchronize(), "l2_latency");
    }
    const std::vector<unsigned> taken = taken_.read();
    return {taken.begin(), taken.end()};
  }

 private:
  const Device& device_;
  Buffer<unsigned char> memory_;
  Buffer<unsigned short> order_;
  Buffer<unsigned> claimed_;
  Buffer<unsigned> taken_;
  Buffer<unsigned> sink_;
  L2Flush flush_;
};

// Share of lines that are on the same side of the median in both lists.
double same_side(const std::vector<double>& first, const std::vector<double>& second) {
  const double of_first = spread_of(first).median;
  const double of_second = spread_of(second).median;
  int same = 0;
  for (int i = 0; i < kLines; ++i) same += (first[i] > of_first) == (second[i] > of_second);
  return static_cast<double>(same) / kLines;
}

}  // namespace

void measure_l2_latency(Report& report) {
  Lines lines(report.device());
  constexpr int kSms = 8;
  for (const bool in_l2 : {true, false}) {
    std::vector<double> of_first;
    for (int i = 0; i < kSms; ++i) {
      const int sm = i * (report.device().sms - 1) / (kSms - 1);
      const std::vector<double> cycles = lines.from(sm, in_l2);
      if (of_first.empty()) of_first = cycles;
      Measurement row;
      row.category = "LATENCY";
      row.kernel = in_l2 ? "L2, single lines" : "DRAM, single lines";
      row.unit = "cycles";
      row.notes =
          "share of lines on the same side of the median as from the first SM: " + CsvWriter::number(same_side(of_first, cycles));
      for (const int percent : {5, 25, 50, 75, 95}) {
        row.metric = "cycles of a load, percentile";
        row.dims_other = "sm=" + std::to_string(sm) + ";percentile=" + std::to_string(percent) + ";lines=" + std::to_string(kLines);
        row.value = percentile_of(cycles, percent);
        report.add(row);
      }
    }
  }
}

}  // namespace silicon
