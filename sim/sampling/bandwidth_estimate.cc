#include "sim/sampling/bandwidth_estimate.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

namespace warpfold::sim {
namespace {

// Classes whose SMs do the same thing at the same time ask for the same number of bytes, and all at once.
bool in_lock_step(const MemoryDemand& one, const MemoryDemand& other) {
  return one.l2_read == other.l2_read && one.l2_write == other.l2_write && one.dram_read == other.dram_read &&
         one.dram_write == other.dram_write;
}

// What each SM of a class asks of a server, bytes in 1/1000 a cycle, and at which rate it was served; 0: by the chip.
struct Asked {
  double sms;
  double bytes;
  double served;

  // It takes all that it is given, to 7/8 (assumed as in alike()).
  bool all() const { return served > 0 && 8 * bytes >= 7 * served; }
  // At another rate: the time in which it waits for no byte stays what it is.
  double at(double rate) const {
    const double waiting = served > 0 ? std::min(bytes / served, 1.0) : 0;
    return bytes == 0 ? 0 : bytes * rate / (rate * (1 - waiting) + bytes);
  }
};

double sum_at(const std::vector<Asked>& asked, double rate) {
  return std::transform_reduce(asked.begin(), asked.end(), 0.0, std::plus{},
                               [&](const Asked& each) { return each.sms * each.at(rate); });
}

// The rate of each SM that asks, at which a server that always has something to pass passes all of `capacity`; none: it has not.
std::optional<double> rate_of_saturated(double capacity, const std::vector<Asked>& asked) {
  double bytes = 0;
  for (const Asked& each : asked) bytes += each.sms * each.bytes;
  if (bytes <= capacity && std::ranges::none_of(asked, &Asked::all)) return std::nullopt;
  if (sum_at(asked, capacity) <= capacity) return std::nullopt;
  double least = 0;
  double most = capacity;
  constexpr int kSteps = 40;
  for (int step = 0; step < kSteps; ++step) {
    const double rate = (least + most) / 2;
    (sum_at(asked, rate) < capacity ? least : most) = rate;
  }
  return least;
}

// Of `capacity`, for each class; `of`: what each SM of a class asks of it, `given`: what the class was served at.
template <typename Of, typename Given>
std::vector<uint64_t> rates_of(uint64_t capacity, const std::vector<MemoryDemand>& demands, Of of, Given given) {
  const auto all = static_cast<double>(capacity);
  std::vector<Asked> asked;
  double sms = 0;
  double bytes = 0;
  for (const MemoryDemand& demand : demands) {
    const double served = static_cast<double>(given(demand.served)) / static_cast<double>(demand.served.sms);
    asked.push_back({static_cast<double>(demand.sms), static_cast<double>(of(demand)), served});
    sms += asked.back().sms;
    bytes += asked.back().sms * asked.back().bytes;
  }
  const std::optional<double> saturated = rate_of_saturated(all, asked);
  std::vector<uint64_t> rates;
  for (size_t c = 0; c < demands.size(); ++c) {
    double in_step = 0;
    for (size_t other = 0; other < demands.size(); ++other) {
      if (in_lock_step(demands[other], demands[c])) in_step += asked[other].sms;
    }
    double each = (all - std::min(all, bytes - in_step * asked[c].bytes)) / in_step;
    // The others ask for the part of the time that they wait, those in step whenever it does.
    if (saturated) each = all * *saturated / (all + in_step * (*saturated - asked[c].at(*saturated)));
    rates.push_back(static_cast<uint64_t>(std::max({all / sms, each, 1.0}) * asked[c].sms));
  }
  return rates;
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
  const std::vector<uint64_t> l2_read =
      rates_of(spec.l2_read_milli_bytes_per_clk, demands, std::mem_fn(&MemoryDemand::l2_read), std::mem_fn(&MemoryRates::l2_read));
  const std::vector<uint64_t> l2_write = rates_of(spec.l2_write_milli_bytes_per_clk, demands, std::mem_fn(&MemoryDemand::l2_write),
                                                  std::mem_fn(&MemoryRates::l2_write));
  const std::vector<uint64_t> of_dram =
      rates_of(spec.dram_milli_bytes_per_clk, demands, asks_dram, std::mem_fn(&MemoryRates::dram));
  std::vector<MemoryRates> rates;
  for (size_t c = 0; c < demands.size(); ++c) {
    rates.push_back({.l2_read = l2_read[c],
                     .l2_write = l2_write[c],
                     .dram = of_dram[c],
                     .dirty_bytes = spec.l2_dirty_bytes * demands[c].sms / sms,
                     .sms = demands[c].sms});
  }
  return rates;
}

bool oversubscribed(const MemorySpec& spec, const std::vector<MemoryDemand>& demands) {
  uint64_t l2_read = 0;
  uint64_t l2_write = 0;
  uint64_t dram = 0;
  for (const MemoryDemand& demand : demands) {
    l2_read += demand.sms * demand.l2_read;
    l2_write += demand.sms * demand.l2_write;
    dram += demand.sms * demand.dram_read;
  }
  const auto beyond = [](uint64_t asked, uint64_t capacity) { return asked > capacity + capacity / 32; };
  return beyond(l2_read, spec.l2_read_milli_bytes_per_clk) || beyond(l2_write, spec.l2_write_milli_bytes_per_clk) ||
         beyond(dram, spec.dram_milli_bytes_per_clk);
}

bool serve_alike(const MemoryRates& before, const MemoryRates& now, const MemoryDemand& demand) {
  return before.sms == now.sms && before.dirty_bytes == now.dirty_bytes &&
         alike(before.l2_read, now.l2_read, demand.sms * demand.l2_read) &&
         alike(before.l2_write, now.l2_write, demand.sms * demand.l2_write) &&
         alike(before.dram, now.dram, demand.sms * (demand.dram_read + demand.dram_write));
}

}  // namespace warpfold::sim
