#pragma once

#include <iostream>

#include "tools/silicon/gemm_bench.h"
#include "tools/silicon/rates.h"
#include "tools/silicon/report.h"

// Our own GEMM and another kernel on two streams: both on every SM (where shared memory limits the other kernel's CTAs), or on
// disjoint sets of SMs. At its end the GEMM stops the other kernel, so that the GEMM's time and the other kernel's work cover the
// same span. The GEMM repeats its product until power and clock have settled.
//
// Three figures separate contention from power: slowdowns in time, slowdowns in cycles of the SMs, and the clock that the SMs
// counted. A slowdown in time but not in cycles comes from the clock.
namespace silicon {

constexpr GemmShape kCoRunShape{8192, 8192, 8192};
constexpr int kRepeats = 24;         // products: some 50 ms in total
constexpr int kSpareCtas = 8;        // multiple of the CTAs that run: CTAs on SMs outside the kernel's range exit at once
constexpr int kBesideThreads = 128;  // threads per CTA of the other kernel: one warp on each sub-core

// The kernel beside the GEMM: takes pieces of work until `pieces` are taken or it is stopped. `parameter` is passed on to it.
struct BesideKernel {
  std::string name;
  void (*kernel)(std::uint32_t* data, unsigned pieces, unsigned parameter, SmRange sms, SmWork* own, SmWork* other);
  std::uint32_t* data;
  unsigned parameter;
  std::string dims;  // column dims_other of its rows
};

enum class Order { kGemmFirst, kGemmSecond };

// The SMs of the two kernels, and the kernel that starts first.
struct Placement {
  const char* name;
  SmRange gemm;
  SmRange beside;
  Order order;
  bool shared() const { return gemm.first == beside.first; }
};

struct Together {
  double gemm_us = 0;
  double gemm_mhz = 0;
  double pieces_per_us = 0;  // work of the other kernel
  double beside_mhz = 0;
  double power_w = 0;
};

class CoRunPair {
 public:
  CoRunPair(Report& report, const GemmKernel& gemm, BesideKernel beside)
      : report_(report), gemm_(gemm), beside_(std::move(beside)), gemm_work_(1), beside_work_(1) {
    prepare_shared_memory(gemm_.kernel, gemm_.shared_bytes);
  }

  // True if an SM with the GEMM has room for `ctas` CTAs of the other kernel.
  bool fits(const Placement& placement, int ctas) const {
    return !placement.shared() ||
           ctas_per_sm(needs(beside_.kernel, kBesideThreads, 0), left_by_gemm()) >= static_cast<std::uint32_t>(ctas);
  }

  // Reports the slowdowns of both kernels as rows. `ctas`: CTAs of the other kernel per SM, each with one warp on every sub-core.
  void measure(const Placement& placement, int ctas) {
    if (!fits(placement, ctas)) return;  // the GEMM's registers leave no room
    // Alone, the other kernel runs for as long as the GEMM takes, so that both have the same clock and temperature.
    const auto few = static_cast<unsigned>(placement.beside.count * ctas) * 100;
    const double probe = run(placement, ctas, false, few).pieces_per_us;
    const unsigned pieces = std::max(few, static_cast<unsigned>(probe * run(placement, 0, true, 0).gemm_us));
    std::vector<Together> gemms, besides, boths;
    bool together = true;
    for (int r = 0; r < kRuns; ++r) {  // the three cases take turns, so that their temperatures are equal
      gemms.push_back(run(placement, 0, true, 0));
      boths.push_back(run(placement, ctas, true, kUnbounded));
      together = together && together_;
      besides.push_back(run(placement, ctas, false, pieces));
    }
    const Together gemm = median_of(gemms);
    const Together beside = median_of(besides);
    const Together both = median_of(boths);
    if (!together) {
      std::cerr << beside_.name << ": the two kernels were not together on every SM (" << placement.name << ", " << ctas << ")\n";
      return;
    }
    const std::string dims = beside_.dims + ";warps_per_sub_core=" + std::to_string(ctas) + ";placement=" + placement.name +
                             ";older=" + (placement.order == Order::kGemmFirst ? "GEMM" : beside_.name) +
                             ";gemm_sms=" + std::to_string(placement.gemm.count) +
                             ";beside_sms=" + std::to_string(placement.beside.count);
    const auto both_ways = [&](const std::string& kernel, double in_time, double alone_mhz, double beside_mhz) {
      add(kernel, dims, in_time, "slowdown", "x", beside_mhz, both.power_w);
      add(kernel, dims, in_time * beside_mhz / alone_mhz, "slowdown in cycles", "x", beside_mhz, both.power_w);
    };
    both_ways("GEMM beside " + beside_.name, slowdown(both.gemm_us, gemm.gemm_us), gemm.gemm_mhz, both.gemm_mhz);
    both_ways(beside_.name + " beside GEMM", beside.pieces_per_us / both.pieces_per_us, beside.beside_mhz, both.beside_mhz);
    add("GEMM alone", dims, gemm.gemm_us / kRepeats, "median time", "us", gemm.gemm_mhz, gemm.power_w);
    add(beside_.name + " alone", dims, 1e3 * beside.pieces_per_us, "pieces of work", "1/ms", beside.beside_mhz, beside.power_w);
  }

 private:
  static constexpr unsigned kUnbounded = 1U << 30;
  static constexpr int kRuns = 5;

  // Runs either or both. Without the GEMM, the other kernel ends after `pieces`.
  Together run(const Placement& placement, int ctas, bool gemm, unsigned pieces) {
    const std::uint32_t padding = padding_of(placement, ctas);
    prepare_shared_memory(beside_.kernel, padding);
    gemm_work_.write({fresh_work()});
    beside_work_.write({fresh_work()});
    const int sms = report_.device().sms;
    const int spare = placement.shared() ? 1 : kSpareCtas;
    const auto start_beside = [&] {
      if (ctas == 0) return;
      beside_.kernel<<<spare * sms * ctas, kBesideThreads, padding, first_.get()>>>(beside_.data, pieces, beside_.parameter,
                                                                                    placement.beside, beside_work_.get(), nullptr);
    };
    if (placement.order == Order::kGemmSecond) start_beside();
    if (gemm)
      gemm_.launch(spare * sms, kRepeats, placement.gemm, gemm_work_.get(), ctas > 0 ? beside_work_.get() : nullptr, second_.get());
    if (placement.order == Order::kGemmFirst) start_beside();
    check(cudaGetLastError(), "co-run");
    Together is;
    while (cudaStreamQuery(gemm ? second_.get() : first_.get()) == cudaErrorNotReady) is.power_w = report_.power_w();
    check(cudaDeviceSynchronize(), "co-run");
    const SmWork of_gemm = gemm_work_.read().front();
    const SmWork of_beside = beside_work_.read().front();
    is.gemm_us = gemm ? static_cast<double>(of_gemm.end_ns - of_gemm.start_ns) / 1e3 : 0;
    is.gemm_mhz = gemm ? mhz_of(static_cast<double>(of_gemm.cycles), static_cast<double>(of_gemm.ns)) : 0;
    if (ctas == 0) return is;
    const double us = gemm ? is.gemm_us : static_cast<double>(of_beside.end_ns - of_beside.start_ns) / 1e3;
    is.pieces_per_us = (gemm ? of_gemm.other_at_end - of_gemm.other_at_start : pieces) / us;
    is.beside_mhz = mhz_of(static_cast<double>(of_beside.cycles), static_cast<double>(of_beside.ns));
    if (gemm)
      together_ = of_gemm.other_at_end > of_gemm.other_at_start &&
                  (!placement.shared() || ran_beside(of_gemm, of_beside, placement.gemm, static_cast<unsigned>(ctas)));
    return is;
  }

  static Together median_of(const std::vector<Together>& runs) {
    const auto of = [&](double Together::*field) {
      std::vector<double> values;
      for (const Together& each : runs) values.push_back(each.*field);
      return spread_of(values).median;
    };
    return {of(&Together::gemm_us), of(&Together::gemm_mhz), of(&Together::pieces_per_us), of(&Together::beside_mhz),
            of(&Together::power_w)};
  }

  template <typename Kernel>
  static CtaNeeds needs(Kernel kernel, int threads, std::size_t shared_memory) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "a kernel's registers");
    return {static_cast<std::uint32_t>(threads), static_cast<std::uint32_t>(attributes.numRegs),
            static_cast<std::uint32_t>(shared_memory + attributes.sharedSizeBytes)};
  }
  SmLimits left_by_gemm() const {
    return left_by(1, needs(gemm_.kernel, gemm_.threads, gemm_.shared_bytes), report_.device().limits);
  }

  // Shared memory that limits the other kernel to `ctas` CTAs per SM: together with the GEMM's it fills the SM. The kernel's own
  // static shared memory takes 128 of the bytes.
  std::uint32_t padding_of(const Placement& placement, int ctas) const {
    if (ctas == 0) return 0;
    return padding_for(static_cast<std::uint32_t>(ctas), placement.shared() ? left_by_gemm() : report_.device().limits) - 128;
  }

  void add(const std::string& kernel, const std::string& dims, double value, const char* metric, const char* unit, double mhz,
           double power_w) {
    Measurement row;
    row.category = "CORUN";
    row.kernel = kernel;
    row.impl = gemm_.impl;
    row.dtype = name_of(gemm_.type);
    row.m = std::to_string(kCoRunShape.m);
    row.n = std::to_string(kCoRunShape.n);
    row.k = std::to_string(kCoRunShape.k * elements_of_word(gemm_.type));
    row.dims_other = dims;
    row.metric = metric;
    row.value = value;
    row.unit = unit;
    row.clock_mhz = mhz;
    row.power_w = power_w;
    report_.add(row);
  }

  Report& report_;
  const GemmKernel& gemm_;
  BesideKernel beside_;
  Buffer<SmWork> gemm_work_;
  Buffer<SmWork> beside_work_;
  Stream first_;
  Stream second_;
  bool together_ = false;  // whether the kernels overlapped in the last run of both
};

// Placements: all SMs for both, with either kernel older; or a quarter of the SMs for the other kernel.
inline std::vector<Placement> placements(int sms) {
  const int quarter = sms / 4;
  return {{"shared SMs", {0, sms}, {0, sms}, Order::kGemmFirst},
          {"shared SMs", {0, sms}, {0, sms}, Order::kGemmSecond},
          {"disjoint SMs", {0, sms - quarter}, {sms - quarter, quarter}, Order::kGemmFirst}};
}

}  // namespace silicon
