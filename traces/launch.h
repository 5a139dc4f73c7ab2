#pragma once

#include <cstdint>
#include <vector>

#include "traces/kernel.h"

namespace warpfold::traces {

// Contiguous range of SMs: `count` SMs from `first` on. A count of 0 means every SM of the chip.
struct SmRange {
  uint32_t first = 0;
  uint32_t count = 0;

  bool operator==(const SmRange&) const = default;
};

// Upper bounds of a launch's resources on an SM while another launch has CTAs there or may place some. 0: unbounded.
struct SmQuota {
  uint32_t ctas = 0;
  uint32_t warps = 0;
  uint32_t registers = 0;

  bool bounds() const { return ctas > 0 || warps > 0 || registers > 0; }
  bool operator==(const SmQuota&) const = default;
};

// Bounds that keep a launch's CTAs out of an SM, in addition to the resources that other launches hold.
struct PlacementBounds {
  // CARVE_OUT: these resources of each SM are reserved for the launch while another launch has CTAs left, and the
  // launch may use no more of them. An amount of 0 neither reserves nor bounds.
  bool reserved = false;
  uint32_t reserved_registers = 0;
  uint32_t reserved_shared_memory = 0;  // bytes
  uint32_t reserved_warps = 0;
  SmQuota quota{};  // SLICED

  bool any() const { return reserved || quota.bounds(); }
  bool operator==(const PlacementBounds&) const = default;
};

// Order, placement and bounds of a launch.
struct LaunchPlan : PlacementBounds {
  int stream = 0;          // launches of one stream run in the order given
  int priority = 0;        // higher priority first
  std::vector<int> after;  // launches, by index, that must have ended
  // Early launch (programmatic dependent launch). On release, all of its CTAs that find room begin at once, because
  // they were started while the launches that it waits for still ran.
  bool early = false;
  SmRange sms;  // SM_PARTITION: only these SMs take its CTAs while it runs
  // The kernel's streams with their shares of hits while other launches use the caches too. L1 counts as shared while
  // another launch has CTAs on the SM, L2 while another launch is under way on the chip. Empty: the shares do not change.
  std::vector<MemoryStream> beside;

  bool operator==(const LaunchPlan&) const = default;
};

// One kernel of a run.
struct Launch : LaunchPlan {
  const Kernel* kernel = nullptr;

  bool operator==(const Launch&) const = default;
};

}  // namespace warpfold::traces
