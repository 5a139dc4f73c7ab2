#include "sim/sm/sm.h"

#include <algorithm>
#include <numeric>

namespace warpfold::sim {
namespace {

std::vector<uint32_t> segments_of(const std::vector<SmLaunch>& launches) {
  std::vector<uint32_t> segments;
  for (const SmLaunch& launch : launches) segments.push_back(static_cast<uint32_t>(launch.image->segments.size()));
  return segments;
}

std::vector<int> placement_order(const std::vector<SmLaunch>& launches) {
  std::vector<int> order(launches.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int l) { return launches[l].order; });
  return order;
}

}  // namespace

SmState initial_state(const Spec& spec, std::vector<SmLaunch> launches) {
  const size_t count = launches.size();
  Account account(segments_of(launches));
  MemoryStage memory(spec, launches);
  SmState state{.launches = std::move(launches),
                .progress = std::vector<LaunchProgress>(count),
                .held = std::vector<HeldResources>(count),
                .absences = std::vector<std::vector<Absence>>(count),
                .account = std::move(account),
                .memory = std::move(memory),
                .ctas = std::vector<Cta>(spec.cta_slots),
                .slot_taken = std::vector<bool>(size_t{spec.sub_cores} * spec.warp_slots_per_sub_core, false)};
  for (uint32_t i = 0; i < spec.sub_cores; ++i) state.sub_cores.emplace_back(spec, count, static_cast<int>(i));
  return state;
}

Sm::Sm(const Spec& spec, std::vector<SmLaunch> launches, ChipMemory* chip)
    : Sm(spec, initial_state(spec, std::move(launches)), chip) {}

Sm::Sm(const Spec& spec, SmState state, ChipMemory* chip)
    : spec_(spec),
      chip_(chip),
      state_(std::move(state)),
      order_(placement_order(state_.launches)),
      passes_on_(kAccounting && (state_.launches.size() > 1 ||
                                 std::ranges::any_of(state_.launches, [](const SmLaunch& each) { return each.image->coupled; }))) {}

Sm::Sm(const Sm& other) : Sm(other.spec_, other.state_, other.chip_) {
  timeline_ = other.timeline_;
  next_sample_ = other.next_sample_;
}

Cycle Sm::next_time() const {
  Cycle next = state_.events.next_time();
  for (const SubCore& sub_core : state_.sub_cores) next = earlier(next, sub_core.next());
  return next;
}

void Sm::step(Cycle now) {
  state_.now = now;
  while (state_.events.next_time() == now) handle(state_.events.pop(), now);
  SubCore::step(*this, state_.sub_cores, now);
}

Cycle Sm::run(Cycle limit) {
  launch_ended_ = false;
  paused_ = false;
  may_part_ = false;
  ends_sharing_ = false;
  while (true) {
    const Cycle next = next_time();
    if (next >= limit || (launch_ended_ | paused_ | (shared_ & may_part_))) return next;  // nothing left to do: kNever
    if (next >= next_sample_) sample_use(next);
    step(next);
    if (state_.loop_end && observer_ != nullptr) tell_observer(limit);
  }
}

Cycle Sm::run_to_access(Cycle limit) {
  launch_ended_ = false;
  Cycle next = next_time();
  if (next == kNever) return next;
  do {
    if (next >= next_sample_) sample_use(next);
    step(next);
    next = next_time();
  } while (next < limit && next < state_.memory.next_access() && !launch_ended_);
  return next;
}

void Sm::tell_observer(Cycle limit) {
  // A cycle with events left, or with a sub-core that another one's issue has woken, is not over.
  if (state_.events.next_time() <= state_.now) return;
  if (std::ranges::any_of(state_.sub_cores, [&](const auto& sub_core) { return sub_core.next() <= state_.now; })) return;
  state_.loop_end = false;
  observer_->loop_ended(*this, state_.now + 1, limit);
}

void Sm::release_launch(int launch, Cycle at) {
  state_.progress[launch].ready = at;
  if (timeline_) timeline_->launch_released(launch, at);
  if (state_.launches[launch].ctas.empty()) {
    state_.progress[launch].start = at;
    state_.progress[launch].end = at;
  }
  // How far the SM has run when it is told makes no difference.
  state_.events.schedule_first(std::max(at, state_.now), PlacementEvent{PlacementEvent::Kind::kRelease});
}

// The turns of the arbiters and the last holders. No source says that hardware keeps any of it from one kernel to the
// next, or that it does not (assumed: it does not): so what runs by itself does what it does alone.
void Sm::reset_arbiters(Cycle now) {
  for (SubCore& sub_core : state_.sub_cores) sub_core.reset_arbiters(now);
  state_.memory.reset_arbiters();
  state_.wgmma.reset_arbiters();
}

uint64_t Sm::port_reads() const {
  uint64_t reads = 0;
  for (const auto& sub_core : state_.sub_cores) {
    for (int l = 0; l < state_.account.launches(); ++l) reads += sub_core.port_reads(l);
  }
  return reads;
}

void Sm::handle(const Event& event, Cycle now) {
  std::visit([&](const auto& each) { handle(each, now); }, event);
}

uint64_t Sm::trips(const Warp& warp, const traces::TripCount& count) const {
  if (count.parameter < 0) return count.literal;
  const traces::Kernel& kernel = *state_.launches[warp.launch].image->kernel;
  return kernel.cta_classes[state_.ctas[warp.cta].cta_class].values[count.parameter];
}

}  // namespace warpfold::sim
