#include "sim/power/power_model.h"

#include <algorithm>
#include <cmath>

namespace warpfold::sim {
namespace {

// Interpolates a field linearly between points of the model, and extrapolates beyond the last two. Below the first
// point it is constant.
double interpolate(const configs::Power& power, double mhz, double (configs::OperatingPoint::*field)() const) {
  const auto& points = power.point();
  if (points.size() == 1 || mhz <= points[0].clock_mhz()) return (points[0].*field)();
  int right = 1;
  while (right + 1 < points.size() && points[right].clock_mhz() < mhz) ++right;
  const configs::OperatingPoint& low = points[right - 1];
  const configs::OperatingPoint& high = points[right];
  const double part = (mhz - low.clock_mhz()) / (high.clock_mhz() - low.clock_mhz());
  return (low.*field)() + part * ((high.*field)() - (low.*field)());
}

}  // namespace

// If DRAM is busy for nearly all of the run, its bytes per second determine the time at any clock.
double PowerLoad::cycles_at(double mhz) const {
  constexpr double kBound = 0.9;
  const bool bound = dram_cycles >= kBound * cycles;
  return bound ? cycles * mhz / clock_mhz : std::max(cycles, dram_cycles * mhz / clock_mhz);
}

double PowerModel::voltage(double mhz) const { return interpolate(power_, mhz, &configs::OperatingPoint::voltage); }

double PowerModel::static_watts(double mhz) const { return interpolate(power_, mhz, &configs::OperatingPoint::static_w); }

Energy PowerModel::at(const Energy& energy, double mhz) const {
  const double square = voltage(mhz) * voltage(mhz);
  Energy scaled = energy;
  for (double& joules : scaled.joules) joules *= square;
  scaled.joules[static_cast<size_t>(EnergyUse::kDram)] = energy.dram();
  return scaled;
}

double PowerModel::watts(const PowerLoad& load, double mhz) const {
  const Energy energy = at(load.energy, mhz);
  constexpr double kMicrosecond = 1e-6;
  return static_watts(mhz) + (energy.at_core_voltage() + energy.dram()) / (load.us_at(mhz) * kMicrosecond);
}

// Power grows with the clock, so bisection finds the limit.
double PowerModel::sustained_clock(const PowerLoad& load) const {
  const auto fits = [&](double mhz) { return watts(load, mhz) <= power_.cap_w(); };
  if (fits(power_.clock_limit_mhz())) return power_.clock_limit_mhz();
  auto low = static_cast<int64_t>(std::ceil(power_.point(0).clock_mhz()));
  auto high = static_cast<int64_t>(std::ceil(power_.clock_limit_mhz()));
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (fits(static_cast<double>(middle)) ? low : high) = middle;
  }
  return static_cast<double>(low);
}

}  // namespace warpfold::sim
