#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/time.h"
#include "sim/memory/dram_server.h"
#include "sim/memory/fair_server.h"
#include "sim/memory/memory_spec.h"
#include "sim/memory/passage.h"

namespace warpfold::sim {

// L2 and DRAM of the chip, which SMs share. A lane is an SM under simulation. Its weight is the number of SMs that it
// represents; they all ask for the same at the same time.
//
// A transfer passes its SM's port, L2 and, for its DRAM bytes, DRAM at once. It has passed when the slowest of them is
// done, which depends on the requests of other SMs in the meantime. request() hands a transfer over; pop() returns it
// when it has passed, in order of time. Requests come in order of time over all lanes.
//
// DRAM lies behind a write-back L2, as in DramServer; the dirty bytes of all SMs are in one place.
class ChipMemory {
 public:
  ChipMemory(const MemorySpec& spec, size_t lanes, size_t launches);

  struct Request {
    uint32_t transfer;  // number in the lane
    bool write;
    uint64_t l2_bytes;
    uint64_t dram_bytes;
    int launch;
    Cycle port_end;       // cycle in which the transfer has passed the SM's own port
    Cycle port_idle_end;  // the same on an idle port
    LostTo lost_at_port{};
  };
  // Throws std::logic_error if an earlier request was of a later cycle.
  void request(Cycle now, size_t lane, const Request& request);

  // Returns the cycle in which the next transfer, or the next part of one, has passed.
  Cycle next() const;
  struct Passed {
    size_t lane;
    uint32_t transfer;
    Reply reply;
  };
  // Takes the part that passes at next(). Returns true, with the transfer in `passed`, if it was the transfer's last
  // part.
  bool pop(Passed& passed);
  // True if no transfer of the lane is under way.
  bool quiet(size_t lane) const { return lanes_[lane].under_way == 0; }

  // ---- lanes

  void set_weight(size_t lane, uint64_t sms);
  // Makes lane `to`, which may be a new one behind the others, a copy of lane `from` with `sms` SMs.
  void copy_lane(size_t from, size_t to, uint64_t sms);
  // For each SM of a lane: bytes that L2 and DRAM have yet to move, dirty bytes in L2, and bytes that wait for DRAM.
  struct Backlog {
    uint64_t l2_read = 0;
    uint64_t l2_write = 0;
    uint64_t dram = 0;
    uint64_t dirty = 0;
    DramServer::Waiting waiting{};
  };
  // Begins lane `lane` anew, with a backlog for each of its SMs.
  void open_lane(Cycle now, size_t lane, uint64_t sms, const Backlog& backlog);
  Backlog backlog(Cycle now, size_t lane);
  // Dirty bytes in L2.
  uint64_t dirty_bytes() const { return dirty_; }
  DramServer::Waiting waiting_bytes(Cycle now);
  // Returns the share of L2's room for dirty bytes that is taken.
  double dirty_share() const;

  // Skips time: the same state goes on `by` cycles later.
  void move_on(Cycle by);

 private:
  enum Part : uint8_t { kL2Read, kL2Write, kDram };
  static constexpr int kParts = 3;
  static constexpr uint32_t kNoTransfer = UINT32_MAX;  // transfer number of work for which no transfer waits

  struct Transfer {
    int parts = 0;  // number of parts under way
    bool under_way = false;
    bool write = false;
    Cycle idle_end = 0;                         // end at the SM's port if that is idle, and at L2 and DRAM without other lanes
    std::vector<uint64_t> held_before[kParts];  // per launch: time that other lanes had held the server before the part came
    int launch = 0;
    Reply reply;  // of the port and the parts that have passed so far
  };
  struct Lane {
    std::vector<Transfer> transfers;
    uint32_t under_way = 0;
  };

  FairServer& server(int part) { return servers_[static_cast<size_t>(part)]; }
  const FairServer& server(int part) const { return servers_[static_cast<size_t>(part)]; }
  void add(Cycle now, size_t lane, Part part, uint64_t work, uint64_t bytes, const Request& request, Transfer& transfer);
  void catch_up(Cycle now);
  uint64_t written(size_t lane, uint64_t bytes);
  uint64_t evicted_by_read(size_t lane, uint64_t bytes);
  uint64_t take_excess(uint64_t most_bytes, uint64_t& waiting, size_t lane) const;
  void passed_part(Cycle at, size_t lane, int part, Cycle start, Transfer& transfer);

  std::vector<FairServer> servers_;  // by Part
  std::vector<Lane> lanes_;
  DramServer::Room room_;
  uint64_t turnaround_;        // thousandths
  uint64_t dirty_ = 0;         // dirty bytes in L2
  uint64_t evicted_ = 0;       // work of evicted bytes that DRAM has yet to write, in DRAM's units
  uint64_t written_back_ = 0;  // work of written-back bytes that DRAM has yet to write, in the same units
  Cycle latest_ = 0;           // cycle of the latest request
};

}  // namespace warpfold::sim
