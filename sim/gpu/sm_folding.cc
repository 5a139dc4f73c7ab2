#include "sim/gpu/sm_folding.h"

namespace warpfold::sim {

SmFolding::SmFolding(const FoldOptions& options, Sm& sm, TrajectoryCache* trajectories, SkipCheck* check)
    : memoizer_(options, sm, trajectories, check) {
  if (options.mode == FoldMode::kAuto) sampler_.emplace(options, sm);
}

SmFolding::SmFolding(const SmFolding& other, Sm& sm)
    : memoizer_(other.memoizer_, sm), sampled_periods_(other.sampled_periods_), sampled_(other.sampled_) {
  if (other.sampler_) sampler_.emplace(*other.sampler_, sm);
}

SmFolding::SmFolding(const FoldOptions& options, Sm& sm, const SmFolding& other)
    : memoizer_(options, sm, other.memoizer_), sampled_periods_(other.sampled_periods_), sampled_(other.sampled_) {
  if (options.mode == FoldMode::kAuto) sampler_.emplace(options, sm);
}

std::unique_ptr<SmFolding> SmFolding::checkpoint(const FoldOptions& options, Sm& copy) const {
  auto of_copy = std::make_unique<SmFolding>(options, copy, *this);
  if (sampler_) of_copy->sampler_.emplace(*sampler_, copy);
  return of_copy;
}

void SmFolding::loop_ended(Sm& /*sm*/, Cycle now, Cycle limit) {
  const auto skipped = memoizer_.loop_ended(now, limit, sampler_ ? sampler_->measured() : 0);
  if (!sampler_) return;
  if (skipped) return sampler_->fast_forwarded(skipped->by, skipped->instructions);
  if (!memoizer_.paused()) sample(now, limit);
}

void SmFolding::sample(Cycle now, Cycle limit) {
  const auto taken = sampler_->loop_ended(now, limit);
  if (!taken) return;
  memoizer_.state_replaced();
  Period& period = sampled_periods_[taken->period];
  period.instructions = taken->instructions / taken->by.periods;
  period.repeats += taken->by.periods;
  sampled_ += taken->instructions;
}

void SmFolding::disturbed() {
  memoizer_.disturbed();
  if (sampler_) sampler_->disturbed();
}

void SmFolding::followed_memo_hit(uint64_t instructions) {
  memoizer_.followed_memo_hit();
  if (sampler_) sampler_->followed_memo_hit(instructions);
}

}  // namespace warpfold::sim
