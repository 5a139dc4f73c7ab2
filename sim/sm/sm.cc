#include "sim/sm/sm.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

#include "sim/engine/interrupt.h"
#include "sim/sm/barrier_unit.h"
#include "sim/sm/cta_slots.h"
#include "sim/sm/sm_absence.h"

namespace warpfold::sim {
namespace {

std::vector<int> by_order(const std::vector<SmLaunch>& launches) {
  std::vector<int> order(launches.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int l) { return launches[l].order; });
  return order;
}

// Each event goes to its unit. barrier_unit.h and cta_slots.h declare the other overloads.
void handle(Sm& sm, const SubCoreEvent& event, Cycle now) { sm.sub_core(event.sub_core).handle(sm, event, now); }
void handle(Sm& sm, const MemoryEvent& event, Cycle now) { sm.memory().handle(sm, event, now); }
void handle(Sm& sm, const WgmmaEvent& event, Cycle now) { sm.wgmma().handle(sm, event, now); }
void handle(Sm& sm, const Tcgen05Event& event, Cycle now) { sm.tcgen05().handle(sm, event, now); }

}  // namespace

Sm::Sm(const Spec& spec, std::vector<SmLaunch> launches) : Sm(spec, initial_state(spec, std::move(launches))) {}

Sm::Sm(const Spec& spec, SmState state)
    : spec_(spec),
      state_(std::move(state)),
      order_(by_order(state_.launches)),
      tracks_delays_(kAccounting && (state_.launches.size() > 1 || std::ranges::any_of(state_.launches, [](const SmLaunch& each) {
                                       return each.image->coupled;
                                     }))) {}

Sm::Sm(const Sm& other) : Sm(other.spec_, other.state_) {
  observation_.timeline = other.observation_.timeline;
  observation_.next_sample = other.observation_.next_sample;
}

Cycle Sm::next_time() const {
  if (state_.interrupted) return state_.now;
  Cycle next = earlier(state_.events.next_time(), state_.memory.next_reply());
  constexpr size_t kMostHave = 4;  // a constant, so that the loop is unrolled
  for (size_t c = 0; c < kMostHave; ++c) next = earlier(next, state_.due[c]);
  for (size_t c = kMostHave; c < spec_.sub_cores; ++c) next = earlier(next, state_.due[c]);
  return next;
}

void Sm::step(Cycle now) {
  if (state_.interrupted) {
    state_.asking_launch = kNoLaunch;
  } else {
    state_.now = now;
    if (state_.memory.next_reply() == now) state_.memory.take_replies(*this, now);
    while (state_.events.next_time() == now) {
      const Event event = state_.events.pop();
      std::visit([&](const auto& each) { handle(*this, each, now); }, event);
    }
  }
  if (std::exchange(state_.may_place, false) || state_.interrupted) place_ctas(*this, now);
  state_.interrupted = state_.asking_launch != kNoLaunch;
  if (!state_.interrupted) SubCore::step(*this, state_.sub_cores, now);
}

Cycle Sm::next_placement() const {
  Cycle next = state_.interrupted ? state_.now : kNever;
  state_.events.for_each([&next](const auto& event) {
    if (std::holds_alternative<PlacementEvent>(event.payload)) next = std::min(next, event.time);
  });
  return next;
}

Cycle Sm::run(Cycle limit) {
  control_.begin();
  while (true) {
    stop_if_wanted();
    const Cycle next = next_time();
    if (next >= limit || (control_.launch_ended | (control_.has_twins & control_.may_diverge))) return next;
    if (next >= observation_.next_sample) sample_use(*this, next);
    step(next);
    if (state_.interrupted) return next;
    if (state_.loop_end && observer_ != nullptr && !shares_memory_) tell_observer(limit);
  }
}

void Sm::tell_observer(Cycle limit) {
  // A cycle is not over while events are left, or a sub-core is due because another one's issue has woken it.
  if (state_.events.next_time() <= state_.now || state_.memory.next_reply() <= state_.now) return;
  if (std::ranges::any_of(state_.due, [&](Cycle due) { return due <= state_.now; })) return;
  state_.loop_end = false;
  observer_->loop_ended(*this, state_.now + 1, limit);
}

void Sm::release_launch(int launch, Cycle at) {
  state_.progress[launch].ready = at;
  if (observation_.timeline) observation_.timeline->launch_released(launch, at);
  if (!state_.ctas_left(launch)) end_unused(launch, at);
  // The release takes effect at `at`, before other events of that cycle, however far the SM has run.
  state_.events.schedule_first(std::max(at, state_.now), PlacementEvent{PlacementEvent::Kind::kRelease});
}

// Sets start and end of a launch that has no CTA on this SM.
void Sm::end_unused(int launch, Cycle at) {
  state_.progress[launch].start = at;
  state_.progress[launch].end = at;
}

void Sm::take_from(int launch, CtaSource source, Cycle at) {
  SmLaunch& own = state_.launches[launch];
  if (own.source == source) return;
  own.source = source;
  const LaunchProgress& progress = state_.progress[launch];
  if (progress.ready == kNever) return;
  if (!state_.ctas_left(launch) && progress.placed == 0) end_unused(launch, progress.ready);
  if (!state_.interrupted) schedule(std::max(at, state_.now + 1), PlacementEvent{PlacementEvent::Kind::kPlace});
}

// Resets the arbiters' turns and the last holders. No source says whether hardware keeps any of this from one kernel to
// the next (assumed: it does not). So a kernel that later has the SM to itself behaves as it does alone.
void Sm::reset_arbiters(Cycle now) {
  for (SubCore& sub_core : state_.sub_cores) sub_core.reset_arbiters(now);
  state_.memory.reset_arbiters();
  state_.wgmma.pipe().products().forget_holders();
  state_.tcgen05.pipe().products().forget_holders();
}

void Sm::receive(std::vector<CtaList> ctas) {
  state_.receive(std::move(ctas));
  assess_absences(*this, state_.now);  // the set of launches with CTAs left may have changed
}

void Sm::settle() {
  for (SubCore& sub_core : state_.sub_cores) sub_core.settle(*this);
}

uint64_t Sm::instructions() const {
  uint64_t issued = 0;
  for (int l = 0; l < state_.account.launches(); ++l) issued += state_.account.launch(l).instructions;
  for (const SubCore& sub_core : state_.sub_cores) issued += sub_core.account().unsettled;
  return issued;
}

}  // namespace warpfold::sim
