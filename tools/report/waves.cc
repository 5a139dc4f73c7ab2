#include "tools/report/waves.h"

#include <cmath>

#include "tools/report/number_text.h"

namespace warpfold::report {

namespace {

constexpr double kTailWorthTelling = 0.05;  // of the room of all waves: less than CTAs of unequal pace leave empty at the end

uint32_t sms_of(const configs::Result& result, const configs::KernelResult& kernel) {
  return kernel.sms() > 0 ? kernel.sms() : result.provenance().scenario().gpu().sm_count();
}

}  // namespace

double waves_of(const configs::Result& result, const configs::KernelResult& kernel) {
  const double places = static_cast<double>(kernel.occupancy().ctas_per_sm_limit()) * sms_of(result, kernel);
  return places > 0 ? static_cast<double>(kernel.ctas()) / places : 0;
}

std::string tail_text(const configs::Result& result, const configs::KernelResult& kernel) {
  const double waves = waves_of(result, kernel);
  const double full = std::floor(waves);
  if (waves <= 1 || waves == full || (full + 1 - waves) / (full + 1) < kTailWorthTelling) return "";
  const uint32_t all = result.provenance().scenario().gpu().sm_count();
  return fixed(waves, 2) + " waves of CTAs: the last one fills " + fixed(100 * (waves - full), 0) + " % of " +
         (sms_of(result, kernel) == all ? "the chip" : "its SMs");
}

}  // namespace warpfold::report
