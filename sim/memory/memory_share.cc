#include "sim/memory/memory_share.h"

#include <algorithm>

namespace warpfold::sim {

void add_lost(const Passage& passage, Cycle late, int own, LostTo& lost) {
  if (late == 0) return;
  passage.holders->charge(passage.wait_end - late, passage.wait_end, own, [&](int launch, uint64_t cycles) {
    const auto l = static_cast<size_t>(launch);
    if (lost.size() <= l) lost.resize(l + 1);
    lost[l] += cycles;
  });
}

namespace {

DramServer::Room room_of_sm(const MemoryRates& rates) {
  const auto& [dirty, write_back, queue] = rates.dram_room;
  return {dirty / rates.sms, write_back / rates.sms, queue / rates.sms};
}

Reply slowest_of(const Passage& port, const Passage& l2, const Passage& dram, int launch) {
  const Passage slowest = std::max({port, l2, dram}, [](const Passage& a, const Passage& b) { return a.end < b.end; });
  Reply reply{slowest.end, std::max({port.idle_end, l2.idle_end, dram.idle_end}), slowest.resource};
  // At the port, launches are charged for the port's own delay only, as for ChipMemory.
  const bool at_port = slowest.holders == port.holders;
  add_lost(slowest, at_port ? port.end - port.idle_end : reply.transferred - reply.uncontended, launch, reply.lost);
  return reply;
}

}  // namespace

MemoryRates even_rates(const MemorySpec& spec, uint64_t sms) {
  return {spec.l2_read_milli_bytes_per_clk,
          spec.l2_write_milli_bytes_per_clk,
          spec.dram_milli_bytes_per_clk,
          {spec.l2_dirty_bytes, spec.l2_write_back_bytes, spec.dram_queue_bytes},
          sms};
}

MemoryShare::MemoryShare(const MemorySpec& spec)
    : spec_(spec),
      rates_(even_rates(spec, spec.sm_count)),
      ingress_(spec.ingress_milli_bytes_per_clk, 1000, Contended::kSmIngress),
      egress_(spec.egress_milli_bytes_per_clk, 1000, Contended::kSmEgress),
      l2_read_(rates_.l2_read, 1000 * rates_.sms, Contended::kL2Read),
      l2_write_(rates_.l2_write, 1000 * rates_.sms, Contended::kL2Write),
      dram_(rates_.dram, 1000 * rates_.sms, room_of_sm(rates_), spec.dram_turnaround) {}

void MemoryShare::set_rates(Cycle now, const MemoryRates& rates) {
  if (rates == rates_) return;
  rates_ = rates;
  l2_read_.set_rate(now, rates.l2_read, 1000 * rates.sms);
  l2_write_.set_rate(now, rates.l2_write, 1000 * rates.sms);
  dram_.set_rate(now, rates.dram, 1000 * rates.sms, room_of_sm(rates));
}

Passage MemoryShare::pass_port(Cycle now, const Transfer& transfer) {
  return (transfer.write ? egress_ : ingress_).serve(now, transfer.bytes, transfer.launch);
}

Reply MemoryShare::pass(Cycle now, const Transfer& transfer, const Passage& port) {
  const auto& [write, bytes, l2_bytes, dram_bytes, launch] = transfer;
  if (write) return slowest_of(port, l2_write_.serve(now, l2_bytes, launch), dram_.write(now, dram_bytes, launch), launch);
  return slowest_of(port, l2_read_.serve(now, l2_bytes, launch), dram_.read(now, dram_bytes, launch), launch);
}

ChipMemory::Request MemoryShare::ask_chip(uint32_t number, const Transfer& transfer, const Passage& port) {
  if (transfer.write) {
    l2_write_.count(transfer.l2_bytes);
    dram_.count(0, transfer.dram_bytes);
  } else {
    l2_read_.count(transfer.l2_bytes);
    dram_.count(transfer.dram_bytes, 0);
  }
  ChipMemory::Request request{.transfer = number,
                              .write = transfer.write,
                              .l2_bytes = transfer.l2_bytes,
                              .dram_bytes = transfer.dram_bytes,
                              .launch = transfer.launch,
                              .port_end = port.end,
                              .port_idle_end = port.idle_end};
  add_lost(port, port.end - port.idle_end, transfer.launch, request.lost_at_port);
  return request;
}

ChipMemory::Backlog MemoryShare::backlog(Cycle now) {
  return {l2_read_.backlog(now), l2_write_.backlog(now), dram_.backlog(now), dram_.dirty_bytes(), dram_.waiting_bytes(now)};
}

void MemoryShare::set_backlog(Cycle now, const ChipMemory::Backlog& backlog) {
  l2_read_.set_backlog(now, backlog.l2_read);
  l2_write_.set_backlog(now, backlog.l2_write);
  dram_.set_backlog(now, backlog.dram, backlog.dirty, backlog.waiting);
}

}  // namespace warpfold::sim
