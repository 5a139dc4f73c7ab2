#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/account/states.h"
#include "sim/engine/state_visitor.h"
#include "sim/engine/time.h"

namespace warpfold::sim {

// What one launch did on one SM. Only sums, linear in time.
struct LaunchAccount {
  std::array<uint64_t, kWarpStates> states{};  // warp-cycles; sum to resident_warp_cycles
  uint64_t resident_warp_cycles = 0;
  uint64_t instructions = 0;
  uint64_t l2_requested_bytes = 0;
  uint64_t l2_served_bytes = 0;
  uint64_t dram_bytes = 0;
  // Waits of requests (not of warps) for a contended resource: memory stage, data stage, wgmma pipe, write-backs.
  std::array<uint64_t, kContended> request_waits{};

  void visit(StateVisitor& visitor) {
    for (uint64_t& cycles : states) visitor.count(cycles);
    for (uint64_t* total : {&resident_warp_cycles, &instructions, &l2_requested_bytes, &l2_served_bytes, &dram_bytes})
      visitor.count(*total);
    for (uint64_t& cycles : request_waits) visitor.count(cycles);
  }
};

// The account of one SM: per-launch counters and the contention ledger [victim][culprit][resource].
class Account {
 public:
  explicit Account(int launches) : launches_(launches), launch_(launches), ledger_(size_t(launches) * launches) {}

  int launches() const { return launches_; }
  LaunchAccount& launch(int index) { return launch_[index]; }
  const LaunchAccount& launch(int index) const { return launch_[index]; }

  void charge(int victim, int culprit, Contended resource, uint64_t cycles) {
    ledger_[size_t(victim) * launches_ + culprit][static_cast<int>(resource)] += cycles;
  }
  // A request of `victim` waited: counted once as a wait and once against the culprit.
  void charge_request(int victim, int culprit, Contended resource, uint64_t cycles) {
    launch_[victim].request_waits[static_cast<int>(resource)] += cycles;
    charge(victim, culprit, resource, cycles);
  }
  const std::array<uint64_t, kContended>& ledger(int victim, int culprit) const {
    return ledger_[size_t(victim) * launches_ + culprit];
  }

  void visit(StateVisitor& visitor) {
    for (LaunchAccount& launch : launch_) launch.visit(visitor);
    for (auto& resources : ledger_) {
      for (uint64_t& cycles : resources) visitor.count(cycles);
    }
  }

  // Throws std::logic_error naming the launch where states do not sum to resident warp-cycles, or the ledger does not sum to
  // the stalls and request waits that it explains. Called at the end of every run, in Release too.
  void check() const;

 private:
  uint64_t charged(int victim, Contended resource) const;

  int launches_;
  std::vector<LaunchAccount> launch_;
  std::vector<std::array<uint64_t, kContended>> ledger_;
};

// Who held a resource and when: a short history of [start, launch) segments, the last one still running. A wait is charged to
// the holders of its cycles; what lies before the oldest segment goes to the oldest holder.
class HoldHistory {
 public:
  void hold(Cycle start, int launch) {
    if (size_ > 0 && segments_[(head_ + size_ - 1) % kSegments].launch == launch) return;
    if (size_ == kSegments) {
      head_ = (head_ + 1) % kSegments;
      --size_;
    }
    segments_[(head_ + size_) % kSegments] = {start, launch};
    ++size_;
  }

  // Calls charge(launch, cycles) for the holders of [from, to), newest first.
  template <typename Charge>
  void charge(Cycle from, Cycle to, int nobody, Charge charge) const {
    for (int i = size_ - 1; i >= 0 && to > from; --i) {
      const Segment& segment = segments_[(head_ + i) % kSegments];
      if (segment.start >= to) continue;
      const Cycle begin = i == 0 ? from : std::max(from, segment.start);
      charge(segment.launch, to - begin);
      to = begin;
    }
    if (to > from) charge(nobody, to - from);
  }

  // Only what a wait that began at `earliest` or later can be charged to; of the first of those segments the start is no matter.
  void visit(StateVisitor& visitor, Cycle earliest) {
    if (!visitor.taking()) {
      for (Segment& segment : segments_) segment.start += visitor.shift();
      return;
    }
    int first = std::max(size_ - 1, 0);
    while (first > 0 && at(first).start > earliest) --first;
    visitor.value("holds", static_cast<uint64_t>(size_ - first));
    for (int i = first; i < size_; ++i) {
      visitor.value("hold_launch", static_cast<uint64_t>(at(i).launch));
      if (i > first) visitor.value("hold_start", at(i).start - visitor.now());
    }
  }

 private:
  static constexpr int kSegments = 32;
  struct Segment {
    Cycle start;
    int launch;
  };
  Segment& at(int i) { return segments_[(head_ + i) % kSegments]; }

  std::array<Segment, kSegments> segments_{};
  int head_ = 0;
  int size_ = 0;
};

}  // namespace warpfold::sim
