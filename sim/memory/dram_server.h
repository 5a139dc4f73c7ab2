#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/engine/bandwidth_server.h"

namespace warpfold::sim {

// DRAM behind a write-back L2. A store is done when its bytes are in L2. A dirty line stays in L2 until another line
// takes its place, however long that is: an H100 and an H200 keep dirty lines through a pause of a millisecond
// (decision 42).
//
//   a line read from DRAM evicts a dirty line, which waits in DRAM's write queue (`queue_bytes`)
//   a line written while `dirty_bytes` are dirty makes L2 write a line back, which waits in L2 (`write_back_bytes`)
//
// Waiting lines leave while no read wants DRAM. If there is no room for more, evicted lines leave behind the read that
// filled the queue, and written-back lines before the store that filled it, which waits. DRAM turns from reads to
// writes and back, so that a byte that a read evicts takes `turnaround` thousandths more than a byte that is read.
//
//   1 byte a cycle, at most 8 dirty bytes, room for 2 evicted bytes and for none written back, no turnaround:
//   6 bytes written at 0 are in L2 at 0. 3 bytes read at 2 have passed by 5; of the 3 bytes that they evict, 1 leaves by 6 and 2
//   wait. 6 bytes written at 5 make 9 dirty: 1 leaves by 7, when the store is done, and 8 stay dirty.
class DramServer {
 public:
  struct Room {
    uint64_t dirty_bytes = 0;       // dirty bytes that stay in L2
    uint64_t write_back_bytes = 0;  // written-back bytes, which leave L2 as DRAM has time
    uint64_t queue_bytes = 0;       // bytes of evicted lines in DRAM's write queue

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

  // Returns the cycle from which L2 has room for all bytes.
  Cycle write(Cycle now, uint64_t bytes) {
    catch_up(now);
    written_bytes_ += bytes;
    dirty_ += bytes;
    if (dirty_ <= room_.dirty_bytes) return now;
    server_.idle_until(now);  // bytes written back now could not have left earlier
    written_back_ += server_.work_of(dirty_ - room_.dirty_bytes);
    dirty_ = room_.dirty_bytes;
    return make_room(now, written_back_, room_.write_back_bytes);
  }

  // Changes rate and room from `now` on.
  void set_rate(Cycle now, uint64_t numerator, uint64_t denominator, const Room& room) {
    catch_up(now);
    const Waiting waiting = waiting_bytes();
    server_.set_rate(now, numerator, denominator);
    room_ = room;
    dirty_ = std::min(dirty_, room_.dirty_bytes);
    set_waiting(waiting);
  }
  // Bytes that DRAM has yet to move, without the waiting bytes.
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
  // Counts bytes that another server has moved for this one.
  void count(uint64_t read, uint64_t written) {
    server_.count(read);
    written_bytes_ += written;
  }

  // Writes waiting bytes in idle time before `now`.
  void catch_up(Cycle now) {
    evicted_ = server_.work_while_idle(now, evicted_);
    written_back_ = server_.work_while_idle(now, written_back_);
  }

  Cycle free_at() const { return server_.free_at(); }
  Cycle duration(uint64_t bytes) const { return server_.duration(bytes); }

  // Returns the share of L2's room for dirty bytes that is taken.
  double dirty_share() const { return dirty_ == 0 ? 0 : static_cast<double>(dirty_) / static_cast<double>(room_.dirty_bytes); }

  uint64_t read_bytes() const { return server_.served_bytes(); }
  // Bytes written to L2; some of them may not have left it yet.
  uint64_t written_bytes() const { return written_bytes_; }

  void visit(StateVisitor& visitor) {
    // The binding lists all fields. Not visited: turnaround, which is constant; room, which changes with the rate.
    [[maybe_unused]] const auto& [server, room, turnaround, dirty, evicted, written_back, written_bytes] = *this;
    if (visitor.recording()) catch_up(visitor.now());  // so that equal states have equal keys
    visitor.level(dirty_, room_.dirty_bytes, written_bytes_);
    visitor.value("dram_evicted", evicted_);
    visitor.value("dram_written_back", written_back_);
    visitor.count(written_bytes_);
    server_.visit(visitor);
  }

  bool operator==(const DramServer&) const = default;

 private:
  // Returns the cycle in which the work beyond the room is done.
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
  uint64_t dirty_ = 0;         // dirty bytes in L2
  uint64_t evicted_ = 0;       // work of evicted bytes that DRAM has yet to write, in the server's units
  uint64_t written_back_ = 0;  // work of written-back bytes that DRAM has yet to write, in the server's units
  uint64_t written_bytes_ = 0;
};

}  // namespace warpfold::sim
