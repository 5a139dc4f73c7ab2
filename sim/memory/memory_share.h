#pragma once

#include <cstdint>

#include "sim/engine/time.h"
#include "sim/memory/held_dram.h"
#include "sim/memory/held_server.h"
#include "sim/memory/memory_spec.h"

namespace warpfold::sim {

// What lies beyond the SMs' network ports: L2 and DRAM bandwidth, of the whole chip or of 1/sm_count of it.
struct ChipMemory {
  ChipMemory(const MemorySpec& spec, uint32_t shares);

  // Throws where a request comes behind one of a later cycle: first come first served would not be what happens.
  void arrive(Cycle now);

  Cycle latest = 0;  // request so far
  HeldServer l2_read;
  HeldServer l2_write;
  HeldDram dram;

  bool operator==(const ChipMemory&) const = default;
};

// The memory system as one SM sees it: its own network ports, and behind them either its exact share of L2 and DRAM or the chip's,
// where it meets the other SMs. Requests to a shared one must come in order of time over all SMs.
// A transfer passes all servers it needs at once and is done when the slowest has passed it; latency comes on top. A store is done
// in L2: DRAM only holds it up where L2 has too much to write back.
class MemoryShare {
 public:
  explicit MemoryShare(const MemorySpec& spec);

  struct Reply {
    Cycle transferred;  // bandwidth only
    Cycle uncontended;  // the same with all servers idle
    Passage slowest;
  };

  // `chip`: L2 and DRAM shared with other SMs; none: this SM has 1/sm_count of them for itself.
  //
  // L2 to SM, for `launch`. `multicast` SMs receive the same bytes, so that L2 and DRAM serve 1/multicast of them for this SM.
  Reply read(ChipMemory* chip, Cycle now, uint32_t bytes, uint32_t multicast, uint64_t dram_bytes, int launch);
  // SM to L2 (and from there to DRAM for the share that is evicted).
  Reply write(ChipMemory* chip, Cycle now, uint32_t bytes, uint64_t dram_bytes, int launch);

  const ChipMemory& own() const { return own_; }
  uint64_t ingress_bytes() const { return ingress_.served_bytes(); }

  // Of an SM with a share of its own.
  void visit(StateVisitor& visitor) {
    // Every field; of what lies beyond too.
    [[maybe_unused]] const auto& [ingress, egress, own] = *this;
    [[maybe_unused]] const auto& [latest, l2_read, l2_write, dram] = own_;
    for (HeldServer* server : {&ingress_, &egress_, &own_.l2_read, &own_.l2_write}) server->visit(visitor);
    own_.dram.visit(visitor);
    own_.latest = visitor.moved(own_.latest);
  }

  bool operator==(const MemoryShare&) const = default;

 private:
  HeldServer ingress_;
  HeldServer egress_;
  ChipMemory own_;  // its exact share of L2 and DRAM
};

// Splits a stream's bytes into L2 hits and DRAM accesses in an evenly spread order. The share that goes to DRAM is rounded to
// 1/16384, so that what is left over comes back after few requests.
class DramFraction {
 public:
  DramFraction() = default;
  DramFraction(uint64_t numerator, uint64_t denominator)
      : numerator_(static_cast<uint64_t>((static_cast<Wide>(numerator) * kUnits * 2 / denominator + 1) / 2)) {}

  // Of the next `bytes`, how many go to DRAM.
  uint64_t take(uint64_t bytes) {
    const uint64_t sum = bytes * numerator_ + accumulated_;
    accumulated_ = sum % kUnits;
    return sum / kUnits;
  }

  void visit(StateVisitor& visitor) {
    // Every field. numerator is constant.
    [[maybe_unused]] const auto& [numerator, accumulated] = *this;
    visitor.value("dram_fraction", accumulated_);
  }
  bool operator==(const DramFraction&) const = default;

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr uint64_t kUnits = 16384;
  uint64_t numerator_ = 0;  // in 1/kUnits
  uint64_t accumulated_ = 0;
};

}  // namespace warpfold::sim
