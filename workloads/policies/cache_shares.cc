#include "workloads/policies/cache_shares.h"

#include <algorithm>
#include <numeric>

#include "isa/architecture.h"
#include "traces/access/opcode_access.h"
#include "workloads/common/gpu_caches.h"
#include "workloads/common/occupancy.h"
#include "workloads/common/stream_bytes.h"
#include "workloads/policies/graph.h"
#include "workloads/policies/plan.h"

namespace warpfold::policies {
namespace {

using traces::access::Access;

bool looks_into_l1(const isa::Architecture& architecture, const isa::Instruction& instruction) {
  const Access access = traces::access::access_of(architecture.info(instruction).behaviour, instruction.mnemonic);
  return access == Access::kGlobalLoad || access == Access::kGlobalStore;
}

// Counts the executed instructions of a body that access L1. `times[c]`: executions of the body by all warps in CTAs of class c.
double l1_requests(const traces::Kernel& kernel, const isa::Architecture& architecture, const std::vector<traces::Node>& body,
                   const std::vector<uint64_t>& times) {
  double requests = 0;
  for (const traces::Node& node : body) {
    if (const auto* block = std::get_if<traces::Block>(&node)) {
      const auto of_block = std::ranges::count_if(
          block->code, [&](const isa::Instruction& instruction) { return looks_into_l1(architecture, instruction); });
      requests += static_cast<double>(of_block) * static_cast<double>(std::accumulate(times.begin(), times.end(), uint64_t{0}));
      continue;
    }
    const auto& loop = std::get<traces::Loop>(node);
    std::vector<uint64_t> inside = times;
    for (size_t c = 0; c < inside.size(); ++c) inside[c] *= traces::trips(loop.trips, kernel.cta_classes[c]);
    requests += l1_requests(kernel, architecture, loop.body, inside);
  }
  return requests;
}

double l1_requests(const traces::Kernel& kernel, const isa::Architecture& architecture) {
  double requests = 0;
  for (const traces::Role& role : kernel.roles) {
    std::vector<uint64_t> warps = traces::ctas_by_class(kernel);
    for (uint64_t& count : warps) count *= role.warps;
    requests += l1_requests(kernel, architecture, role.body, warps);
  }
  return requests;
}

// A kernel's use of an SM's shared memory, and its load on the caches.
struct Resident {
  uint64_t shared_memory = 0;  // bytes of its CTAs on one SM
  CacheDemand l1;
  CacheDemand l2;
};

uint32_t warps_of(const traces::Kernel& kernel) {
  uint32_t warps = 0;
  for (const traces::Role& role : kernel.roles) warps += role.warps;
  return warps;
}

Resident resident(const PlannedKernel& planned, const configs::Gpu& gpu, const isa::Architecture& architecture) {
  const traces::Kernel& kernel = planned.kernel;
  const uint32_t sms = planned.sms.count > 0 ? planned.sms.count : gpu.sm_count();
  const workloads::CtaFootprint cta{warps_of(kernel), kernel.registers_per_thread, kernel.shared_memory_bytes};
  const std::vector<uint64_t> by_class = traces::ctas_by_class(kernel);
  const uint64_t all = std::accumulate(by_class.begin(), by_class.end(), uint64_t{0});
  const uint64_t ctas = std::min<uint64_t>(std::max(workloads::ctas_per_sm(gpu, cta), 1U), (all + sms - 1) / sms);
  const auto instructions = static_cast<double>(std::max<uint64_t>(traces::issued_instructions(kernel), 1));
  const double warps = static_cast<double>(ctas) * cta.warps;
  const std::vector<double> requested = workloads::requested_bytes(kernel);
  double distinct = 0;
  for (size_t s = 0; s < requested.size(); ++s) distinct += requested[s] * workloads::dram_share(kernel.streams[s]);
  const double bytes = std::accumulate(requested.begin(), requested.end(), 0.0);
  return {.shared_memory = ctas * workloads::cta_use(gpu, cta).shared_memory,
          .l1 = {warps * l1_requests(kernel, architecture) / instructions, distinct},
          .l2 = {warps * sms * bytes / instructions, distinct}};
}

// The part of a cache that the first of the kernels gets.
double first_part(double cache_bytes, const std::vector<Resident>& residents, CacheDemand Resident::* demand) {
  std::vector<CacheDemand> demands;
  for (const Resident& each : residents) demands.push_back(each.*demand);
  return parts_of_cache(cache_bytes, demands).front();
}

}  // namespace

std::vector<double> parts_of_cache(double cache_bytes, const std::vector<CacheDemand>& demands) {
  std::vector<double> parts(demands.size());
  std::vector<bool> satisfied(demands.size());
  double left = cache_bytes;
  for (bool again = true; again;) {
    again = false;
    double rates = 0;
    for (size_t i = 0; i < demands.size(); ++i) rates += satisfied[i] ? 0 : demands[i].rate;
    const double time = rates > 0 ? left / rates : 0;
    for (size_t i = 0; i < demands.size(); ++i) {
      if (satisfied[i]) continue;
      parts[i] = demands[i].rate * time;
      if (parts[i] < demands[i].bytes) continue;
      parts[i] = demands[i].bytes;
      satisfied[i] = true;
      left = std::max(left - parts[i], 0.0);
      again = true;
      break;
    }
  }
  return parts;
}

Expected<void> share_caches(const configs::Scenario& scenario, bool same_sms, workloads::KernelMaker& kernels, Plan& plan) {
  const Graph graph(scenario);
  const auto architecture = isa::Architecture::find(scenario.gpu().architecture());
  if (!architecture) return std::unexpected(architecture.error());
  std::vector<Resident> residents;
  for (const PlannedKernel& planned : plan.kernels) residents.push_back(resident(planned, scenario.gpu(), **architecture));
  for (int k = 0; k < scenario.kernel_size(); ++k) {
    const std::vector<int> partners = graph.partners(k);
    if (!scenario.kernel(k).has_listing() || partners.empty()) continue;
    PlannedKernel& planned = plan.kernels[static_cast<size_t>(k)];
    configs::Gpu gpu = scenario.gpu();
    if (planned.sms.count > 0) gpu.set_sm_count(planned.sms.count);
    std::vector<Resident> together{residents[static_cast<size_t>(k)]};
    uint64_t shared_memory = together.front().shared_memory;
    for (const int other : partners) {
      together.push_back(residents[static_cast<size_t>(other)]);
      shared_memory += together.back().shared_memory;
    }
    workloads::CacheRoom room;
    room.l2_bytes = static_cast<uint64_t>(first_part(static_cast<double>(gpu.l2().bytes()), together, &Resident::l2));
    if (same_sms) {
      const auto l1 = static_cast<double>(workloads::l1_beside(gpu, shared_memory));
      room.l1_bytes = static_cast<uint64_t>(first_part(l1, together, &Resident::l1));
    }
    auto beside = kernels.make(scenario.kernel(k), gpu, room);
    if (!beside) return std::unexpected(beside.error().inside(path_of_kernel(k)));
    if (beside->streams != planned.kernel.streams) planned.beside = std::move(beside->streams);
  }
  return {};
}

}  // namespace warpfold::policies
