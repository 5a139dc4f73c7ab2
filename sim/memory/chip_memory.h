#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/time.h"
#include "sim/memory/dram_server.h"
#include "sim/memory/fair_server.h"
#include "sim/memory/memory_spec.h"
#include "sim/memory/passage.h"

namespace warpfold::sim {

// L2 and DRAM of the chip as SMs share them. A lane is one SM under simulation; it represents as many as its weight says, which all
// ask for the same at the same time.
//
// A transfer passes its SM's port, L2 and, for its DRAM bytes, DRAM at once, and has passed when the slowest has. When that is
// depends on what others ask meanwhile: request() hands it over, pop() returns it when it has passed, in order of time. Requests
// come in order of time over all lanes.
//
// DRAM behind a write-back L2: as DramServer, with the dirty bytes of all SMs in one place.
class ChipMemory {
 public:
  ChipMemory(const MemorySpec& spec, size_t lanes, size_t launches);

  struct Request {
    uint32_t transfer;  // its number in the lane
    bool write;
    uint64_t l2_bytes;
    uint64_t dram_bytes;
    int launch;
    Cycle port_end;  // at the SM's own port
    Cycle port_idle_end;
    LostTo lost_at_port{};
  };
  // Throws where one comes behind one of a later cycle.
  void request(Cycle now, size_t lane, const Request& request);

  // When the next transfer, or a part of one, has passed.
  Cycle next() const;
  struct Passed {
    size_t lane;
    uint32_t transfer;
    Reply reply;
  };
  // Takes what has passed at next(); fails where that was a part of a transfer alone.
  bool pop(Passed& passed);
  // Nothing of the lane is under way.
  bool quiet(size_t lane) const { return lanes_[lane].under_way == 0; }

  // ---- lanes: the SMs that one under simulation represents

  void set_weight(size_t lane, uint64_t sms);
  // The SM of lane `to`, which may be a new one behind the others, is a copy of the one of lane `from`.
  void copy_lane(size_t from, size_t to, uint64_t sms);
  // What L2 and DRAM have yet to move for each SM of a lane, and what of its stores has yet to leave L2: bytes.
  struct Backlog {
    uint64_t l2_read = 0;
    uint64_t l2_write = 0;
    uint64_t dram = 0;
    uint64_t dirty = 0;
    DramServer::Waiting waiting{};
  };
  void open_lane(Cycle now, size_t lane, uint64_t sms, const Backlog& backlog);
  Backlog backlog(Cycle now, size_t lane);
  // Bytes in L2 that have yet to be written to DRAM.
  uint64_t dirty_bytes() const { return dirty_; }
  DramServer::Waiting waiting_bytes(Cycle now);
  // Of the room that L2 has for them, the share that is taken.
  double dirty_share() const;

  // Time is skipped: all goes on from the same state, later.
  void move_on(Cycle by);

 private:
  enum Part : uint8_t { kL2Read, kL2Write, kDram };
  static constexpr int kParts = 3;
  static constexpr uint32_t kNoTransfer = UINT32_MAX;  // a backlog that nothing waits for

  struct Transfer {
    int parts = 0;  // under way
    bool under_way = false;
    bool write = false;
    Cycle idle_end = 0;                         // the SM's port, and L2 and DRAM with all other lanes idle
    std::vector<uint64_t> held_before[kParts];  // by other lanes, of each launch
    int launch = 0;
    Reply reply;  // as far as the port and the parts that have passed say
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
  uint64_t beyond(uint64_t most_bytes, uint64_t& waiting, size_t lane) const;
  void passed_part(Cycle at, size_t lane, int part, Cycle start, Transfer& transfer);

  std::vector<FairServer> servers_;  // [Part]
  std::vector<Lane> lanes_;
  DramServer::Room room_;
  uint64_t turnaround_;        // thousandths
  uint64_t dirty_ = 0;         // bytes in L2
  uint64_t evicted_ = 0;       // and not yet written, in DRAM's units of work
  uint64_t written_back_ = 0;  // as well
  Cycle latest_ = 0;           // request so far
};

}  // namespace warpfold::sim
