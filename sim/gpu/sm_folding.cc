#include "sim/gpu/sm_folding.h"

#include <algorithm>

#include "sim/sampling/work.h"

namespace warpfold::sim {
namespace {

// Returns the sampling delay: instructions without an exact recurrence before work is taken. The delay leaves time for
// a recurrence, which has no error. If a larger error is allowed, the delay is shorter.
uint64_t sampling_delay_for(const FoldOptions& options, const Sm& sm) {
  if (options.sampling_delay > 0) return options.sampling_delay;
  uint64_t work = 0;
  for (const SmLaunch& launch : sm.state().launches) {
    WorkTable table(*launch.image);
    for (const traces::CtaRun& run : launch.ctas) work += table.of_cta(run.cta_class).instructions * run.count;
  }
  constexpr double kCoarseError = 0.005;  // least relative error with the shorter delay
  const uint64_t haste = options.error < kCoarseError ? 1 : 8;
  constexpr uint64_t kLeast = 300'000;
  constexpr uint64_t kMost = 1'000'000;
  return std::clamp(work / 16, kLeast, kMost) / haste;
}

}  // namespace

SmFolding::SmFolding(const FoldOptions& options, Sm& sm, SkipCheck* check) : sm_(&sm), memoizer_(options, sm, check) {
  begin_sampling(options);
}

SmFolding::SmFolding(const FoldOptions& options, Sm& sm, const SmFolding& other)
    : sm_(&sm), memoizer_(options, sm, other.memoizer_), sampled_periods_(other.sampled_periods_), sampled_(other.sampled_) {
  begin_sampling(options);
}

void SmFolding::begin_sampling(const FoldOptions& options) {
  if (options.mode != FoldMode::kAuto) return;
  sampler_.emplace(options);
  sampling_delay_ = sampling_delay_for(options, *sm_);
  sampling_due_ = sm_->instructions() + sampling_delay_;
}

SmFolding::SmFolding(const SmFolding& other, Sm& sm)
    : sm_(&sm),
      memoizer_(other.memoizer_, sm),
      sampler_(other.sampler_),
      sampling_delay_(other.sampling_delay_),
      sampling_due_(other.sampling_due_),
      sampled_periods_(other.sampled_periods_),
      sampled_(other.sampled_) {
  if (sampler_) sampler_->restart();
}

void SmFolding::loop_ended(Sm& /*sm*/, Cycle now, Cycle limit) {
  const auto skipped = memoizer_.loop_ended(now, limit);
  if (!sampler_) return;
  if (skipped) {
    sampler_->restart();
    // An exact skip postpones sampling by the number of instructions skipped, up to a full delay. A run that recurs
    // only now and then, for a moment, is still sampled.
    sampling_due_ = std::min(sampling_due_ + 2 * skipped->instructions, sm_->instructions() + sampling_delay_);
  } else {
    sample(now, limit);
  }
}

// The sampler measures during the second half of the delay, so that it may take work when the delay ends.
void SmFolding::sample(Cycle now, Cycle limit) {
  if (sm_->instructions() + sampling_delay_ / 2 < sampling_due_) return;
  const auto skip = sampler_->look(now, limit, {{0, 1, sm_}}, sm_->memory().memory().dirty_share());
  took(sampler_->owed_taken(0));
  if (!skip || sm_->instructions() < sampling_due_) return;
  if (sm_->control().has_twins) return sm_->control().end_sharing();
  took(sampler_->take(*skip).front());
  sampling_due_ = 0;  // no further delay: the state will hardly recur later either
}

void SmFolding::took(const SampledSm::Taken& taken) {
  memoizer_.work_taken();
  uint64_t instructions = 0;
  for (const uint64_t each : taken.instructions) instructions += each;
  Period& period = sampled_periods_[taken.cycles / taken.windows];
  period.instructions = instructions / taken.windows;
  period.repeats += taken.windows;
  sampled_ += instructions;
}

void SmFolding::took(uint64_t instructions) {
  if (instructions == 0) return;
  memoizer_.work_taken();
  sampled_ += instructions;
}

void SmFolding::disturbed() {
  memoizer_.forget_states();
  if (sampler_) sampler_->restart();
}

}  // namespace warpfold::sim
