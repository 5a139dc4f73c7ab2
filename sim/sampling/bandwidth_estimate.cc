#include "sim/sampling/bandwidth_estimate.h"

#include <algorithm>

namespace warpfold::sim {
namespace {

// Classes whose SMs do the same thing at the same time ask for the same number of bytes, and all at once.
bool in_lock_step(const MemoryDemand& one, const MemoryDemand& other) {
  return one.l2_read == other.l2_read && one.l2_write == other.l2_write && one.dram_read == other.dram_read &&
         one.dram_write == other.dram_write;
}

// Of `capacity`, for class `own`; `of`: what each SM of a class asks of it.
template <typename Of>
uint64_t rate_beside(uint64_t capacity, const std::vector<MemoryDemand>& demands, size_t own, Of of) {
  uint64_t sms = 0;
  uint64_t in_step = 0;
  uint64_t others = 0;
  for (const MemoryDemand& demand : demands) {
    sms += demand.sms;
    if (in_lock_step(demand, demands[own])) {
      in_step += demand.sms;
    } else {
      others += demand.sms * of(demand);
    }
  }
  const uint64_t even = capacity * demands[own].sms / sms;
  const uint64_t left = (capacity - std::min(capacity, others)) * demands[own].sms / in_step;
  return std::max({even, left, uint64_t{1}});
}

bool alike(uint64_t before, uint64_t now, uint64_t demand) {
  const uint64_t least = std::min(before, now);
  if (least > 2 * demand) return true;
  const uint64_t parts = 8 * demand < 7 * least ? 8 : 32;
  const uint64_t difference = before > now ? before - now : now - before;
  return difference * parts <= before;
}

}  // namespace

std::vector<MemoryRates> rates_beside(const MemorySpec& spec, const std::vector<MemoryDemand>& demands) {
  uint64_t sms = 0;
  uint64_t dram = 0;
  for (const MemoryDemand& demand : demands) {
    sms += demand.sms;
    dram += demand.sms * (demand.dram_read + demand.dram_write);
  }
  // assumed: nine tenths
  const bool saturated = 10 * dram > 9 * spec.dram_milli_bytes_per_clk;
  const auto asks_dram = [saturated](const MemoryDemand& demand) { return demand.dram_read + (saturated ? demand.dram_write : 0); };
  const auto asks_l2_read = [](const MemoryDemand& demand) { return demand.l2_read; };
  const auto asks_l2_write = [](const MemoryDemand& demand) { return demand.l2_write; };
  std::vector<MemoryRates> rates;
  for (size_t c = 0; c < demands.size(); ++c) {
    rates.push_back({.l2_read = rate_beside(spec.l2_read_milli_bytes_per_clk, demands, c, asks_l2_read),
                     .l2_write = rate_beside(spec.l2_write_milli_bytes_per_clk, demands, c, asks_l2_write),
                     .dram = rate_beside(spec.dram_milli_bytes_per_clk, demands, c, asks_dram),
                     .dirty_bytes = spec.l2_dirty_bytes * demands[c].sms / sms,
                     .sms = demands[c].sms});
  }
  return rates;
}

bool serve_alike(const MemoryRates& before, const MemoryRates& now, const MemoryDemand& demand) {
  return before.sms == now.sms && before.dirty_bytes == now.dirty_bytes &&
         alike(before.l2_read, now.l2_read, demand.sms * demand.l2_read) &&
         alike(before.l2_write, now.l2_write, demand.sms * demand.l2_write) &&
         alike(before.dram, now.dram, demand.sms * (demand.dram_read + demand.dram_write));
}

}  // namespace warpfold::sim
