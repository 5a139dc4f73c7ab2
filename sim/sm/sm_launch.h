#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/sm/kernel_image.h"
#include "traces/kernel.h"
#include "traces/launch.h"

namespace warpfold::sim {

using traces::PlacementBounds;
using traces::SmQuota;

using CtaList = std::vector<traces::CtaRun>;    // classes in launch order
using ClassMap = std::map<uint32_t, uint32_t>;  // a CTA class for another

uint64_t count_of(const CtaList& ctas);
// Adds CTAs at the end; to the last run if that is of their class.
void append(CtaList& list, uint32_t cta_class, uint64_t count);
// CTAs of a list from the `first` on, no more than `most`; those of one class that follow each other are one run.
CtaList part_of(const CtaList& ctas, uint64_t first, uint64_t most = UINT64_MAX);

// Where a launch's next CTA on an SM comes from.
enum class CtaSource : uint8_t {
  kList,   // the SM's list; behind it comes none
  kLoan,   // the same; where the list ends, the SM asks the chip's work distributor
  kQueue,  // the queue of the chip: wherever the SM has room, it asks for one
};

// What one launch brings to one SM.
struct SmLaunch : PlacementBounds {
  const KernelImage* image = nullptr;
  CtaList ctas;
  int order = 0;            // placement order: priority, then stream, then position
  int priority = 0;         // higher first, where warps issue by it
  uint32_t ctas_alone = 0;  // CTAs that an SM would hold at a time if there were no other launch
  int epoch = 0;            // launches of one may be on an SM together (sim/plan/epochs.h)
  bool early = false;       // its CTAs that find room when it is released begin together
  CtaSource source = CtaSource::kList;
};

}  // namespace warpfold::sim
