#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/memory/dram_server.h"
#include "sim/memory/held_server.h"

namespace warpfold::sim {

// DRAM that records which launches use it. A store waits only if L2 has too much to write back, until the excess has
// left; with room in L2, it would not have waited at all.
class HeldDram {
 public:
  HeldDram(uint64_t numerator, uint64_t denominator, const DramServer::Room& room, uint64_t turnaround)
      : server_(numerator, denominator, room, turnaround) {}

  Passage read(Cycle now, uint64_t bytes, int launch) {
    if (bytes == 0) return {now, now, now, Contended::kDram, &holders_};
    const Cycle start = begin(now);
    holders_.hold(start, launch);
    return {server_.read(now, bytes), now + server_.duration(bytes), start, Contended::kDram, &holders_};
  }

  Passage write(Cycle now, uint64_t bytes, int launch) {
    const Cycle start = begin(now);
    const Cycle end = server_.write(now, bytes);
    if (end > now) holders_.hold(start, launch);
    return {end, now, end, Contended::kDram, &holders_};
  }

  void set_rate(Cycle now, uint64_t numerator, uint64_t denominator, const DramServer::Room& room) {
    server_.set_rate(now, numerator, denominator, room);
  }
  uint64_t backlog(Cycle now) const { return server_.backlog(now); }
  uint64_t dirty_bytes() const { return server_.dirty_bytes(); }
  DramServer::Waiting waiting_bytes(Cycle now) {
    server_.catch_up(now);
    return server_.waiting_bytes();
  }
  void set_backlog(Cycle now, uint64_t bytes, uint64_t dirty_bytes, const DramServer::Waiting& waiting) {
    server_.set_backlog(now, bytes, dirty_bytes, waiting);
  }
  void set_dirty_bytes(uint64_t bytes) { server_.set_dirty_bytes(bytes); }
  void count(uint64_t read, uint64_t written) { server_.count(read, written); }

  double dirty_share() const { return server_.dirty_share(); }
  uint64_t read_bytes() const { return server_.read_bytes(); }
  uint64_t written_bytes() const { return server_.written_bytes(); }

  // The holder matters only while a request may have to wait.
  void visit(StateVisitor& visitor) {
    // The binding lists all fields.
    [[maybe_unused]] const auto& [server, holders] = *this;
    if (visitor.recording()) server_.catch_up(visitor.now());  // since a request would do the same
    const bool busy = server_.free_at() >= visitor.now();
    if (busy || !visitor.recording()) holders_.visit(visitor, visitor.now() - 1);
    server_.visit(visitor);
  }

  bool operator==(const HeldDram&) const = default;

 private:
  // Returns the start of a request. A request does not wait for launches that held DRAM before it was idle.
  Cycle begin(Cycle now) {
    server_.catch_up(now);
    if (server_.free_at() < now) holders_.clear();
    return std::max(now, server_.free_at());
  }

  DramServer server_;
  HoldHistory holders_;
};

}  // namespace warpfold::sim
