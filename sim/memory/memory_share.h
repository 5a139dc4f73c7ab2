#pragma once

#include <cstdint>

#include "sim/engine/time.h"
#include "sim/memory/chip_memory.h"
#include "sim/memory/held_dram.h"
#include "sim/memory/held_server.h"
#include "sim/memory/memory_spec.h"
#include "sim/memory/passage.h"

namespace warpfold::sim {

// Rates of L2 and DRAM for one SM alone: l2_read / (1000 x sms) bytes a cycle, and so on. They are the chip's rates
// divided among `sms` SMs, unless other SMs leave this SM more.
struct MemoryRates {
  uint64_t l2_read = 0;
  uint64_t l2_write = 0;
  uint64_t dram = 0;
  DramServer::Room dram_room{};  // for all `sms` SMs together
  uint64_t sms = 1;

  bool operator==(const MemoryRates&) const = default;
};
// Returns the chip's rates, divided evenly among `sms` SMs.
MemoryRates even_rates(const MemorySpec& spec, uint64_t sms);

// The memory system as one SM sees it: its network ports, and behind them L2 and DRAM. The SM has rates of its own if
// all SMs that ask do the same, or if the demand of the other SMs is known. Otherwise it shares L2 and DRAM of the chip
// with other SMs (ChipMemory). A transfer passes all servers that it needs at once and is done when the slowest has
// passed it. Latency comes on top. A store is done in L2: DRAM holds it up only if L2 has too much to write back.
class MemoryShare {
 public:
  explicit MemoryShare(const MemorySpec& spec);

  struct Transfer {
    bool write = false;
    uint32_t bytes = 0;
    uint32_t l2_bytes = 0;  // L2 time of the transfer, as the bytes that L2 could move in that time
    uint64_t dram_bytes = 0;
    int launch = 0;
  };
  // Passes the SM's network port: ingress for loads, egress for stores.
  Passage pass_port(Cycle now, const Transfer& transfer);
  // Passes L2 and DRAM at the SM's own rates: from L2 to the SM, or from the SM to L2 and, for the evicted share, on to
  // DRAM. `port`: result of pass_port.
  Reply pass(Cycle now, const Transfer& transfer, const Passage& port);
  // Returns the same transfer as a request to the chip's L2 and DRAM.
  ChipMemory::Request ask_chip(uint32_t number, const Transfer& transfer, const Passage& port);

  const MemoryRates& rates() const { return rates_; }
  void set_rates(Cycle now, const MemoryRates& rates);
  // Bytes that L2 and DRAM have yet to move for the SM at its own rates. set_backlog replaces them from `now` on.
  ChipMemory::Backlog backlog(Cycle now);
  void set_backlog(Cycle now, const ChipMemory::Backlog& backlog);
  // Dirty bytes in L2.
  uint64_t dirty_bytes() const { return dram_.dirty_bytes(); }
  void set_dirty_bytes(uint64_t bytes) { dram_.set_dirty_bytes(bytes); }

  uint64_t ingress_bytes() const { return ingress_.served_bytes(); }
  uint64_t l2_read_bytes() const { return l2_read_.served_bytes(); }
  uint64_t l2_write_bytes() const { return l2_write_.served_bytes(); }
  uint64_t dram_read_bytes() const { return dram_.read_bytes(); }
  uint64_t dram_written_bytes() const { return dram_.written_bytes(); }
  double dirty_share() const { return dram_.dirty_share(); }

  // The SM must have rates of its own.
  void visit(StateVisitor& visitor) {
    // The binding lists all fields.
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

// Picks an evenly spread share of a sequence: the bytes of a stream that go to DRAM, or the requests that hit in L1.
// The share is rounded to 1/16384, so that the remainder recurs after few requests.
class SpreadShare {
 public:
  SpreadShare() = default;
  SpreadShare(uint64_t numerator, uint64_t denominator)
      : numerator_(static_cast<uint64_t>((static_cast<Wide>(numerator) * kUnits * 2 / denominator + 1) / 2)) {}

  // Returns how much of the next `amount` belongs to the share.
  uint64_t take(uint64_t amount) {
    const uint64_t sum = amount * numerator_ + accumulated_;
    accumulated_ = sum % kUnits;
    return sum / kUnits;
  }

  double share() const { return static_cast<double>(numerator_) / kUnits; }

  void visit(StateVisitor& visitor, const char* name) {
    // The binding lists all fields. Not visited: numerator, which is constant.
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
