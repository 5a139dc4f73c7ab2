#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/engine/bandwidth_server.h"

namespace warpfold::sim {

// DRAM behind a write-back L2. A store is done when L2 has it; the dirty bytes leave for DRAM whenever no read wants it. Only where
// more than `dirty_bytes` wait does the excess go first, and the launch that wrote it waits.
//
//   1 byte a cycle, 8 dirty bytes at most: 6 written at 0 are in L2 at 0, 3 read at 2 pass by 5 (2 of the 6 have left), 6 written
//   at 5 make 10: 2 leave by 7, when the store is done, 8 stay
class DramServer {
 public:
  // `numerator / denominator` bytes a cycle.
  DramServer(uint64_t numerator, uint64_t denominator, uint64_t dirty_bytes)
      : server_(numerator, denominator), most_dirty_(server_.work_of(dirty_bytes)) {}

  // Returns the cycle in which the last byte has passed.
  Cycle read(Cycle now, uint64_t bytes) {
    catch_up(now);
    return server_.serve(now, bytes);
  }

  // Returns the cycle from which L2 has room for all of it.
  Cycle write(Cycle now, uint64_t bytes) {
    catch_up(now);
    server_.idle_until(now);  // what is written now has not been there to leave earlier
    written_bytes_ += bytes;
    dirty_ += server_.work_of(bytes);
    if (dirty_ <= most_dirty_) return now;
    const uint64_t excess = dirty_ - most_dirty_;
    dirty_ = most_dirty_;
    return server_.work(now, excess);
  }

  // From `now` on.
  void set_rate(Cycle now, uint64_t numerator, uint64_t denominator, uint64_t dirty_bytes) {
    catch_up(now);
    const uint64_t dirty = server_.bytes_of(dirty_);
    server_.set_rate(now, numerator, denominator);
    most_dirty_ = server_.work_of(dirty_bytes);
    dirty_ = std::min(most_dirty_, server_.work_of(dirty));
  }
  // Bytes that it has yet to move, those in L2 aside.
  uint64_t backlog(Cycle now) const { return server_.backlog(now); }
  uint64_t dirty_bytes() const { return server_.bytes_of(dirty_); }
  void set_backlog(Cycle now, uint64_t bytes, uint64_t dirty_bytes) {
    server_.set_backlog(now, bytes);
    set_dirty_bytes(dirty_bytes);
  }
  void set_dirty_bytes(uint64_t bytes) { dirty_ = std::min(most_dirty_, server_.work_of(bytes)); }
  // What another server has moved for this one.
  void count(uint64_t read, uint64_t written) {
    server_.count(read);
    written_bytes_ += written;
  }

  // Writes back what there has been time for.
  void catch_up(Cycle now) { dirty_ = server_.work_while_idle(now, dirty_); }

  Cycle free_at() const { return server_.free_at(); }
  Cycle duration(uint64_t bytes) const { return server_.duration(bytes); }

  // Of the room that L2 has for what waits to be written back, the share that is taken.
  double dirty_share() const { return dirty_ == 0 ? 0 : static_cast<double>(dirty_) / static_cast<double>(most_dirty_); }

  uint64_t read_bytes() const { return server_.served_bytes(); }
  // To L2: some of them may not have left yet.
  uint64_t written_bytes() const { return written_bytes_; }

  void visit(StateVisitor& visitor) {
    // Every field. most_dirty is as the rate.
    [[maybe_unused]] const auto& [server, most_dirty, dirty, written_bytes] = *this;
    if (visitor.recording()) catch_up(visitor.now());  // so that equal states look equal
    visitor.value("dram_dirty", dirty_);
    visitor.count(written_bytes_);
    server_.visit(visitor);
  }

  bool operator==(const DramServer&) const = default;

 private:
  BandwidthServer server_;
  uint64_t most_dirty_;
  uint64_t dirty_ = 0;  // in L2, in units of work
  uint64_t written_bytes_ = 0;
};

}  // namespace warpfold::sim
