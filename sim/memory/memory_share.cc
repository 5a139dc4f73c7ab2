#include "sim/memory/memory_share.h"

#include <algorithm>

namespace warpfold::sim {
namespace {

Reply slowest_of(const Passage& port, const Passage& l2, const Passage& dram) {
  const Passage slowest = std::max({port, l2, dram}, [](const Passage& a, const Passage& b) { return a.end < b.end; });
  return {slowest.end, std::max({port.idle_end, l2.idle_end, dram.idle_end}), slowest};
}

}  // namespace

MemoryRates even_rates(const MemorySpec& spec, uint64_t sms) {
  return {spec.l2_read_milli_bytes_per_clk, spec.l2_write_milli_bytes_per_clk, spec.dram_milli_bytes_per_clk, spec.l2_dirty_bytes,
          sms};
}

MemoryShare::MemoryShare(const MemorySpec& spec)
    : spec_(spec),
      rates_(even_rates(spec, spec.sm_count)),
      ingress_(spec.ingress_milli_bytes_per_clk, 1000, Contended::kSmIngress),
      egress_(spec.egress_milli_bytes_per_clk, 1000, Contended::kSmEgress),
      l2_read_(rates_.l2_read, 1000 * rates_.sms, Contended::kL2Read),
      l2_write_(rates_.l2_write, 1000 * rates_.sms, Contended::kL2Write),
      dram_(rates_.dram, 1000 * rates_.sms, rates_.dirty_bytes / rates_.sms) {}

void MemoryShare::set_rates(Cycle now, const MemoryRates& rates) {
  if (rates == rates_) return;
  rates_ = rates;
  l2_read_.set_rate(now, rates.l2_read, 1000 * rates.sms);
  l2_write_.set_rate(now, rates.l2_write, 1000 * rates.sms);
  dram_.set_rate(now, rates.dram, 1000 * rates.sms, rates.dirty_bytes / rates.sms);
}

Reply MemoryShare::pass(Cycle now, const Transfer& transfer) {
  const auto& [write, bytes, multicast, dram_bytes, launch] = transfer;
  if (write) {
    return slowest_of(egress_.serve(now, bytes, launch), l2_write_.serve(now, bytes, launch), dram_.write(now, dram_bytes, launch));
  }
  return slowest_of(ingress_.serve(now, bytes, launch), l2_read_.serve(now, bytes / multicast, launch),
                    dram_.read(now, dram_bytes, launch));
}

void MemoryShare::pass_to(ChipMemory& chip, size_t lane, uint32_t number, Cycle now, const Transfer& transfer) {
  const uint64_t l2_bytes = transfer.bytes / transfer.multicast;
  if (transfer.write) {
    l2_write_.count(l2_bytes);
    dram_.count(0, transfer.dram_bytes);
  } else {
    l2_read_.count(l2_bytes);
    dram_.count(transfer.dram_bytes, 0);
  }
  chip.request(now, lane,
               {.transfer = number,
                .write = transfer.write,
                .l2_bytes = l2_bytes,
                .dram_bytes = transfer.dram_bytes,
                .launch = transfer.launch,
                .port = (transfer.write ? egress_ : ingress_).serve(now, transfer.bytes, transfer.launch)});
}

ChipMemory::Backlog MemoryShare::backlog(Cycle now) {
  return {l2_read_.backlog(now), l2_write_.backlog(now), dram_.backlog(now), dram_.dirty_bytes(now)};
}

void MemoryShare::set_backlog(Cycle now, const ChipMemory::Backlog& backlog) {
  l2_read_.set_backlog(now, backlog.l2_read);
  l2_write_.set_backlog(now, backlog.l2_write);
  dram_.set_backlog(now, backlog.dram, backlog.dirty);
}

}  // namespace warpfold::sim
