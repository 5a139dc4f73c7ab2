#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "sim/memo/memoizer.h"
#include "sim/sampling/chip_sampler.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// Shortens the run of one SM. At each loop end the Memoizer is asked first, which is exact. Where it skips nothing and the options
// allow an error, a ChipSampler of this SM alone may take work away.
class SmFolding : public SmObserver {
 public:
  // `check`: of the skips of the run, which outlives this; none: they are not checked.
  SmFolding(const FoldOptions& options, Sm& sm, SkipCheck* check);
  // For an SM that has passed the same states as `other`'s.
  SmFolding(const SmFolding& other, Sm& sm);
  // For an SM that has skipped what `other`'s has, though it has passed other states.
  SmFolding(const FoldOptions& options, Sm& sm, const SmFolding& other);

  void loop_ended(Sm& sm, Cycle now, Cycle limit) override;

  // Work has been taken of the SM.
  void took(const SampledSm::Taken& taken);
  void took(uint64_t instructions);

  // The SM has been influenced from outside: no state before leads to one behind.
  void disturbed();

  const Periods& periods() const { return memoizer_.periods(); }
  const Periods& sampled_periods() const { return sampled_periods_; }
  uint64_t skipped_instructions() const { return memoizer_.skipped_instructions() + sampled_; }

 private:
  void begin_sampling(const FoldOptions& options);
  void sample(Cycle now, Cycle limit);

  Sm* sm_;
  Memoizer memoizer_;
  std::optional<ChipSampler> sampler_;  // none: exact only
  uint64_t sampling_delay_ = 0;         // instructions without an exact recurrence before work is taken
  uint64_t sampling_due_ = 0;           // when the SM has issued so many
  Periods sampled_periods_;
  uint64_t sampled_ = 0;  // instructions
};

}  // namespace warpfold::sim
