#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "sim/memo/memoizer.h"
#include "sim/sampling/chip_sampler.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// Folds the run of one SM. At each loop end, the Memoizer may skip periods, which is exact. If it skips nothing and the
// options allow an error, a ChipSampler of this SM alone may extrapolate.
class SmFolding : public SmObserver {
 public:
  // `check`: replays a sample of the run's exact skips and outlives this object; none: they are not checked.
  SmFolding(const FoldOptions& options, Sm& sm, SkipCheck* check);
  // For an SM that has passed the same states as `other`'s SM.
  SmFolding(const SmFolding& other, Sm& sm);
  // For the SM of a twin of `other`'s SM: it has skipped the same periods but passed other states. It starts with the
  // record of skips and without snapshots.
  SmFolding(const FoldOptions& options, Sm& sm, const SmFolding& other);

  void loop_ended(Sm& sm, Cycle now, Cycle limit) override;

  // Record work that a sampler has taken from the SM: with the time skipped, or instructions alone.
  void took(const SampledSm::Taken& taken);
  void took(uint64_t instructions);

  // Drops all snapshots and samples: something outside the SM has changed its state or its future.
  void disturbed();

  const Periods& periods() const { return memoizer_.periods(); }
  const Periods& sampled_periods() const { return sampled_periods_; }
  uint64_t skipped_instructions() const { return memoizer_.skipped_instructions() + sampled_; }

 private:
  void begin_sampling(const FoldOptions& options);
  void sample(Cycle now, Cycle limit);

  Sm* sm_;
  Memoizer memoizer_;
  std::optional<ChipSampler> sampler_;  // none: nothing is estimated
  uint64_t sampling_delay_ = 0;         // instructions without an exact recurrence before work is taken
  uint64_t sampling_due_ = 0;           // number of instructions issued by the SM from which on work may be taken
  Periods sampled_periods_;
  uint64_t sampled_ = 0;  // instructions taken by samplers
};

}  // namespace warpfold::sim
