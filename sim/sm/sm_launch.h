#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/sm/kernel_image.h"
#include "traces/kernel.h"

namespace warpfold::sim {

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
  uint32_t reserved_shared_memory = 0;
  uint32_t reserved_warps = 0;
  SmQuota quota{};  // SLICED

  bool any() const { return reserved || quota.bounds(); }
  bool operator==(const PlacementBounds&) const = default;
};

using CtaList = std::vector<traces::CtaRun>;    // classes in launch order
using ClassMap = std::map<uint32_t, uint32_t>;  // a CTA class for another

uint64_t count_of(const CtaList& ctas);
// CTAs of a list from the `first` on, no more than `most`; those of one class that follow each other are one run.
CtaList part_of(const CtaList& ctas, uint64_t first, uint64_t most = UINT64_MAX);

// What one launch brings to one SM.
struct SmLaunch : PlacementBounds {
  const KernelImage* image = nullptr;
  CtaList ctas;
  int order = 0;            // placement order: priority, then stream, then position
  int priority = 0;         // higher first, where warps issue by it
  uint32_t ctas_alone = 0;  // CTAs that an SM would hold at a time if there were no other launch
  int epoch = 0;            // launches of one may be on an SM together (sim/gpu/epochs.h)

  bool operator==(const SmLaunch&) const = default;
};

}  // namespace warpfold::sim
