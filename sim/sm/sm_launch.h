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
};

using CtaList = std::vector<traces::CtaRun>;    // classes in launch order
using ClassMap = std::map<uint32_t, uint32_t>;  // a CTA class for another

// What one launch brings to one SM.
struct SmLaunch {
  const KernelImage* image = nullptr;
  CtaList ctas;
  int order = 0;          // placement order: priority, then stream, then position
  bool reserved = false;  // CARVE_OUT: the amounts below are its own while other launches have CTAs left; 0: not bound
  uint32_t reserved_registers = 0;
  uint32_t reserved_shared_memory = 0;
  uint32_t reserved_warps = 0;
  SmQuota quota{};
  int priority = 0;         // higher first, where warps issue by it
  uint32_t ctas_alone = 0;  // CTAs that an SM would hold at a time if there were no other launch
};

}  // namespace warpfold::sim
