#include "sim/gpu/admission.h"

#include <cstdint>
#include <string>

#include "configs/escape/quoted.h"

namespace warpfold::sim {
namespace {

// A bound of 0 is no bound.
bool exceeds(uint32_t needed, uint32_t bound) { return bound > 0 && needed > bound; }

// A CTA that exceeds the launch's own reservation could start only after all other launches have ended. That is a
// mistake in the scenario.
Expected<void> check_reservation(const Launch& launch, const Footprint& need) {
  if (!launch.reserved) return {};
  if (!exceeds(need.registers, launch.reserved_registers) && !exceeds(need.shared_memory, launch.reserved_shared_memory) &&
      !exceeds(need.warps, launch.reserved_warps)) {
    return {};
  }
  return fail("a CTA of kernel " + escape::quoted(launch.kernel->name) + " does not fit what is reserved for it: it needs " +
              std::to_string(need.warps) + " warps, " + std::to_string(need.registers) + " registers and " +
              std::to_string(need.shared_memory) + " bytes of shared memory; reserved are " +
              std::to_string(launch.reserved_warps) + ", " + std::to_string(launch.reserved_registers) + " and " +
              std::to_string(launch.reserved_shared_memory));
}

Expected<void> check_quota(const Launch& launch, const Footprint& need) {
  if (!exceeds(need.warps, launch.quota.warps) && !exceeds(need.registers, launch.quota.registers)) return {};
  return fail("a CTA of kernel " + escape::quoted(launch.kernel->name) + " does not fit its quota: it needs " +
              std::to_string(need.warps) + " warps and " + std::to_string(need.registers) + " registers; the quota is " +
              std::to_string(launch.quota.warps) + " and " + std::to_string(launch.quota.registers) + " (0: any)");
}

Expected<void> check_sms(uint32_t sms, const Launch& launch) {
  if (launch.sms.first < sms && launch.sms.count <= sms - launch.sms.first) return {};
  return fail("kernel " + escape::quoted(launch.kernel->name) + " is given SMs " + std::to_string(launch.sms.first) + " to " +
              std::to_string(uint64_t{launch.sms.first} + launch.sms.count - 1) + " of " + std::to_string(sms));
}

}  // namespace

Expected<void> check_bounds(const Spec& spec, const Launch& launch, const Footprint& need) {
  if (auto fits = check_reservation(launch, need); !fits) return fits;
  if (auto fits = check_sms(spec.memory.sm_count, launch); !fits) return fits;
  return check_quota(launch, need);
}

}  // namespace warpfold::sim
