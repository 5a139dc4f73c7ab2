#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/engine/bandwidth_server.h"

namespace warpfold::sim {

// DRAM behind a write-back L2. A store is done when L2 has it. A dirty line stays in L2 until another line takes its place, however
// long that is: an H100 and an H200 keep dirty lines through a pause of a millisecond (decision 42).
//
//   a line that is read from DRAM evicts a dirty one, which waits in DRAM's write queue (`queue_bytes`)
//   a line that is written while `dirty_bytes` are dirty has L2 write one back, which waits in L2 (`write_back_bytes`)
//
// Both leave while no read wants DRAM, or when there is no more room: behind the read that filled the queue, and before the store
// that did, which waits. DRAM turns from reading to writing and back, so that a byte that a read evicts takes `turnaround`
// thousandths more than one that is read.
//
//   1 byte a cycle, 8 dirty bytes at most, room for 2 evicted ones and for none written back, no turnaround: 6 bytes written at 0
//   are in L2 at 0. 3 bytes read at 2 have passed by 5; of the 3 that they evict one leaves by 6, two wait. 6 bytes written at 5
//   make 9 dirty: one leaves by 7, when the store is done, and 8 stay dirty
class DramServer {
 public:
  struct Room {
    uint64_t dirty_bytes = 0;       // that stay in L2
    uint64_t write_back_bytes = 0;  // beyond them, that leave L2 as DRAM has time
    uint64_t queue_bytes = 0;       // of evicted lines, in DRAM's write queue

    bool operator==(const Room&) const = default;
  };

  // `numerator / denominator` bytes a cycle.
  DramServer(uint64_t numerator, uint64_t denominator, const Room& room, uint64_t turnaround)
      : server_(numerator, denominator), room_(room), turnaround_(turnaround) {}

  // Returns the cycle in which the last byte has passed.
  Cycle read(Cycle now, uint64_t bytes) {
    catch_up(now);
    const Cycle end = server_.serve(now, bytes);
    const uint64_t evicted = std::min(dirty_, bytes);
    dirty_ -= evicted;
    evicted_ += server_.work_of(evicted, turnaround_);
    make_room(now, evicted_, room_.queue_bytes);
    return end;
  }

  // Returns the cycle from which L2 has room for all of it.
  Cycle write(Cycle now, uint64_t bytes) {
    catch_up(now);
    written_bytes_ += bytes;
    dirty_ += bytes;
    if (dirty_ <= room_.dirty_bytes) return now;
    server_.idle_until(now);  // what is evicted now has not been there to leave earlier
    written_back_ += server_.work_of(dirty_ - room_.dirty_bytes);
    dirty_ = room_.dirty_bytes;
    return make_room(now, written_back_, room_.write_back_bytes);
  }

  // From `now` on.
  void set_rate(Cycle now, uint64_t numerator, uint64_t denominator, const Room& room) {
    catch_up(now);
    const Waiting waiting = waiting_bytes();
    server_.set_rate(now, numerator, denominator);
    room_ = room;
    dirty_ = std::min(dirty_, room_.dirty_bytes);
    set_waiting(waiting);
  }
  // Bytes that it has yet to move, those that wait aside.
  uint64_t backlog(Cycle now) const { return server_.backlog(now); }
  uint64_t dirty_bytes() const { return dirty_; }
  // Bytes that wait until DRAM has time.
  struct Waiting {
    uint64_t written_back = 0;
    uint64_t evicted = 0;
  };
  Waiting waiting_bytes() const { return {server_.bytes_of(written_back_), server_.bytes_of(evicted_)}; }
  void set_backlog(Cycle now, uint64_t bytes, uint64_t dirty_bytes, const Waiting& waiting) {
    server_.set_backlog(now, bytes);
    set_dirty_bytes(dirty_bytes);
    set_waiting(waiting);
  }
  void set_dirty_bytes(uint64_t bytes) { dirty_ = std::min(room_.dirty_bytes, bytes); }
  // What another server has moved for this one.
  void count(uint64_t read, uint64_t written) {
    server_.count(read);
    written_bytes_ += written;
  }

  // Writes what there has been time for.
  void catch_up(Cycle now) {
    evicted_ = server_.work_while_idle(now, evicted_);
    written_back_ = server_.work_while_idle(now, written_back_);
  }

  Cycle free_at() const { return server_.free_at(); }
  Cycle duration(uint64_t bytes) const { return server_.duration(bytes); }

  // Of the room that L2 has for dirty lines, the share that is taken.
  double dirty_share() const { return dirty_ == 0 ? 0 : static_cast<double>(dirty_) / static_cast<double>(room_.dirty_bytes); }

  uint64_t read_bytes() const { return server_.served_bytes(); }
  // To L2: some of them may not have left yet.
  uint64_t written_bytes() const { return written_bytes_; }

  void visit(StateVisitor& visitor) {
    // Every field. turnaround is constant, room is as the rate.
    [[maybe_unused]] const auto& [server, room, turnaround, dirty, evicted, written_back, written_bytes] = *this;
    if (visitor.recording()) catch_up(visitor.now());  // so that equal states look equal
    visitor.level(dirty_, room_.dirty_bytes, written_bytes_);
    visitor.value("dram_evicted", evicted_);
    visitor.value("dram_written_back", written_back_);
    visitor.count(written_bytes_);
    server_.visit(visitor);
  }

  bool operator==(const DramServer&) const = default;

 private:
  // Returns the cycle in which what exceeds the room has left.
  Cycle make_room(Cycle now, uint64_t& waiting, uint64_t most_bytes) {
    const uint64_t most = server_.work_of(most_bytes);
    if (waiting <= most) return now;
    const uint64_t excess = waiting - most;
    waiting = most;
    return server_.work(now, excess);
  }
  void set_waiting(const Waiting& waiting) {
    evicted_ = server_.work_of(std::min(waiting.evicted, room_.queue_bytes));
    written_back_ = server_.work_of(std::min(waiting.written_back, room_.write_back_bytes));
  }

  BandwidthServer server_;
  Room room_;
  uint64_t turnaround_;        // thousandths
  uint64_t dirty_ = 0;         // bytes in L2
  uint64_t evicted_ = 0;       // and not yet written, in units of work
  uint64_t written_back_ = 0;  // as well
  uint64_t written_bytes_ = 0;
};

}  // namespace warpfold::sim
