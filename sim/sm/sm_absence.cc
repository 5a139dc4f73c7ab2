// Warps that are not there: a launch that has CTAs left to place and fewer on the SM than it would have alone loses the missing
// warps' cycles. They are charged to the resource that the next CTA lacks, and to the launches that hold it or have it kept for
// them.
//
//   alone 16 CTAs of 4 warps, here 1, the rest of the registers held by one GEMM CTA: 60 warp-cycles a cycle, registers, the GEMM
//
// What is missing changes only when CTAs come and go; in between, it is a sum that grows by the same amount every cycle.
#include <algorithm>
#include <numeric>

#include "sim/sm/sm.h"

namespace warpfold::sim {

void Sm::settle_absences(Cycle now) {
  if (now <= state_.absent_since) return;
  for (int launch = 0; launch < state_.account.launches(); ++launch) {
    for (const Absence& absence : state_.absences[launch])
      state_.account.charge_absent(launch, absence.culprit, absence.resource, absence.warps * (now - state_.absent_since));
  }
  settle_other_absences(now);
  state_.absent_since = now;
}

void Sm::assess_absences(Cycle now) {
  if (!kAccounting || state_.launches.size() == 1) return;  // no other launch to lose to
  settle_absences(now);
  for (int launch = 0; launch < state_.account.launches(); ++launch) state_.absences[launch] = absences(launch, now);
  assess_other_absences(now);
}

// Whole warps to each, in proportion to what they hold; the one that holds most takes what division leaves.
std::vector<Absence> Sm::absences(int launch, Cycle now) const {
  const SmLaunch& own = state_.launches[launch];
  const LaunchProgress& progress = state_.progress[launch];
  if (progress.ready > now || !ctas_left(launch) || progress.running >= own.ctas_alone) return {};
  const auto lacking = shortage(launch, now);
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

// What each other launch holds of a resource, or what is kept for it where that is more. None holds anything: each that may still
// place CTAs.
std::vector<uint64_t> Sm::kept_from(int launch, uint32_t HeldResources::* held, uint32_t SmLaunch::* reserved) const {
  std::vector<uint64_t> kept;
  for (int other = 0; other < state_.account.launches(); ++other) {
    const bool keeps = reserved != nullptr && state_.launches[other].reserved && active(other);
    const uint64_t amount = std::max(state_.held[other].*held, keeps ? state_.launches[other].*reserved : 0);
    kept.push_back(other == launch ? 0 : amount);
  }
  if (std::ranges::any_of(kept, [](uint64_t amount) { return amount > 0; })) return kept;
  for (int other = 0; other < state_.account.launches(); ++other) kept[other] = other != launch && active(other);
  return kept;
}

std::optional<Sm::Shortage> Sm::shortage_of_quota(int launch) const {
  const SmQuota& quota = state_.launches[launch].quota;
  if (!quota.bounds() || fits_quota(launch)) return std::nullopt;
  const Footprint& need = state_.launches[launch].image->footprint;
  if (quota.warps > 0 && state_.held[launch].warps + need.warps > quota.warps)
    return Shortage{Contended::kWarpSlots, kept_from(launch, &HeldResources::warps, nullptr)};
  if (quota.registers > 0 && state_.held[launch].registers + need.registers > quota.registers)
    return Shortage{Contended::kRegisters, kept_from(launch, &HeldResources::registers, nullptr)};
  return Shortage{Contended::kCtaSlots, kept_from(launch, &HeldResources::warps, nullptr)};
}

// None where the next CTA fits, and only waits for its turn.
std::optional<Sm::Shortage> Sm::shortage(int launch, Cycle now) const {
  if (const auto first = held_back_by(launch, now)) {
    auto lacking = shortage(*first, now);
    if (!lacking) return std::nullopt;
    std::ranges::fill(lacking->held_by, 0);
    lacking->held_by[*first] = 1;
    return lacking;
  }
  const Footprint& need = state_.launches[launch].image->footprint;
  if (std::ranges::all_of(state_.ctas, &Cta::resident))
    return Shortage{Contended::kCtaSlots, kept_from(launch, &HeldResources::warps, nullptr)};
  if (auto lacking = shortage_of_quota(launch)) return lacking;
  if (!fits_resource(launch, need.registers, spec_.registers, &HeldResources::registers, &SmLaunch::reserved_registers))
    return Shortage{Contended::kRegisters, kept_from(launch, &HeldResources::registers, &SmLaunch::reserved_registers)};
  if (!fits_resource(launch, need.shared_memory, spec_.shared_memory_bytes, &HeldResources::shared_memory,
                     &SmLaunch::reserved_shared_memory))
    return Shortage{Contended::kSharedMemoryCapacity,
                    kept_from(launch, &HeldResources::shared_memory, &SmLaunch::reserved_shared_memory)};
  std::vector<int> slots;
  if (!fits_resource(launch, need.warps, spec_.warp_slots, &HeldResources::warps, &SmLaunch::reserved_warps) ||
      !find_slots(need.warps, slots)) {
    return Shortage{Contended::kWarpSlots, kept_from(launch, &HeldResources::warps, &SmLaunch::reserved_warps)};
  }
  return std::nullopt;
}

}  // namespace warpfold::sim
