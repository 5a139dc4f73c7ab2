#include "tools/warpfold/figures/binding.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "configs/resources.h"
#include "sim/account/states.h"
#include "tools/warpfold/figures/ratio.h"
#include "tools/warpfold/figures/result.h"

namespace warpfold::cli {
namespace {

using sim::WarpState;

constexpr std::array<std::string_view, 3> kOfChip{"l2_read", "l2_write", "dram"};
constexpr double kBinds = 0.6;  // share of the time above which a busy resource binds

// Waits for results. Only a shorter latency or more warps shorten or hide such a wait.
constexpr std::array kLatencies{std::pair{WarpState::kShortScoreboard, "latency of shared memory"},
                                std::pair{WarpState::kLongScoreboard, "latency of global memory"},
                                std::pair{WarpState::kBarrier, "latency of barriers"},
                                std::pair{WarpState::kGmma, "latency of wgmma"}, std::pair{WarpState::kDrain, "latency of stores"}};

// A resource's name in a result, and the name of the `whatif` resource that relieves it, if the two differ.
using Names = std::pair<std::string_view, std::string_view>;
constexpr std::array kReliefs{
    Names{"wgmma", "tensor"},
    Names{"tcgen05", "tensor"},
    Names{"register_read_port", "register_read_ports"},
    Names{"register_write_port", "register_write_ports"},
    Names{"sm_ingress", "network"},
    Names{"sm_egress", "network"},
    Names{"l2_read", "l2"},
    Names{"l2_write", "l2"},
    Names{"shared_memory_capacity", "shared_memory_bytes"},
    Names{"occupancy (registers)", "registers"},
    Names{"occupancy (shared_memory)", "shared_memory_bytes"},
    Names{"occupancy (warp_slots)", "warp_slots"},
    Names{"occupancy (cta_slots)", "cta_slots"},
    Names{"CTA starts", "launch_latency"},
    Names{"latency of shared memory", "shared_memory_latency"},
    Names{"latency of global memory", "l2_latency"},
    Names{"latency of barriers", "barrier_latency"},
    Names{"latency of wgmma", "tensor_latency"},
    Names{"latency of stores", "l2_latency"},
};

// Issuing, and waits of a fixed length that the instruction alone determines.
constexpr std::array kFixed{WarpState::kSelected, WarpState::kWait, WarpState::kBranchResolving};

std::string longest_wait(const sim::KernelCounters& kernel) {
  const auto cycles = [&](WarpState state) { return kernel.states[static_cast<size_t>(state)]; };
  uint64_t fixed = 0;
  for (const WarpState state : kFixed) fixed += cycles(state);
  const auto* const longest = std::ranges::max_element(kLatencies, {}, [&](const auto& each) { return cycles(each.first); });
  return cycles(longest->first) > fixed ? longest->second : "clock";
}

}  // namespace

std::string binding_of(const configs::Gpu& gpu, uint32_t sms, const sim::Outcome& alone) {
  const sim::KernelCounters& kernel = alone.kernels.front();
  // A kernel on part of the SMs has all of L2 and DRAM, but no more of the other resources than its SMs have.
  const auto used = [&](const sim::ResourceUse& use) {
    const bool of_chip = std::ranges::find(kOfChip, use.name) != kOfChip.end();
    return of_chip ? utilization(use) : utilization(use) * gpu.sm_count() / sms;
  };
  const auto busiest = std::ranges::max_element(alone.resources, {}, used);
  if (busiest != alone.resources.end() && used(*busiest) > kBinds) return busiest->name;
  if (kernel.ctas < sms) return "grid";
  const double latency_scale = gpu.launch().has_latency_scale() ? gpu.launch().latency_scale() : 1;
  const double starts = static_cast<double>(kernel.ctas) / sms * gpu.sm().cta_launch_cycles() * latency_scale;
  if (starts > kBinds * static_cast<double>(kernel.end_cycle - kernel.start_cycle)) return "CTA starts";
  if (kernel.ctas > uint64_t{kernel.cta_limit} * sms) return "occupancy (" + kernel.cta_limiter + ")";
  return longest_wait(kernel);
}

std::string relief_of(std::string_view name) {
  const auto* const known = std::ranges::find(kReliefs, name, &Names::first);
  if (known != kReliefs.end()) return std::string(known->second);
  const configs::ScalableResource* const resource = configs::find_resource(name);
  return resource != nullptr && !resource->many ? std::string(name) : "";
}

}  // namespace warpfold::cli
