// The co-run matrix: our own GEMM beside Philox keep bits on two streams. Philox is started first, on a share of each SM that
// leaves the GEMM room (shared memory keeps it from taking more), or on SMs of its own; the GEMM runs beside it and stops it at its
// end. So the GEMM's time and the work that Philox did meanwhile are of the same span.
//
// Three figures tell contention from power: slowdowns in time, slowdowns in cycles of the SMs, and the clock that the SMs counted.
// A slowdown that is there in time and not in cycles is the clock's.

#include <stdexcept>

#include "tools/silicon/gemm_bench.h"
#include "tools/silicon/gemm_kernel.h"
#include "tools/silicon/philox_kernel.h"
#include "tools/silicon/rates.h"
#include "tools/silicon/report.h"

namespace silicon {
namespace {

constexpr GemmShape kShape{8192, 8192, 8192};
constexpr int kPieces = 400;   // of Philox alone, for each CTA
constexpr int kMore = 50;      // times as many beside the GEMM, which stops it long before; a bound, should the GEMM not start
constexpr int kSpareCtas = 8;  // times the CTAs that run: those that fall on SMs that are not theirs end at once

// Where the two kernels run.
struct Placement {
  const char* name;
  SmRange gemm;
  SmRange philox;
};

struct Together {
  double gemm_us = 0;
  double gemm_mhz = 0;
  double pieces_per_us = 0;  // Philox
  double philox_mhz = 0;
  double power_w = 0;
};

template <int kRounds, int kBits>
class Pair {
 public:
  explicit Pair(Report& report) : report_(report), data_(kShape), out_(kPhiloxWords), gemm_work_(1), philox_work_(1) {}

  // `philox_ctas`: on an SM, each with one warp on every sub-core. 0: the GEMM alone.
  Together run(const Placement& placement, int philox_ctas, bool gemm) {
    const std::uint32_t padding = padding_of(placement, philox_ctas);
    const auto philox = philox_kernel<kRounds, kBits>;
    check(cudaFuncSetAttribute(philox, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(padding)), "shared memory");
    gemm_work_.write({fresh_work()});
    philox_work_.write({fresh_work()});
    const int sms = report_.device().sms;
    // Alone, it ends by itself after as much as it does beside the GEMM, roughly.
    const unsigned pieces = static_cast<unsigned>(placement.philox.count * philox_ctas) * kPieces * (gemm ? kMore : 1);
    const int spare = placement.philox.count == sms ? 1 : kSpareCtas;
    if (philox_ctas > 0)
      philox<<<spare * sms * philox_ctas, kPhiloxThreads, padding, first_.get()>>>(out_.get(), pieces, 0xE0, placement.philox,
                                                                                   philox_work_.get(), nullptr);
    if (gemm) {
      gemm_kernel<<<spare * sms, kGemmThreads, kGemmSharedBytes, second_.get()>>>(
          data_.a.get(), data_.b.get(), data_.c.get(), kShape.m, kShape.n, kShape.k, placement.gemm, gemm_work_.get(),
          philox_ctas > 0 ? philox_work_.get() : nullptr);
    }
    check(cudaGetLastError(), "co-run");
    Together is;
    is.power_w = report_.read().power_w;
    check(cudaDeviceSynchronize(), "co-run");
    const SmWork of_gemm = gemm_work_.read().front();
    const SmWork of_philox = philox_work_.read().front();
    is.gemm_us = gemm ? static_cast<double>(of_gemm.end_ns - of_gemm.start_ns) / 1e3 : 0;
    is.gemm_mhz = gemm ? mhz_of(static_cast<double>(of_gemm.cycles), static_cast<double>(of_gemm.ns)) : 0;
    if (philox_ctas == 0) return is;
    const double us = gemm ? is.gemm_us : static_cast<double>(of_philox.end_ns - of_philox.start_ns) / 1e3;
    if (gemm && of_gemm.other_at_end == 0) throw std::runtime_error("the two kernels did not run beside each other");
    const double done = gemm ? of_gemm.other_at_end - of_gemm.other_at_start : pieces;
    is.pieces_per_us = done / us;
    is.philox_mhz = mhz_of(static_cast<double>(of_philox.cycles), static_cast<double>(of_philox.ns));
    return is;
  }

  // The same five times, after one that does not count: medians.
  Together median(const Placement& placement, int philox_ctas, bool gemm) {
    run(placement, philox_ctas, gemm);
    std::vector<Together> runs;
    for (int r = 0; r < 5; ++r) runs.push_back(run(placement, philox_ctas, gemm));
    const auto of = [&](double Together::* field) {
      std::vector<double> values;
      for (const Together& each : runs) values.push_back(each.*field);
      return spread_of(values).median;
    };
    return {of(&Together::gemm_us), of(&Together::gemm_mhz), of(&Together::pieces_per_us), of(&Together::philox_mhz),
            of(&Together::power_w)};
  }

 private:
  // Whether an SM that has the GEMM has room for so many CTAs of Philox.
 public:
  bool fits(const Placement& placement, int philox_ctas) const {
    if (placement.gemm.first != placement.philox.first) return true;
    return ctas_per_sm(needs(philox_kernel<kRounds, kBits>, kPhiloxThreads, padding_of(placement, philox_ctas)),
                       left_by(1, needs(gemm_kernel, kGemmThreads, kGemmSharedBytes), report_.device().limits)) >=
           static_cast<std::uint32_t>(philox_ctas);
  }

 private:
  template <typename Kernel>
  static CtaNeeds needs(Kernel kernel, int threads, std::size_t shared_memory) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "a kernel's registers");
    return {static_cast<std::uint32_t>(threads), static_cast<std::uint32_t>(attributes.numRegs),
            static_cast<std::uint32_t>(shared_memory + attributes.sharedSizeBytes)};
  }

  // On shared SMs Philox gets no more CTAs than asked for because its shared memory, with the GEMM's, fills what is left.
  std::uint32_t padding_of(const Placement& placement, int philox_ctas) const {
    if (philox_ctas == 0) return 0;
    const SmLimits& sm = report_.device().limits;
    if (placement.gemm.first != placement.philox.first) return padding_for(static_cast<std::uint32_t>(philox_ctas), sm) - 128;
    // 128 bytes less for what the kernel has of its own.
    return padding_for(static_cast<std::uint32_t>(philox_ctas),
                       left_by(1, needs(gemm_kernel, kGemmThreads, kGemmSharedBytes), sm)) -
           128;
  }

  Report& report_;
  GemmData data_;
  Buffer<std::uint32_t> out_;
  Buffer<SmWork> gemm_work_;
  Buffer<SmWork> philox_work_;
  Stream first_;
  Stream second_;
};

void add(Report& report, const std::string& kernel, const std::string& dims, double value, const char* metric, const char* unit,
         double mhz, double power_w) {
  Measurement row;
  row.category = "CORUN";
  row.kernel = kernel;
  row.dtype = "bf16";
  row.m = std::to_string(kShape.m);
  row.n = std::to_string(kShape.n);
  row.k = std::to_string(kShape.k);
  row.dims_other = dims;
  row.metric = metric;
  row.value = value;
  row.unit = unit;
  row.clock_mhz = mhz;
  row.power_w = power_w;
  report.add(row);
}

template <int kRounds, int kBits>
void measure(Report& report) {
  Pair<kRounds, kBits> pair(report);
  const int sms = report.device().sms;
  const int quarter = sms / 4;
  for (const Placement& placement :
       {Placement{"shared SMs", {0, sms}, {0, sms}}, {"disjoint SMs", {0, sms - quarter}, {sms - quarter, quarter}}}) {
    const Together gemm = pair.median(placement, 0, true);
    for (const int ctas : {1, 2, 4, 8}) {
      if (!pair.fits(placement, ctas)) continue;  // the GEMM's registers leave no room
      const Together philox = pair.median(placement, ctas, false);
      const Together both = pair.median(placement, ctas, true);
      const std::string dims = "rounds=" + std::to_string(kRounds) + ";threshold_bits=" + std::to_string(kBits) +
                               ";warps_per_sub_core=" + std::to_string(ctas) + ";placement=" + placement.name +
                               ";gemm_sms=" + std::to_string(placement.gemm.count) +
                               ";philox_sms=" + std::to_string(placement.philox.count);
      const auto both_ways = [&](const char* kernel, double in_time, double alone_mhz, double beside_mhz) {
        add(report, kernel, dims, in_time, "slowdown", "x", beside_mhz, both.power_w);
        add(report, kernel, dims, in_time * beside_mhz / alone_mhz, "slowdown in cycles", "x", beside_mhz, both.power_w);
      };
      both_ways("GEMM beside Philox", slowdown(both.gemm_us, gemm.gemm_us), gemm.gemm_mhz, both.gemm_mhz);
      both_ways("Philox beside GEMM", philox.pieces_per_us / both.pieces_per_us, philox.philox_mhz, both.philox_mhz);
      add(report, "GEMM alone", dims, gemm.gemm_us, "median time", "us", gemm.gemm_mhz, gemm.power_w);
    }
  }
}

}  // namespace

void measure_co_run(Report& report) {
  if (report.device().compute != 90) return;
  check(cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kGemmSharedBytes), "shared memory");
  measure<7, 32>(report);
  measure<7, 8>(report);
  measure<3, 32>(report);
}

}  // namespace silicon
