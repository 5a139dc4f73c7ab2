// Measures the work distributor: the order in which it assigns CTAs to SMs, and the SM that gets the next CTA when CTAs end at
// unequal times. Measures also the time for which an SM's slot is empty between two CTAs, and the SMs of a second kernel's CTAs.

#include <map>
#include <set>

#include "tools/silicon/report.h"
#include "tools/silicon/sm_work.h"

namespace silicon {
namespace {

struct CtaLife {
  unsigned sm;
  long long start;  // cycle of its SM
  long long end;
  unsigned long long start_ns;
  unsigned long long end_ns;
};

// Each CTA runs for `cycles` plus a number of cycles up to `more` that depends on its number.
__global__ void live(CtaLife* lives, int cycles, unsigned more) {
  const long long start = clock64();
  const unsigned long long start_ns = nanoseconds();
  const long long until = start + cycles + (more == 0 ? 0 : blockIdx.x * 2654435761U >> 8) % (more + 1);
  while (clock64() < until) {
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    CtaLife& is = lives[blockIdx.x];
    is.sm = sm_id();
    is.start = start;
    is.start_ns = start_ns;
    is.end_ns = nanoseconds();
    is.end = clock64();
  }
}

constexpr unsigned kLargest = 220 << 10;  // bytes of shared memory with which an SM holds a single CTA

void prepare() {
  check(cudaFuncSetAttribute(live, cudaFuncAttributeMaxDynamicSharedMemorySize, kLargest), "shared memory");
  check(cudaFuncSetAttribute(live, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared), "a carve-out");
}

std::vector<CtaLife> run(int ctas, int threads, unsigned shared_bytes, int cycles, unsigned more) {
  Buffer<CtaLife> lives(ctas);
  for (int run = 0; run < 2; ++run) {
    live<<<ctas, threads, shared_bytes>>>(lives.get(), cycles, more);
    check(cudaGetLastError(), "dispatch");
    check(cudaDeviceSynchronize(), "dispatch");
  }
  return lives.read();
}

void add(Report& report, const std::string& kernel, const std::string& dims, const std::string& metric, double value,
         const std::string& unit, const std::string& notes) {
  Measurement row;
  row.category = "LATENCY";
  row.kernel = kernel;
  row.dims_other = dims;
  row.metric = metric;
  row.value = value;
  row.unit = unit;
  row.notes = notes;
  report.add(row);
}

int distinct_sms(const std::vector<CtaLife>& lives, std::size_t first, std::size_t count) {
  std::set<unsigned> sms;
  for (std::size_t i = first; i < std::min(first + count, lives.size()); ++i) sms.insert(lives[i].sm);
  return static_cast<int>(sms.size());
}

// The SMs of CTAs that all fit at once, in order of the CTAs' numbers.
void measure_order(Report& report, int ctas, int ctas_of_sm) {
  const int sms = report.device().sms;
  const std::vector<CtaLife> lives = run(ctas, 128, kLargest / ctas_of_sm, 40000, 0);
  std::string order;
  for (std::size_t i = 0; i < std::min<std::size_t>(lives.size(), 2 * sms); ++i)
    order += (i == 0 ? "" : " ") + std::to_string(lives[i].sm);
  const std::string dims = "ctas=" + std::to_string(ctas) + ";ctas_of_sm=" + std::to_string(ctas_of_sm);
  add(report, "order of CTAs", dims, "SMs that the first CTAs go to, as many as there are SMs", distinct_sms(lives, 0, sms), "SMs",
      order);
  int steps = 0;
  for (std::size_t i = 1; i < std::min<std::size_t>(lives.size(), sms); ++i) steps += lives[i].sm / 2 == lives[i - 1].sm / 2;
  add(report, "order of CTAs", dims, "CTAs that follow one on the same pair of SMs", steps, "CTAs",
      "of the first " + std::to_string(sms));
}

// CTAs of unequal length, `ctas_of_sm` on an SM at a time: tests whether the next CTA goes to the SM that became free first.
void measure_next(Report& report, int ctas_of_sm) {
  const int sms = report.device().sms;
  const int places = sms * ctas_of_sm;
  const std::vector<CtaLife> lives = run(6 * places, 128, kLargest / ctas_of_sm, 60000, 600000);
  std::vector<double> ends;
  for (const CtaLife& each : lives) ends.push_back(static_cast<double>(each.end_ns));
  std::sort(ends.begin(), ends.end());
  std::vector<double> waits;  // nanoseconds from the end that made room to the start
  int in_order = 0;
  for (std::size_t i = places; i < lives.size(); ++i) {
    waits.push_back(static_cast<double>(lives[i].start_ns) - ends[i - places]);
    in_order += i == static_cast<std::size_t>(places) || lives[i].start_ns >= lives[i - 1].start_ns;
  }
  // CTA i takes the slot of the CTA on its SM that ended last before its start. The test is whether that was the (i - places)th end
  // on the chip.
  int first_freed = 0;
  std::map<unsigned, std::vector<const CtaLife*>> of_sm;
  for (const CtaLife& each : lives) of_sm[each.sm].push_back(&each);
  std::vector<double> off;  // difference in ranks
  for (std::size_t i = places; i < lives.size(); ++i) {
    double left = 0;
    for (const CtaLife* each : of_sm[lives[i].sm]) {
      if (each->end <= lives[i].start) left = std::max(left, static_cast<double>(each->end_ns));
    }
    const double rank = static_cast<double>(std::lower_bound(ends.begin(), ends.end(), left) - ends.begin());
    off.push_back(std::abs(rank - static_cast<double>(i - places)));
    first_freed += off.back() <= 2;
  }
  const std::string dims = "ctas=" + std::to_string(lives.size()) + ";ctas_of_sm=" + std::to_string(ctas_of_sm);
  const double later = static_cast<double>(lives.size() - places);
  add(report, "next CTA", dims, "share that takes the place freed first", first_freed / later, "share",
      "within two ends; ranks off: median " + CsvWriter::number(percentile_of(off, 50)) + ", 95 % " +
          CsvWriter::number(percentile_of(off, 95)));
  add(report, "next CTA", dims, "share that starts after the CTA before it in number", in_order / later, "share", "");
  add(report, "next CTA", dims, "nanoseconds from the end that made room to its start", percentile_of(waits, 50), "ns",
      "5 % " + CsvWriter::number(percentile_of(waits, 5)) + ", 95 % " + CsvWriter::number(percentile_of(waits, 95)));
}

// An SM's i-th end makes room for the CTA that starts as the (places + i)-th on that SM.
void measure_turnaround(Report& report, int threads, unsigned shared_bytes) {
  const int sms = report.device().sms;
  const std::vector<CtaLife> lives = run(40 * sms, threads, shared_bytes, 6000, 6000);
  std::map<unsigned, std::vector<const CtaLife*>> of_sm;
  for (const CtaLife& each : lives) of_sm[each.sm].push_back(&each);
  std::vector<double> gaps;
  double most = 0;
  for (auto& [sm, ctas] : of_sm) {
    std::vector<long long> starts;
    std::vector<long long> ends;
    for (const CtaLife* each : ctas) {
      starts.push_back(each->start);
      ends.push_back(each->end);
    }
    std::sort(starts.begin(), starts.end());
    std::sort(ends.begin(), ends.end());
    const std::size_t places = std::lower_bound(starts.begin(), starts.end(), ends.front()) - starts.begin();
    most = std::max(most, static_cast<double>(places));
    for (std::size_t i = 0; places + i < starts.size(); ++i) gaps.push_back(static_cast<double>(starts[places + i] - ends[i]));
  }
  if (gaps.empty()) return;
  add(report, "turnaround of a CTA",
      "threads=" + std::to_string(threads) + ";shared_bytes=" + std::to_string(shared_bytes) +
          ";ctas_of_sm=" + std::to_string(static_cast<int>(most)),
      "cycles from a CTA's last instruction to the next one's first", percentile_of(gaps, 50), "cycles",
      "5 % " + CsvWriter::number(percentile_of(gaps, 5)) + ", 95 % " + CsvWriter::number(percentile_of(gaps, 95)) +
          "; the CTA stores 40 bytes after its last reading of the clock");
}

// A first kernel leaves less room on some SMs than on others; measures where the second kernel's CTAs go.
void measure_second(Report& report, int first_ctas, unsigned first_shared, int first_threads, int second_ctas,
                    unsigned second_shared) {
  const int sms = report.device().sms;
  Buffer<CtaLife> first(first_ctas);
  Buffer<CtaLife> second(second_ctas);
  const Stream of_first;
  const Stream of_second;
  for (int run = 0; run < 2; ++run) {
    live<<<first_ctas, first_threads, first_shared, of_first.get()>>>(first.get(), 400000, 0);
    live<<<1, 32, 0, of_second.get()>>>(second.get(), 40000, 0);  // gives the first kernel time to start
    live<<<second_ctas, 128, second_shared, of_second.get()>>>(second.get(), 20000, 0);
    check(cudaGetLastError(), "dispatch");
    check(cudaDeviceSynchronize(), "dispatch");
  }
  std::vector<int> held(sms);
  for (const CtaLife& each : first.read()) ++held[each.sm];
  std::map<int, int> second_by_held;
  std::map<int, int> sms_by_held;
  std::string order;
  for (const CtaLife& each : second.read()) {
    ++second_by_held[held[each.sm]];
    if (order.size() < 200) order += (order.empty() ? "" : " ") + std::to_string(each.sm);
  }
  for (const int count : held) ++sms_by_held[count];
  for (const auto& [ctas, count] : sms_by_held)
    add(report, "second kernel",
        "first_ctas=" + std::to_string(first_ctas) + ";first_shared_bytes=" + std::to_string(first_shared) +
            ";first_threads=" + std::to_string(first_threads) + ";second_ctas=" + std::to_string(second_ctas) +
            ";second_shared_bytes=" + std::to_string(second_shared),
        "CTAs of the second one on SMs with " + std::to_string(ctas) + " of the first one", second_by_held[ctas], "CTAs",
        std::to_string(count) + " such SMs; order of SMs: " + order);
}

}  // namespace

void measure_dispatch(Report& report) {
  const int sms = report.device().sms;
  prepare();
  measure_order(report, sms, 1);
  measure_order(report, sms, 2);
  measure_order(report, 2 * sms, 2);
  measure_order(report, 1000, 8);
  measure_next(report, 1);
  measure_next(report, 2);
  for (const int threads : {32, 128, 1024}) {
    for (const unsigned shared : {0U, 100U << 10, kLargest}) measure_turnaround(report, threads, shared);
  }
  measure_second(report, sms / 2, 100 << 10, 128, sms / 2, 20 << 10);
  measure_second(report, sms + sms / 2, 100 << 10, 128, sms / 2, 20 << 10);
  measure_second(report, sms / 2, 0, 1024, sms, 0);
  measure_second(report, sms / 2, 0, 1024, 2 * sms, 0);
}

}  // namespace silicon
