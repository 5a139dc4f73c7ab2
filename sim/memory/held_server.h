#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/account/hold_history.h"
#include "sim/account/states.h"
#include "sim/engine/bandwidth_server.h"
#include "sim/memory/passage.h"

namespace warpfold::sim {

// A bandwidth server that records which launches use it.
class HeldServer {
 public:
  HeldServer(uint64_t numerator, uint64_t denominator, Contended resource) : server_(numerator, denominator), resource_(resource) {}

  Passage serve(Cycle now, uint64_t bytes, int launch) {
    if (bytes == 0) return {now, now, now, resource_, &holders_};
    const Cycle start = std::max(now, server_.free_at());
    if (server_.free_at() < now) holders_.clear();  // a request does not wait for launches that held an idle server
    holders_.hold(start, launch);
    return {server_.serve(now, bytes), now + server_.duration(bytes), start, resource_, &holders_};
  }

  uint64_t served_bytes() const { return server_.served_bytes(); }
  void count(uint64_t bytes) { server_.count(bytes); }
  void set_rate(Cycle now, uint64_t numerator, uint64_t denominator) { server_.set_rate(now, numerator, denominator); }
  // Bytes that the server has yet to move.
  uint64_t backlog(Cycle now) const { return server_.backlog(now); }
  void set_backlog(Cycle now, uint64_t bytes) { server_.set_backlog(now, bytes); }

  // The holder matters only while a request may have to wait.
  void visit(StateVisitor& visitor) {
    // The binding lists all fields. Not visited: resource, which is constant.
    [[maybe_unused]] const auto& [server, holders, resource] = *this;
    const bool busy = server_.free_at() >= visitor.now();
    if (busy || !visitor.recording()) holders_.visit(visitor, visitor.now() - 1);
    server_.visit(visitor);
  }

  bool operator==(const HeldServer&) const = default;

 private:
  BandwidthServer server_;
  HoldHistory holders_;
  Contended resource_;
};

}  // namespace warpfold::sim
