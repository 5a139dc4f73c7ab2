#pragma once

#include <cstdint>

#include "sim/engine/time.h"
#include "sim/memory/chip_memory.h"
#include "sim/memory/held_dram.h"
#include "sim/memory/held_server.h"
#include "sim/memory/memory_spec.h"
#include "sim/memory/passage.h"

namespace warpfold::sim {

// Rates of L2 and DRAM that one SM has to itself, in 1/1000 byte and 1/`sms` of a cycle: those of the chip divided among so many
// SMs, unless others leave it more.
struct MemoryRates {
  uint64_t l2_read = 0;
  uint64_t l2_write = 0;
  uint64_t dram = 0;
  DramServer::Room dram_room{};  // for all of these SMs
  uint64_t sms = 1;

  bool operator==(const MemoryRates&) const = default;
};
// Of the chip, divided evenly among `sms` SMs.
MemoryRates even_rates(const MemorySpec& spec, uint64_t sms);

// The memory system as one SM sees it: its own network ports, and behind them either rates of L2 and DRAM that it has to itself
// (where all SMs that ask do the same, or where the others' demand is known), or the chip's L2 and DRAM (ChipMemory), where it
// meets the other SMs. A transfer passes all servers it needs at once and is done when the slowest has passed it; latency comes on
// top. A store is done in L2: DRAM only holds it up where L2 has too much to write back.
class MemoryShare {
 public:
  explicit MemoryShare(const MemorySpec& spec);

  struct Transfer {
    bool write = false;
    uint32_t bytes = 0;
    uint32_t l2_bytes = 0;  // that L2 could move in the time that the transfer takes of it
    uint64_t dram_bytes = 0;
    int launch = 0;
  };
  // The SM's own port: ingress for loads, egress for stores.
  Passage pass_port(Cycle now, const Transfer& transfer);
  // L2 to SM, or SM to L2 (and from there to DRAM for the share that is evicted), at the SM's own rates. `port`: of pass_port.
  Reply pass(Cycle now, const Transfer& transfer, const Passage& port);
  // The same transfer, asked of the chip's L2 and DRAM.
  ChipMemory::Request ask_chip(uint32_t number, const Transfer& transfer, const Passage& port);

  const MemoryRates& rates() const { return rates_; }
  void set_rates(Cycle now, const MemoryRates& rates);
  // What L2 and DRAM have yet to move for the SM at its own rates; set_backlog: moves it, and nothing else, from `now` on.
  ChipMemory::Backlog backlog(Cycle now);
  void set_backlog(Cycle now, const ChipMemory::Backlog& backlog);
  // That wait in L2 to be written back.
  uint64_t dirty_bytes() const { return dram_.dirty_bytes(); }
  void set_dirty_bytes(uint64_t bytes) { dram_.set_dirty_bytes(bytes); }

  uint64_t ingress_bytes() const { return ingress_.served_bytes(); }
  uint64_t l2_read_bytes() const { return l2_read_.served_bytes(); }
  uint64_t l2_write_bytes() const { return l2_write_.served_bytes(); }
  uint64_t dram_read_bytes() const { return dram_.read_bytes(); }
  uint64_t dram_written_bytes() const { return dram_.written_bytes(); }
  double dirty_share() const { return dram_.dirty_share(); }

  // Of an SM with rates of its own.
  void visit(StateVisitor& visitor) {
    // Every field.
    [[maybe_unused]] const auto& [spec, rates, ingress, egress, l2_read, l2_write, dram] = *this;
    [[maybe_unused]] const auto& [read_rate, write_rate, dram_rate, room, sms] = rates_;
    for (const uint64_t rate : {rates_.l2_read, rates_.l2_write, rates_.dram, rates_.dram_room.dirty_bytes,
                                rates_.dram_room.write_back_bytes, rates_.dram_room.queue_bytes, rates_.sms})
      visitor.value("memory_rate", rate);
    for (HeldServer* server : {&ingress_, &egress_, &l2_read_, &l2_write_}) server->visit(visitor);
    dram_.visit(visitor);
  }

  bool operator==(const MemoryShare&) const = default;

 private:
  MemorySpec spec_;
  MemoryRates rates_;
  HeldServer ingress_;
  HeldServer egress_;
  HeldServer l2_read_;
  HeldServer l2_write_;
  HeldDram dram_;
};

// Takes a share of what passes in an evenly spread order: of a stream's bytes those that go to DRAM, of its requests those that hit
// in L1. The share is rounded to 1/16384, so that what is left over comes back after few requests.
class SpreadShare {
 public:
  SpreadShare() = default;
  SpreadShare(uint64_t numerator, uint64_t denominator)
      : numerator_(static_cast<uint64_t>((static_cast<Wide>(numerator) * kUnits * 2 / denominator + 1) / 2)) {}

  // Of the next `amount`, how many.
  uint64_t take(uint64_t amount) {
    const uint64_t sum = amount * numerator_ + accumulated_;
    accumulated_ = sum % kUnits;
    return sum / kUnits;
  }

  double share() const { return static_cast<double>(numerator_) / kUnits; }

  void visit(StateVisitor& visitor, const char* name) {
    // Every field. numerator is constant.
    [[maybe_unused]] const auto& [numerator, accumulated] = *this;
    visitor.value(name, accumulated_);
  }
  bool operator==(const SpreadShare&) const = default;

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr uint64_t kUnits = 16384;
  uint64_t numerator_ = 0;  // in 1/kUnits
  uint64_t accumulated_ = 0;
};

}  // namespace warpfold::sim
