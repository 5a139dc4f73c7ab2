// Missing warps. A launch that has CTAs left to place, and fewer on the SM than it would have alone, loses the cycles
// of the missing warps. They are charged to the resource that its next CTA lacks, and to the launches that hold or
// reserve it.
//
//   alone 16 CTAs of 4 warps, here 1, with the other registers held by a GEMM's CTA: 60 warp-cycles a cycle, for lack of
//   registers, charged to the GEMM
//
// The same functions count the warp-cycles for which two launches have CTAs on the SM at the same time.
//
// The number of missing warps changes only when CTAs come and go. In between, their cycles grow by the same amount
// every cycle.
#include "sim/sm/sm_absence.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "sim/sm/alternative_bounds.h"
#include "sim/sm/cta_slots.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {
namespace {

// The resource that a launch's next CTA lacks, and how much of it each launch holds or has reserved.
struct Shortage {
  Contended resource;
  std::vector<uint64_t> held_by;
};

// Returns how much of a resource each other launch holds, or has reserved if that is more. If none holds any, returns 1
// for each launch that may still place CTAs.
std::vector<uint64_t> kept_from(const Sm& sm, int launch, uint32_t HeldResources::*held, uint32_t SmLaunch::*reserved) {
  const SmState& state = sm.state();
  std::vector<uint64_t> kept;
  for (int other = 0; other < state.account.launches(); ++other) {
    const bool keeps = reserved != nullptr && state.launches[other].reserved && active(sm, other);
    const uint64_t amount = std::max(state.held[other].*held, keeps ? state.launches[other].*reserved : 0);
    kept.push_back(other == launch ? 0 : amount);
  }
  if (std::ranges::any_of(kept, [](uint64_t amount) { return amount > 0; })) return kept;
  for (int other = 0; other < state.account.launches(); ++other) kept[other] = other != launch && active(sm, other);
  return kept;
}

std::optional<Shortage> shortage_of_quota(const Sm& sm, int launch) {
  const SmState& state = sm.state();
  const SmQuota& quota = state.launches[launch].quota;
  if (!quota.bounds() || fits_quota(sm, launch)) return std::nullopt;
  const Footprint& need = state.launches[launch].image->footprint;
  if (quota.warps > 0 && state.held[launch].warps + need.warps > quota.warps)
    return Shortage{Contended::kWarpSlots, kept_from(sm, launch, &HeldResources::warps, nullptr)};
  if (quota.registers > 0 && state.held[launch].registers + need.registers > quota.registers)
    return Shortage{Contended::kRegisters, kept_from(sm, launch, &HeldResources::registers, nullptr)};
  return Shortage{Contended::kCtaSlots, kept_from(sm, launch, &HeldResources::warps, nullptr)};
}

// Returns none if the next CTA fits and only waits for its turn.
std::optional<Shortage> shortage(const Sm& sm, int launch, Cycle now) {
  const SmState& state = sm.state();
  if (const auto first = held_back_by(sm, launch, now)) {
    auto lacking = shortage(sm, *first, now);
    if (!lacking) return std::nullopt;
    std::ranges::fill(lacking->held_by, 0);
    lacking->held_by[*first] = 1;
    return lacking;
  }
  const Footprint& need = state.launches[launch].image->footprint;
  if (std::ranges::all_of(state.ctas, &Cta::resident))
    return Shortage{Contended::kCtaSlots, kept_from(sm, launch, &HeldResources::warps, nullptr)};
  if (auto lacking = shortage_of_quota(sm, launch)) return lacking;
  if (!fits_resource(sm, launch, need.registers, sm.spec().registers, &HeldResources::registers, &SmLaunch::reserved_registers))
    return Shortage{Contended::kRegisters, kept_from(sm, launch, &HeldResources::registers, &SmLaunch::reserved_registers)};
  if (!fits_resource(sm, launch, need.shared_memory, sm.spec().shared_memory_bytes, &HeldResources::shared_memory,
                     &SmLaunch::reserved_shared_memory))
    return Shortage{Contended::kSharedMemoryCapacity,
                    kept_from(sm, launch, &HeldResources::shared_memory, &SmLaunch::reserved_shared_memory)};
  if (!tensor_memory_fits(sm, launch))
    return Shortage{Contended::kTensorMemoryCapacity, kept_from(sm, launch, &HeldResources::tensor_memory, nullptr)};
  if (!fits_resource(sm, launch, need.warps, sm.spec().warp_slots, &HeldResources::warps, &SmLaunch::reserved_warps) ||
      !find_slots(sm, need.warps)) {
    return Shortage{Contended::kWarpSlots, kept_from(sm, launch, &HeldResources::warps, &SmLaunch::reserved_warps)};
  }
  return std::nullopt;
}

// Charges `cycles` of time together to each pair of launches with CTAs on the SM, a launch and itself included.
void charge_time_together(SmState& state, Cycle cycles) {
  const auto launches = static_cast<int>(state.present.size());
  for (int launch = 0; launch < launches; ++launch) {
    if (state.present[launch] == 0) continue;
    for (int other = 0; other < launches; ++other) {
      if (state.present[other] > 0) state.account.charge_beside(launch, other, state.present[launch] * cycles);
    }
  }
}

}  // namespace

void settle_absences(Sm& sm, Cycle now) {
  SmState& state = sm.state();
  if (now <= state.absent_since) return;
  for (int launch = 0; launch < state.account.launches(); ++launch) {
    for (const Absence& absence : state.absences[launch])
      state.account.charge_absent(launch, absence.culprit, absence.resource, absence.warps * (now - state.absent_since));
  }
  charge_time_together(state, now - state.absent_since);
  settle_alternative_absences(sm, now);
  state.absent_since = now;
}

void assess_absences(Sm& sm, Cycle now) {
  SmState& state = sm.state();
  if (!kAccounting || state.launches.size() == 1) return;  // no other launch to lose to
  settle_absences(sm, now);
  for (int launch = 0; launch < state.account.launches(); ++launch) {
    state.absences[launch] = absences(sm, launch, now);
    state.present[launch] = state.held[launch].warps;
  }
  assess_alternative_absences(sm, now);
}

// Each launch is charged whole warps, in proportion to its holdings. The largest holder takes the remainder of the
// division.
std::vector<Absence> absences(const Sm& sm, int launch, Cycle now) {
  const SmState& state = sm.state();
  const SmLaunch& own = state.launches[launch];
  const LaunchProgress& progress = state.progress[launch];
  if (progress.ready > now || !state.ctas_left(launch) || progress.running >= own.ctas_alone) return {};
  const auto lacking = shortage(sm, launch, now);
  if (!lacking) return {};
  const std::vector<uint64_t>& held = lacking->held_by;
  const uint64_t all = std::accumulate(held.begin(), held.end(), uint64_t{0});
  if (all == 0) return {};
  const uint64_t warps = (own.ctas_alone - progress.running) * own.image->footprint.warps;
  std::vector<Absence> result;
  uint64_t left = warps;
  for (size_t culprit = 0; culprit < held.size(); ++culprit) {
    const uint64_t share = warps * held[culprit] / all;
    if (share > 0) result.push_back({static_cast<int>(culprit), lacking->resource, share});
    left -= share;
  }
  const auto most = static_cast<int>(std::ranges::max_element(held) - held.begin());
  if (left > 0) result.push_back({most, lacking->resource, left});
  return result;
}

}  // namespace warpfold::sim
