#include "tools/warpfold/run/stand_ins.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "tools/report/number_text.h"

namespace warpfold::cli {
namespace {

constexpr uint32_t kWarpThreads = 32;
// Time is nearly linear in the amount, except for waves of CTAs and the filling of queues. assumed: enough rounds for the launches
// of tests/profile/stand_ins_test.cc to come within 3 %.
constexpr int kRounds = 5;
constexpr double kMostAmount = 1e9;  // keeps the checks' products finite; a microsecond needs less than 1e5

class Fit {
 public:
  Fit(const OpaqueLaunch& launch, const configs::Gpu& gpu) : launch_(launch), gpu_(gpu), amount_(estimate()) {}

  bool done() const { return done_; }

  validation::Run run(uint64_t amount) const {
    validation::Run run;
    run.scenario.set_name("profile");
    *run.scenario.mutable_gpu() = gpu_;
    configs::Kernel& kernel = *run.scenario.add_kernel();
    kernel.set_name("kernel");
    configs::Opaque& opaque = *kernel.mutable_opaque();
    opaque.set_demand(launch_.demand);
    opaque.set_ctas(launch_.ctas);
    opaque.set_threads_per_cta(warps() * kWarpThreads);
    opaque.set_amount(amount);
    if (launch_.registers_per_thread > 0) kernel.mutable_footprint()->set_registers_per_thread(launch_.registers_per_thread);
    kernel.mutable_footprint()->set_shared_memory_bytes(launch_.shared_memory_bytes);
    return run;
  }
  validation::Run next() const { return run(amount_); }

  void take(const Outcome<configs::SimulatedPoint>& point) {
    if (!point) {
      failure_ = point.error().text;
      done_ = true;
      return;
    }
    const Tried tried{amount_, static_cast<double>(point->total_cycles()) / point->clock_mhz()};
    if (!nearest_ || std::abs(tried.us - launch_.us) < std::abs(nearest_->us - launch_.us)) nearest_ = tried;
    const double slope = last_ && last_->amount != tried.amount
                             ? (tried.us - last_->us) / (static_cast<double>(tried.amount) - static_cast<double>(last_->amount))
                             : 0;
    const auto at = static_cast<double>(tried.amount);
    const uint64_t amount = bounded(slope > 0 ? at + (launch_.us - tried.us) / slope : at * launch_.us / tried.us);
    done_ = amount == tried.amount || (last_ && amount == last_->amount);
    last_ = tried;
    amount_ = amount;
  }

  Outcome<StandIn> result() const {
    if (!failure_.empty()) return user_error(failure_);
    if (nearest_->amount == 1 && nearest_->us > launch_.us)
      return user_error("no stand-in: " + std::to_string(launch_.ctas) + " CTAs take at least " + report::time_text(nearest_->us) +
                        ", and " + report::time_text(launch_.us) + " were measured");
    return StandIn{run(nearest_->amount), nearest_->us};
  }

 private:
  struct Tried {
    uint64_t amount;
    double us;
  };

  static uint64_t bounded(double amount) { return static_cast<uint64_t>(std::clamp(std::round(amount), 1.0, kMostAmount)); }
  uint32_t warps() const { return (launch_.threads_per_cta + kWarpThreads - 1) / kWarpThreads; }

  uint64_t estimate() const {
    const double cycles = launch_.us * gpu_.clock_mhz();
    const double warps_in_all = static_cast<double>(launch_.ctas) * warps();
    const double sms = gpu_.sm_count();
    switch (launch_.demand) {
      case configs::DRAM: {
        constexpr double kBytesOfGb = 1e3;  // per microsecond
        constexpr double kWordBytes = 4.0 * kWarpThreads;
        return bounded(launch_.us * gpu_.dram().bandwidth_gb_per_s() * kBytesOfGb / (warps_in_all * kWordBytes));
      }
      case configs::ISSUE:
        return bounded(cycles * sms * gpu_.sm().sub_cores() / warps_in_all);
      default: {
        constexpr double kWaitCycles = 300;  // assumed: of a load from L2; the first simulation corrects it
        const double resident = std::min(static_cast<double>(launch_.ctas), sms * gpu_.sm().warp_slots() / warps());
        return bounded(cycles * resident / static_cast<double>(launch_.ctas) / kWaitCycles);
      }
    }
  }

  const OpaqueLaunch& launch_;
  const configs::Gpu& gpu_;
  uint64_t amount_;
  std::optional<Tried> last_{};
  std::optional<Tried> nearest_{};
  std::string failure_{};
  bool done_ = false;
};

}  // namespace

Outcome<std::vector<Outcome<StandIn>>> stand_ins(const std::vector<OpaqueLaunch>& launches, const configs::Gpu& gpu,
                                                 ValidationPoints& points) {
  std::vector<Fit> fits;
  fits.reserve(launches.size());
  for (const OpaqueLaunch& launch : launches) fits.emplace_back(launch, gpu);
  for (int round = 0; round < kRounds && !std::ranges::all_of(fits, &Fit::done); ++round) {
    for (const Fit& fit : fits) {
      if (!fit.done()) points.add(fit.next(), false);
    }
    if (auto simulated = points.simulate_all(); !simulated) return std::unexpected(simulated.error());
    for (Fit& fit : fits) {
      if (!fit.done()) fit.take(points.find(fit.next(), false));
    }
  }
  std::vector<Outcome<StandIn>> results;
  results.reserve(fits.size());
  for (const Fit& fit : fits) results.push_back(fit.result());
  return results;
}

}  // namespace warpfold::cli
