#include "sim/sampling/sampler.h"

#include <algorithm>
#include <span>
#include <utility>

#include "sim/memo/recurrence.h"
#include "sim/sm/sm_snapshot.h"

namespace warpfold::sim {
namespace {

constexpr size_t kMostSamples = 64;      // then every second one goes: batches of twice the length
constexpr Cycle kShortestBatch = 512;    // cycles
constexpr uint64_t kMostMissed = 20000;  // loop ends with a sample due after which another anchor is tried

// Instructions without an exact recurrence, of `work` in all, after which work is taken away. What is skipped exactly has no error;
// a larger error allowed shortens the wait.
uint64_t sampling_delay_for(double error, uint64_t work) {
  constexpr double kCoarseError = 0.005;  // relative, from which on the wait is shorter
  const uint64_t haste = error < kCoarseError ? 1 : 8;
  constexpr uint64_t kLeast = 300'000;
  constexpr uint64_t kMost = 1'000'000;
  return std::clamp(work / 16, kLeast, kMost) / haste;
}

}  // namespace

Sampler::Sampler(const FoldOptions& options, Sm& sm) : sm_(&sm), error_(options.error) {
  for (const SmLaunch& launch : sm.state().launches) {
    work_.emplace_back(*launch.image);
    coupled_.push_back(launch.image->coupled);
    spent_.push_back(0);
  }
  sampling_delay_ = options.sampling_delay > 0 ? options.sampling_delay : sampling_delay_for(error_, all_work());
  sampling_due_ = sm.instructions() + sampling_delay_;
}

Sampler::Sampler(const Sampler& other, Sm& sm) : Sampler(other) { sm_ = &sm; }

uint64_t Sampler::all_work() {
  uint64_t instructions = 0;
  for (size_t l = 0; l < work_.size(); ++l) {
    for (const traces::CtaRun& run : sm_->state().launches[l].ctas)
      instructions += work_[l].of_cta(run.cta_class).instructions * run.count;
  }
  return instructions;
}

// What is measured while waiting is ready when the waiting ends.
std::optional<Sampler::Extrapolation> Sampler::loop_ended(Cycle now, Cycle limit) {
  if (sm_->instructions() + sampling_delay_ / 2 < sampling_due_) {
    skip_observation();
    return std::nullopt;
  }
  if (!observe(now) || sm_->instructions() < sampling_due_) return std::nullopt;
  Extrapolation extrapolation = plan(limit);
  if (extrapolation.by.periods == 0) return std::nullopt;
  if (!sm_->control().jumps()) {
    sm_->control().end_sharing();
    return std::nullopt;
  }
  apply(extrapolation);
  sampling_due_ = 0;  // what follows will hardly recur either
  return extrapolation;
}

// The delay grows by what has been skipped: what recurs now and then for a moment shall not keep a run from being sampled.
void Sampler::fast_forwarded(const FastForward& by, uint64_t instructions) {
  move_measurement(by);
  sampling_due_ = std::min(sampling_due_ + 2 * instructions, sm_->instructions() + sampling_delay_);
}

void Sampler::followed_memo_hit(uint64_t instructions) {
  restart();
  sampling_due_ = std::min(sampling_due_ + instructions, sm_->instructions() + sampling_delay_);
}

// ---- measuring

void Sampler::restart() {
  samples_.clear();
  anchor_.clear();
  find_pacer();
  missed_ = 0;
  batch_ = kShortestBatch;
}

void Sampler::move_measurement(const FastForward& by) {
  const size_t count = samples_.size();
  if (count > 1 && by.cycles > samples_[count - 1].state.at - samples_[count - 2].state.at) return restart();
  // A warp has kept its serial where others have taken its place. Work is taken by serials of coupled launches and of those without
  // CTAs left; of others what warps have not done themselves, CTAs not placed yet do.
  for (size_t l = 0; l < by.placed.size(); ++l) {
    if (by.placed[l] > 0 && (coupled_[l] || !sm_->state().ctas_left(static_cast<int>(l)))) return restart();
  }
  if (pacer_) pacer_->rounds_left = rounds_left();
}

// A loop end passes that is not observed.
void Sampler::skip_observation() {
  if (pacer_) pacer_->rounds_left = 0;
}

// A phase is, of each launch, with CTAs left to place, whether it has begun and whether it may place them; with none, how many
// warps still run.
bool Sampler::another_phase(Cycle now) {
  std::swap(phase_, phase_before_);
  phase_.assign(coupled_.size(), 0);
  for_each_warp([&](const Warp& warp) { phase_[warp.launch] += warp.exited ? 0 : 1; });
  for (size_t l = 0; l < coupled_.size(); ++l) {
    const int launch = static_cast<int>(l);
    if (!sm_->state().ctas_left(launch)) continue;
    const bool may_begin = sm_->state().progress[launch].ready <= now;
    phase_[l] = kUnbounded - (sm_->state().progress[launch].placed > 0 ? 1 : 0) - (may_begin ? 2 : 0);
  }
  return phase_ != phase_before_;
}

// The first warp of the only coupled launch there is, if all of its warps have loops and no CTA will take its place.
void Sampler::find_pacer() {
  pacer_.reset();
  if (pacer_diverged_) return;
  for (int c = 0; c < sm_->sub_cores(); ++c) {
    for (int slot = 0; slot < sm_->sub_core(c).slots(); ++slot) {
      const Warp& warp = sm_->sub_core(c).warp(slot);
      if (!warp.resident || warp.exited || !coupled_[warp.launch]) continue;
      const bool of_another = pacer_ && pacer_->launch != warp.launch;
      if (of_another || sm_->state().ctas_left(warp.launch) || warp.program->loops.empty()) return pacer_.reset();
      if (!pacer_) pacer_ = {warp.launch, c, slot, 0};
    }
  }
  if (pacer_) pacer_->rounds_left = rounds_left();
}

uint64_t Sampler::rounds_left() const {
  const Warp& warp = sm_->sub_core(pacer_->sub_core).warp(pacer_->slot);
  return warp.op->depth > 0 ? warp.trips_left[0] : 0;
}

bool Sampler::at_anchor(Cycle now) {
  const bool due = samples_.empty() || now >= samples_.back().state.at + batch_;
  return pacer_ ? round_ended() && due : due && all_places_met(now);
}

// Since it was last looked at. In another loop rounds are others.
bool Sampler::round_ended() {
  const uint64_t left = rounds_left();
  const uint64_t before = std::exchange(pacer_->rounds_left, left);
  if (left > before && before > 0) restart();
  return left > 0 && left < before;
}

// All coupled warps are in the pacer's round, the one before or the one behind it. Where they are not, their loops are others than
// its.
bool Sampler::in_step() {
  bool result = true;
  for_each_warp([&](const Warp& warp) {
    if (!coupled_[warp.launch] || warp.exited) return;
    const uint64_t left = warp.op->depth > 0 ? warp.trips_left[0] : 0;
    result = result && left > 0 && left + 1 >= pacer_->rounds_left && left <= pacer_->rounds_left + 1;
  });
  return result;
}

// Tied warps stand where they stood, with the same trips left of all loops but the outermost; where CTAs replace each other, of
// that as well. At the first sample they stand there for the first time.
bool Sampler::all_places_met(Cycle now) {
  Snapshot places;
  StateVisitor visitor(places, now);
  visit_couplings(*sm_, visitor, coupled_);
  std::vector<uint64_t>& key = places.key;
  for (const Trips::OfWarp& warp : places.trips.warps) {
    const std::span<const uint64_t> left = places.trips.of(warp);
    const bool outermost_counts = sm_->state().ctas_left(warp.launch);
    for (size_t d = outermost_counts ? 0 : 1; d < left.size(); ++d) key.push_back(left[d]);
  }
  if (samples_.empty()) {
    anchor_ = std::move(key);
    return true;
  }
  if (key == anchor_) {
    missed_ = 0;
    return true;
  }
  if (++missed_ > kMostMissed || (samples_.size() == 1 && missed_ > kMostMissed / 16)) restart();
  return false;
}

void Sampler::sample_warps(Cycle now, Sample& sample) {
  for_each_warp([&](const Warp& warp) {
    if (coupled_[warp.launch] && pacer_) sample.loops.push_back(warp.exited ? nullptr : &warp.program->loop_around(*warp.op, 0));
    if (!coupled_[warp.launch])
      sample.warps.push_back({warp.serial, work_[warp.launch].left(warp, sm_->state().ctas[warp.cta].cta_class)});
  });
  std::ranges::sort(sample.warps, {}, &WarpSample::serial);
  sample.waiting.resize(coupled_.size());
  for_each_warp([&](const Warp& warp) {
    auto& waiting = sample.waiting[warp.launch];
    if (warp.exited) waiting[{warp.row, WarpState::kDrain}] += now - (warp.last_issue + 1);
    // A wait for the wgmma FIFO is charged to its holders when it ends, and not before.
    if (warp.blocked && warp.reason != WarpState::kMathPipeThrottle) waiting[{warp.waiting_row, warp.reason}] += now - warp.since;
  });
}

void Sampler::add_sample(Cycle now) {
  if (samples_.size() == kMostSamples) {
    for (size_t i = 0; i < kMostSamples / 2; ++i) samples_[i] = std::move(samples_[2 * i + 1]);
    samples_.resize(kMostSamples / 2);
    batch_ *= 2;
  }
  Sample& sample = samples_.emplace_back();
  StateVisitor visitor(sample.state, now);
  sm_->visit(visitor);
  sample.state.instructions = sm_->instructions();
  sample.dirty_share = sm_->memory().memory().dirty_share();
  sample.rounds_left = pacer_ ? pacer_->rounds_left : 0;
  sample_warps(now, sample);
  for (size_t l = 0; l < coupled_.size(); ++l) {
    sample.launches.push_back(sm_->account().launch(static_cast<int>(l)));
    sample.states.push_back(sm_->account().cycles_of(static_cast<int>(l)));
    sample.ctas_done.push_back(sm_->state().progress[l].done);
    std::vector<uint64_t>& issued = sample.issued.emplace_back();
    for (int c = 0; c < sm_->sub_cores(); ++c) issued.push_back(sm_->sub_core(c).issued(*sm_, static_cast<int>(l)));
  }
}

// Whether there is more to plan with than before.
bool Sampler::observe(Cycle now) {
  if (another_phase(now)) {
    pacer_diverged_ = false;
    restart();
  }
  if (!at_anchor(now)) return false;
  if (pacer_ && !in_step()) {
    pacer_diverged_ = true;
    restart();
    return false;
  }
  add_sample(now);
  return true;
}

std::vector<Batch> Sampler::batches(size_t first, int launch) const {
  std::vector<Batch> result;
  for (size_t i = first; i + 1 < samples_.size(); ++i) {
    const uint64_t done = samples_[i + 1].launches[launch].instructions - samples_[i].launches[launch].instructions;
    const Cycle cycles = samples_[i + 1].state.at - samples_[i].state.at;
    result.push_back({static_cast<double>(done), static_cast<double>(cycles)});
  }
  return result;
}

}  // namespace warpfold::sim
