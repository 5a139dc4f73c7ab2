#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/account/hold_history.h"
#include "sim/engine/bandwidth_server.h"
#include "sim/engine/time.h"

namespace warpfold::sim {

// A bandwidth server of the chip that lanes share: generalised processor sharing (Parekh and Gallager, IEEE/ACM ToN
// 1993). A lane is one SM, or n SMs that do the same. An SM asks while it has transfers to pass; all SMs that ask get
// equal parts of the rate. Within a lane, transfers are served first come, first served.
//
//   8 bytes a cycle; lane 0 has one SM, lane 1 three, and each SM asks for 16 bytes at cycle 0: all pass by 8 (64 bytes in all).
//   If lane 0 asks alone, its 16 bytes pass by 2.
//
// Virtual time is the work that the server has done for each SM that asks. A transfer has passed when virtual time
// reaches its finish. Both clocks are exact: real time is in 1/2^shift cycles, and a division by the SMs that ask keeps
// its remainder.
class FairServer {
 public:
  // All lanes together get `numerator / denominator` bytes a cycle.
  FairServer(uint64_t numerator, uint64_t denominator, size_t lanes, size_t launches);

  // Sets the number of SMs of a lane. Its transfers under way go on.
  void set_weight(size_t lane, uint64_t sms);
  // Gives lane `to`, which has no transfers or is a new one behind the others, the transfers under way of `from`.
  void copy_lane(size_t from, size_t to, uint64_t sms);

  uint64_t work_of(uint64_t bytes) const { return unit_.work_of(bytes); }
  // Work of bytes that take `more` thousandths longer than other bytes.
  uint64_t work_of(uint64_t bytes, uint64_t more) const { return unit_.work_of(bytes, more); }
  // Returns the cycles that `bytes` for each SM of the lane take on a server that serves no other lane.
  Cycle duration(size_t lane, uint64_t bytes) const;

  // Queues `work` for each SM of the lane, from the current cycle on (advance).
  void add(size_t lane, uint64_t work, uint32_t transfer, int launch);
  // Serves up to the start of cycle `now`. The transfers that pass before that must have been taken by pop.
  void advance(Cycle now);
  // Does as much of `work` as fits the idle time before `now`. Returns the remaining work.
  uint64_t work_while_idle(Cycle now, uint64_t work);

  // Skips time: the same state goes on `by` cycles later.
  void move_on(Cycle by);

  // Cycle in which the next transfer has passed; kNever: none is under way.
  Cycle next() const { return next_; }
  struct Passed {
    size_t lane;
    uint32_t transfer;
    Cycle start;  // cycle in which the service of the transfer began
  };
  // Serves until the next transfer has passed. It stays at the head of its lane until pop.
  Passed serve_next();
  // Removes that transfer; its lane goes on with the one behind it.
  void pop();

  // Work that the server has yet to do for each SM of the lane.
  uint64_t backlog(size_t lane) const { return queued(lane) ? lanes_[lane].finish - virtual_ : 0; }
  uint64_t bytes_of(uint64_t work) const { return unit_.bytes_of(work); }

  // ---- accounting

  // Time for which transfers of each launch were at the head of other lanes, each moment divided among the SMs that
  // ask. Only differences of two results mean something.
  void held_by_others(size_t lane, std::vector<uint64_t>& into) const;
  Cycle cycles_of(uint64_t units) const { return units >> shift_; }
  uint64_t weight(size_t lane) const { return lanes_[lane].sms; }
  const HoldHistory& holders(size_t lane) const { return lanes_[lane].holders; }

 private:
  __extension__ using Wide = unsigned __int128;
  struct QueuedTransfer {
    uint64_t finish;  // virtual time of its end
    uint32_t transfer;
    int launch;
    Cycle start;
  };
  struct Lane {
    uint64_t sms = 0;
    uint64_t finish = 0;                   // virtual time at which its last transfer ends
    Cycle free_at = 0;                     // last cycle in which the lane ran dry
    std::deque<QueuedTransfer> transfers;  // under way; the first one is served
    uint64_t head_since = 0;               // the first transfer is served since then, in virtual time
    std::vector<uint64_t> held;            // per launch: virtual time at the head of the lane, without the present head
    HoldHistory holders;
  };

  bool queued(size_t lane) const { return !lanes_[lane].transfers.empty(); }
  void serve_until(Wide clock);
  void count_asking(const Lane& lane, bool more);
  void find_next();
  bool passes_later(size_t lane, size_t other) const;
  void enter(size_t lane);

  BandwidthServer unit_;
  uint32_t shift_;
  Wide clock_ = 0;          // real time, in 1/2^shift cycles
  uint64_t virtual_ = 0;    // virtual time: work done for each SM that asks
  uint64_t remainder_ = 0;  // remainder of the last division by asking_
  uint64_t asking_ = 0;     // SMs of lanes with transfers
  std::vector<Lane> lanes_;
  std::vector<size_t> order_;        // lanes with transfers, as a heap: the first lane's head passes next
  std::vector<uint64_t> asking_of_;  // per launch: SMs of lanes that have its transfer at the head
  std::vector<uint64_t> held_;       // per launch: time at the head of lanes, divided among the SMs that ask
  Cycle next_ = kNever;
};

}  // namespace warpfold::sim
