#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/account/hold_history.h"
#include "sim/engine/bandwidth_server.h"
#include "sim/engine/time.h"

namespace warpfold::sim {

// A bandwidth server of the chip that lanes share: generalised processor sharing (Parekh and Gallager, IEEE/ACM ToN 1993). A lane
// is one SM, or n SMs that do the same thing. While it has transfers to pass, each of its SMs gets the same part of the rate as any
// other SM that has; within a lane the order is first come, first served.
//
//   8 bytes a cycle; lane 0 has one SM, lane 1 three, and each SM asks for 16 bytes at cycle 0: all pass by 8 (64 bytes in all).
//   Asked by lane 0 alone, its 16 bytes pass by 2.
//
// Virtual time counts the work that an SM with transfers to pass has been served; a transfer has passed when virtual time reaches
// its finish. Both clocks are exact: time in 1/2^shift cycles, and the remainder of a division by the SMs that ask is kept.
class FairServer {
 public:
  // `numerator / denominator` bytes a cycle, for all lanes together.
  FairServer(uint64_t numerator, uint64_t denominator, size_t lanes, size_t launches);

  // SMs of a lane. Its transfers under way go on.
  void set_weight(size_t lane, uint64_t sms);
  // The lane `to`, which has none or is a new one behind the others, gets the transfers under way of `from`.
  void copy_lane(size_t from, size_t to, uint64_t sms);

  uint64_t work_of(uint64_t bytes) const { return unit_.work_of(bytes); }
  // Of bytes that take `more` thousandths longer than others.
  uint64_t work_of(uint64_t bytes, uint64_t more) const { return unit_.work_of(bytes, more); }
  // Of `bytes` for each SM of the lane, on a server that serves no other lane.
  Cycle duration(size_t lane, uint64_t bytes) const;

  // Queues `work` for each SM of the lane, from the current cycle on (advance).
  void add(size_t lane, uint64_t work, uint32_t transfer, int launch);
  // Serves up to the start of cycle `now`; before it, what has passed by then has been taken by pop.
  void advance(Cycle now);
  // Does what it can of `work` in the idle time before `now`; returns what is left.
  uint64_t work_while_idle(Cycle now, uint64_t work);

  // Time is skipped: all goes on from the same state, later.
  void move_on(Cycle by);

  // When the next transfer has passed (kNever: none is under way).
  Cycle next() const { return next_; }
  struct Passed {
    size_t lane;
    uint32_t transfer;
    Cycle start;  // of its service
  };
  // Serves until it has; it still holds its lane.
  Passed serve_next();
  // It leaves its lane to the transfer behind it.
  void pop();

  // Work that each SM of the lane has yet to be served.
  uint64_t backlog(size_t lane) const { return queued(lane) ? lanes_[lane].finish - virtual_ : 0; }
  uint64_t bytes_of(uint64_t work) const { return unit_.bytes_of(work); }

  // ---- accounting

  // Time that each launch's transfers were at the head of other lanes, each moment divided among the SMs that ask. Only differences
  // mean something.
  void held_by_others(size_t lane, std::vector<uint64_t>& into) const;
  Cycle cycles_of(uint64_t units) const { return units >> shift_; }
  uint64_t weight(size_t lane) const { return lanes_[lane].sms; }
  const HoldHistory& holders(size_t lane) const { return lanes_[lane].holders; }

 private:
  __extension__ using Wide = unsigned __int128;
  struct Part {
    uint64_t finish;  // in virtual time
    uint32_t transfer;
    int launch;
    Cycle start;
  };
  struct Lane {
    uint64_t sms = 0;
    uint64_t finish = 0;         // of its last transfer, in virtual time
    Cycle free_at = 0;           // the cycle in which it last ran dry
    std::deque<Part> parts;      // under way; the first one is served
    uint64_t head_since = 0;     // in virtual time
    std::vector<uint64_t> held;  // per launch: virtual time that it was at the head, the first part's not counted yet
    HoldHistory holders;
  };

  bool queued(size_t lane) const { return !lanes_[lane].parts.empty(); }
  void serve_until(Wide clock);
  void asks(const Lane& lane, bool more);
  void find_next();
  bool passes_later(size_t lane, size_t other) const;
  void enter(size_t lane);

  BandwidthServer unit_;
  uint32_t shift_;
  Wide clock_ = 0;          // 1/2^shift cycles
  uint64_t virtual_ = 0;    // work served to each SM that asks
  uint64_t remainder_ = 0;  // of a division by asking_
  uint64_t asking_ = 0;     // SMs
  std::vector<Lane> lanes_;
  std::vector<size_t> order_;        // lanes with parts, a heap: the first is the one whose head passes next
  std::vector<uint64_t> asking_of_;  // per launch: SMs that it has at the head of their lanes
  std::vector<uint64_t> held_;       // per launch
  Cycle next_ = kNever;
};

}  // namespace warpfold::sim
