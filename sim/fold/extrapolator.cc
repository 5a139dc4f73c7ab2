#include "sim/fold/extrapolator.h"

#include <algorithm>
#include <utility>

#include "sim/fold/link.h"

namespace warpfold::sim {
namespace {

constexpr size_t kMostSamples = 64;  // then every second one goes: batches of twice the length
// Batches that a window has at least: Student's t allows for few of them, but not for batches that depend on each other, which
// show when they are joined.
constexpr size_t kLeastBatches = 8;
constexpr Cycle kShortestBatch = 512;  // cycles
constexpr uint64_t kPatience = 20000;  // loop ends with a sample due after which another anchor is tried

}  // namespace

Extrapolator::Extrapolator(Sm& sm, double error) : sm_(&sm), error_(error) {
  for (const SmLaunch& launch : sm.launches()) {
    work_.emplace_back(*launch.image);
    coupled_.push_back(launch.image->coupled);
    spent_.push_back(0);
  }
}

void Extrapolator::restart() {
  samples_.clear();
  anchor_.clear();
  find_pacer();
  missed_ = 0;
  batch_ = kShortestBatch;
}

void Extrapolator::moved_on(const FastForward& skip) {
  const size_t count = samples_.size();
  if (count > 1 && skip.cycles > samples_[count - 1].state.at - samples_[count - 2].state.at) return restart();
  // A warp has kept its serial where others have taken its place. Work is taken by serials of coupled launches and of those without
  // CTAs left; of others what warps have not done themselves, CTAs not placed yet do.
  for (size_t l = 0; l < skip.placed.size(); ++l) {
    if (skip.placed[l] > 0 && (coupled_[l] || !sm_->ctas_left(static_cast<int>(l)))) return restart();
  }
  if (pacer_) pacer_->rounds_left = rounds_left();
}

void Extrapolator::look_away() {
  if (pacer_) pacer_->rounds_left = 0;
}

uint64_t Extrapolator::all_work() {
  uint64_t instructions = 0;
  for (size_t l = 0; l < work_.size(); ++l) {
    for (const traces::CtaRun& run : sm_->launches()[l].ctas)
      instructions += work_[l].of_cta(run.cta_class).instructions * run.count;
  }
  return instructions;
}

// ---- measuring

// A phase is, of each launch, with CTAs left to place, whether it has begun and whether it may place them; with none, how many
// warps still run.
bool Extrapolator::another_phase(Cycle now) {
  std::swap(phase_, phase_before_);
  phase_.assign(coupled_.size(), 0);
  for_each_warp([&](const Warp& warp) { phase_[warp.launch] += warp.exited ? 0 : 1; });
  for (size_t l = 0; l < coupled_.size(); ++l) {
    const int launch = static_cast<int>(l);
    if (!sm_->ctas_left(launch)) continue;
    const bool may_begin = sm_->launch_ready(launch) <= now;
    phase_[l] = kUnbounded - (sm_->ctas_placed(launch) > 0 ? 1 : 0) - (may_begin ? 2 : 0);
  }
  return phase_ != phase_before_;
}

// The first warp of the only coupled launch there is, if all of its warps have loops and no CTA will take its place.
void Extrapolator::find_pacer() {
  pacer_.reset();
  if (wayward_) return;
  for (int c = 0; c < sm_->sub_cores(); ++c) {
    for (int slot = 0; slot < sm_->sub_core(c).slots(); ++slot) {
      const Warp& warp = sm_->sub_core(c).warp(slot);
      if (!warp.resident || warp.exited || !coupled_[warp.launch]) continue;
      const bool of_another = pacer_ && pacer_->launch != warp.launch;
      if (of_another || sm_->ctas_left(warp.launch) || warp.program->loops.empty()) return pacer_.reset();
      if (!pacer_) pacer_ = {warp.launch, c, slot, 0};
    }
  }
  if (pacer_) pacer_->rounds_left = rounds_left();
}

uint64_t Extrapolator::rounds_left() const {
  const Warp& warp = sm_->sub_core(pacer_->sub_core).warp(pacer_->slot);
  return warp.op->depth > 0 ? warp.trips_left[0] : 0;
}

bool Extrapolator::at_anchor(Cycle now) {
  const bool due = samples_.empty() || now >= samples_.back().state.at + batch_;
  return pacer_ ? round_ended() && due : due && all_places_met(now);
}

// Since it was last looked at. In another loop rounds are others.
bool Extrapolator::round_ended() {
  const uint64_t left = rounds_left();
  const uint64_t before = std::exchange(pacer_->rounds_left, left);
  if (left > before && before > 0) restart();
  return left > 0 && left < before;
}

// All coupled warps are in the pacer's round, the one before or the one behind it. Where they are not, their loops are others than
// its.
bool Extrapolator::in_step() {
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
bool Extrapolator::all_places_met(Cycle now) {
  Snapshot places;
  StateVisitor visitor(places, now);
  sm_->visit_couplings(visitor, coupled_);
  std::vector<uint64_t>& key = places.key;
  for (size_t i = 0; i < places.trips.size();) {
    const bool outermost_counts = sm_->ctas_left(static_cast<int>(places.trips[i + 1]));
    const uint64_t depth = places.trips[i + 2];
    i += 3;
    for (uint64_t d = outermost_counts ? 0 : 1; d < depth; ++d) key.push_back(places.trips[i + d]);
    i += depth;
  }
  if (samples_.empty()) {
    anchor_ = std::move(key);
    return true;
  }
  if (key == anchor_) {
    missed_ = 0;
    return true;
  }
  if (++missed_ > kPatience || (samples_.size() == 1 && missed_ > kPatience / 16)) restart();
  return false;
}

void Extrapolator::add_sample(Cycle now) {
  if (samples_.size() == kMostSamples) {
    for (size_t i = 0; i < kMostSamples / 2; ++i) samples_[i] = std::move(samples_[2 * i + 1]);
    samples_.resize(kMostSamples / 2);
    batch_ *= 2;
  }
  Sample& sample = samples_.emplace_back();
  StateVisitor visitor(sample.state, now);
  sm_->visit(visitor);
  sample.state.instructions = sm_->instructions();
  sample.dirty_share = sm_->memory().memory().own().dram.dirty_share();
  sample.rounds_left = pacer_ ? pacer_->rounds_left : 0;
  for_each_warp([&](const Warp& warp) {
    if (coupled_[warp.launch] && pacer_) sample.loops.push_back(warp.exited ? nullptr : &warp.program->loop_around(*warp.op, 0));
    if (!coupled_[warp.launch]) sample.warps.push_back({warp.serial, work_[warp.launch].left(warp, sm_->cta(warp.cta).cta_class)});
  });
  std::ranges::sort(sample.warps, {}, &WarpSample::serial);
  sample.waiting.resize(coupled_.size());
  for_each_warp([&](const Warp& warp) {
    auto& waiting = sample.waiting[warp.launch];
    if (warp.exited) waiting[{warp.row, WarpState::kDrain}] += now - (warp.last_issue + 1);
    // A wait for the wgmma FIFO is charged to its holders when it ends, and not before.
    if (warp.blocked && warp.reason != WarpState::kMathPipeThrottle) waiting[{warp.waiting_row, warp.reason}] += now - warp.since;
  });
  for (size_t l = 0; l < coupled_.size(); ++l) {
    sample.launches.push_back(sm_->account().launch(static_cast<int>(l)));
    sample.states.push_back(sm_->account().cycles_of(static_cast<int>(l)));
    sample.ctas_done.push_back(sm_->ctas_done(static_cast<int>(l)));
    std::vector<uint64_t>& issued = sample.issued.emplace_back();
    for (int c = 0; c < sm_->sub_cores(); ++c) issued.push_back(sm_->sub_core(c).issued(*sm_, static_cast<int>(l)));
  }
}

bool Extrapolator::watch(Cycle now) {
  if (another_phase(now)) {
    wayward_ = false;
    restart();
  }
  if (!at_anchor(now)) return false;
  if (pacer_ && !in_step()) {
    wayward_ = true;
    restart();
    return false;
  }
  add_sample(now);
  return true;
}

std::vector<Batch> Extrapolator::batches(size_t first, int launch) const {
  std::vector<Batch> result;
  for (size_t i = first; i + 1 < samples_.size(); ++i) {
    const uint64_t done = samples_[i + 1].launches[launch].instructions - samples_[i].launches[launch].instructions;
    const Cycle cycles = samples_[i + 1].state.at - samples_[i].state.at;
    result.push_back({static_cast<double>(done), static_cast<double>(cycles)});
  }
  return result;
}

// ---- jumping

// Later samples leave less for the end of the phase; the first quarter may still belong to what was before.
Extrapolator::Jump Extrapolator::plan(Cycle limit) {
  const size_t warm_up = samples_.size() / 4;
  Jump best;
  if (samples_.size() - warm_up <= kLeastBatches) return best;
  for (size_t first = warm_up; first + kLeastBatches < samples_.size(); first += kLeastBatches / 4) {
    Jump jump = plan_from(first, limit);
    if (jump.skip.cycles > best.skip.cycles && agree(first, jump)) best = std::move(jump);
  }
  return best;
}

// None where the rates do not agree.
Extrapolator::Jump Extrapolator::plan_from(size_t first, Cycle limit) {
  const Sample& from = samples_[first];
  const Sample& to = samples_.back();
  Jump jump;
  jump.first = first;
  FastForward& skip = jump.skip;
  jump.period = to.state.at - from.state.at;
  jump.coarsest.assign(coupled_.size(), 0);
  uint64_t periods = limit == kNever ? kUnbounded : limit > to.state.at ? (limit - to.state.at) / jump.period : 0;
  skip.trips_taken.assign(to.state.trips.size(), 0);
  periods = std::min(periods, pacer_ ? bound_by_rounds(from, skip) : bound_by_ties(from, skip));
  for (size_t l = 0; l < coupled_.size(); ++l) {
    if (!coupled_[l]) periods = std::min(periods, bound_by_free_launch(from, static_cast<int>(l)));
  }
  if (periods == 0 || periods == kUnbounded) return {};
  skip.periods = periods;
  skip.cycles = periods * jump.period;
  if (!rates_agree(first, skip.cycles)) return {};
  const uint64_t rounds = from.rounds_left - to.rounds_left;
  skip.moments.assign(to.state.moments.size(), skip.cycles);
  count(from.state, to.state, skip);
  for (uint64_t& trips : skip.trips_taken) trips *= periods;
  for (size_t l = 0; l < coupled_.size(); ++l) {
    skip.placed.push_back(coupled_[l] ? periods * (to.state.placed[l] - from.state.placed[l]) : 0);
    const LaunchAccount& before = from.launches[l];
    const LaunchAccount& after = to.launches[l];
    Work taken = Work{after.instructions - before.instructions, after.l2_requested_bytes - before.l2_requested_bytes} * periods;
    Correction& correction = jump.corrections.emplace_back();
    const Work measured = taken;
    if (!coupled_[l]) taken = take_from_free_launch(from, static_cast<int>(l), jump);
    if (pacer_ && pacer_->launch == static_cast<int>(l)) taken = work_of_round(static_cast<int>(l)) * (rounds * periods);
    correction.instructions = taken.instructions - measured.instructions;
    correction.requested_bytes = taken.bytes - measured.bytes;
    jump.instructions += taken.instructions;
    correction.served_bytes = taken.bytes - periods * (after.l2_served_bytes - before.l2_served_bytes);
    for (const auto& [place, cycles] : to.waiting[l]) correction.waits[place] += periods * cycles;
    for (const auto& [place, cycles] : from.waiting[l]) correction.waits[place] -= periods * cycles;
    const uint64_t waits = sum_of(correction.waits);
    correction.resident_warp_cycles = periods * (to.states[l] - from.states[l]) + waits + correction.instructions -
                                      periods * (after.resident_warp_cycles - before.resident_warp_cycles);
  }
  return jump;
}

void Extrapolator::make(const Jump& jump) {
  for (size_t l = 0; l < coupled_.size(); ++l) {
    spent_[l] += left_open(jump.first, static_cast<int>(l), jump);
  }
  skipped_ += jump.skip.cycles;
  sm_->move_on(jump.skip, false);
  for (size_t l = 0; l < jump.corrections.size(); ++l) sm_->correct(static_cast<int>(l), jump.corrections[l]);
  restart();
}

}  // namespace warpfold::sim
