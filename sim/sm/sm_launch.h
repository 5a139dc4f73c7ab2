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

using CtaList = std::vector<traces::CtaRun>;    // runs of CTAs of one class, in launch order
using ClassMap = std::map<uint32_t, uint32_t>;  // new class of each CTA class

uint64_t count_of(const CtaList& ctas);
// Adds CTAs at the end, to the last run if that is of the same class.
void append(CtaList& list, uint32_t cta_class, uint64_t count);
// Returns at most `most` CTAs of a list, from CTA number `first` on. Neighbouring runs of one class become one.
CtaList part_of(const CtaList& ctas, uint64_t first, uint64_t most = UINT64_MAX);

// Source of a launch's next CTA on an SM.
enum class CtaSource : uint8_t {
  kList,   // the SM's list alone
  kLoan,   // the SM's list; at its end, the SM asks the chip's work distributor
  kQueue,  // the chip's queue: the SM asks for a CTA whenever it has room
};

// The part of a launch that one SM receives.
struct SmLaunch : PlacementBounds {
  const KernelImage* image = nullptr;
  CtaList ctas;
  int order = 0;            // placement order: priority, then stream, then position
  int priority = 0;         // higher first, under IssuePolicy::kKernelPriority
  uint32_t ctas_alone = 0;  // CTAs that an SM would hold at a time without other launches
  int epoch = 0;            // launches of one epoch may be on an SM together (sim/plan/epochs.h)
  bool early = false;       // CTAs that have room when the launch is released begin together
  CtaSource source = CtaSource::kList;
  // Shares of its streams while other launches use the caches too (traces::LaunchPlan::beside); none: as alone.
  const std::vector<traces::MemoryStream>* beside = nullptr;
};

}  // namespace warpfold::sim
