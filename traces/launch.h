#pragma once

#include <cstdint>
#include <vector>

#include "traces/kernel.h"

namespace warpfold::traces {

// A row of SMs: `count` of them from `first` on; a count of 0 is every SM of the chip.
struct SmRange {
  uint32_t first = 0;
  uint32_t count = 0;

  bool operator==(const SmRange&) const = default;
};

// At most so much of an SM for one launch while another one has CTAs there or may place some; 0: no bound.
struct SmQuota {
  uint32_t ctas = 0;
  uint32_t warps = 0;
  uint32_t registers = 0;

  bool bounds() const { return ctas > 0 || warps > 0 || registers > 0; }
  bool operator==(const SmQuota&) const = default;
};

// What may keep a launch's CTAs out of an SM besides what others hold of it.
struct PlacementBounds {
  // CARVE_OUT: this many resources of each SM are the launch's alone while another one has CTAs left, and bound it; an amount of 0
  // neither keeps nor bounds.
  bool reserved = false;
  uint32_t reserved_registers = 0;
  uint32_t reserved_shared_memory = 0;  // bytes
  uint32_t reserved_warps = 0;
  SmQuota quota{};  // SLICED

  bool any() const { return reserved || quota.bounds(); }
  bool operator==(const PlacementBounds&) const = default;
};

// When a launch runs and how it may share the machine.
struct LaunchPlan : PlacementBounds {
  int stream = 0;          // launches of one stream run in the order given
  int priority = 0;        // higher first
  std::vector<int> after;  // launches (by index) that must have ended
  // Launched early (programmatic dependent launch): as many of its CTAs as find room begin at once when it is released, for they
  // were started while what it waits for still ran.
  bool early = false;
  SmRange sms;         // SM_PARTITION: these alone take its CTAs, for as long as it runs

  bool operator==(const LaunchPlan&) const = default;
};

// One kernel of a run.
struct Launch : LaunchPlan {
  const Kernel* kernel = nullptr;

  bool operator==(const Launch&) const = default;
};

}  // namespace warpfold::traces
