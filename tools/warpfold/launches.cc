#include "tools/warpfold/launches.h"

#include <cmath>
#include <string>

namespace warpfold::cli {

namespace {

uint32_t share(double percent, uint32_t whole) { return static_cast<uint32_t>(std::llround(percent / 100 * whole)); }

Outcome<void> reserve(const configs::Reservation& reservation, const configs::Sm& sm, sim::Launch& launch) {
  launch.reserved = true;
  launch.reserved_registers = share(reservation.register_percent(), sm.registers());
  launch.reserved_shared_memory = share(reservation.shared_memory_percent(), sm.shared_memory().bytes());
  launch.reserved_warps = share(reservation.warp_slot_percent(), sm.warp_slots());
  if (launch.reserved_warps > 0) return {};
  return user_error("the reservation for kernel \"" + reservation.kernel() + "\" rounds to no warp slot of " +
                    std::to_string(sm.warp_slots()));
}

}  // namespace

Outcome<std::vector<sim::Launch>> make_launches(const configs::Scenario& scenario, const std::vector<traces::Kernel>& kernels) {
  std::vector<sim::Launch> launches;
  for (int i = 0; i < scenario.kernel_size(); ++i) {
    const configs::Kernel& kernel = scenario.kernel(i);
    sim::Launch launch;
    launch.kernel = &kernels[static_cast<size_t>(i)];
    launch.stream = static_cast<int>(kernel.stream());
    launch.priority = kernel.priority();
    for (const std::string& name : kernel.after()) {
      for (int other = 0; other < scenario.kernel_size(); ++other) {
        if (scenario.kernel(other).name() == name) launch.after.push_back(other);
      }
    }
    for (const configs::Reservation& reservation : scenario.policy().reserve()) {
      if (scenario.policy().kind() != configs::CARVE_OUT || reservation.kernel() != kernel.name()) continue;
      if (auto reserved = reserve(reservation, scenario.gpu().sm(), launch); !reserved) return std::unexpected(reserved.error());
    }
    launches.push_back(std::move(launch));
  }
  return launches;
}

}  // namespace warpfold::cli
