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

}  // namespace

Sm::Sm(const Spec& spec, std::vector<SmLaunch> launches, ChipMemory* chip)
    : spec_(spec),
      launches_(std::move(launches)),
      order_(launches_.size()),
      progress_(launches_.size()),
      held_(launches_.size()),
      absences_(launches_.size()),
      account_(segments_of(launches_)),
      memory_(spec, *this, account_, chip),
      wgmma_(spec, *this, account_),
      ctas_(spec.cta_slots),
      slot_taken_(size_t(spec.sub_cores) * spec.warp_slots_per_sub_core, false) {
  passes_on_ = kAccounting &&
               (launches_.size() > 1 || std::ranges::any_of(launches_, [](const SmLaunch& each) { return each.image->coupled; }));
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::stable_sort(order_, {}, [&](int l) { return launches_[l].order; });
  for (uint32_t i = 0; i < spec.sub_cores; ++i) sub_cores_.emplace_back(spec, *this, account_, static_cast<int>(i));
  for (size_t l = 0; l < launches_.size(); ++l) memory_.add_streams(static_cast<int>(l), launches_[l].image->kernel->streams);
}

Sm::~Sm() = default;

void Sm::log_issues(std::vector<IssueRecord>& log, uint32_t sm_class) {
  for (SubCore& sub_core : sub_cores_) sub_core.log_issues(log, sm_class);
}

Cycle Sm::next_time() const {
  Cycle next = events_.next_time();
  for (const auto& sub_core : sub_cores_) next = earlier(next, sub_core.next());
  return next;
}

void Sm::step(Cycle now) {
  now_ = now;
  while (events_.next_time() == now) handle(events_.pop(), now);
  SubCore::step(sub_cores_, now);
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
    if (loop_end_ && observer_ != nullptr) tell_observer(limit);
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
  } while (next < limit && next < memory_.next_access() && !launch_ended_);
  return next;
}

void Sm::tell_observer(Cycle limit) {
  // A cycle with events left, or with a sub-core that another one's issue has woken, is not over.
  if (events_.next_time() <= now_) return;
  if (std::ranges::any_of(sub_cores_, [&](const auto& sub_core) { return sub_core.next() <= now_; })) return;
  loop_end_ = false;
  observer_->loop_ended(*this, now_ + 1, limit);
}

void Sm::release_launch(int launch, Cycle at) {
  progress_[launch].ready = at;
  if (timeline_) timeline_->launch_released(launch, at);
  if (launches_[launch].ctas.empty()) {
    progress_[launch].start = at;
    progress_[launch].end = at;
  }
  // How far the SM has run when it is told makes no difference.
  events_.schedule_first(std::max(at, now_), {.type = EventType::kRelease});
}

// Whose turn it is in the arbiters, and who had what last. No source says that hardware keeps any of it from one kernel to the
// next, or that it does not (assumed: it does not): so what runs by itself does what it does alone.
void Sm::reset_arbiters(Cycle now) {
  for (SubCore& sub_core : sub_cores_) sub_core.reset_arbiters(now);
  memory_.reset_arbiters();
  wgmma_.reset_arbiters();
}

uint64_t Sm::port_reads() const {
  uint64_t reads = 0;
  for (const auto& sub_core : sub_cores_) {
    for (int l = 0; l < account_.launches(); ++l) reads += sub_core.port_reads(l);
  }
  return reads;
}

Warp* Sm::live_warp(const Event& event) {
  Warp& warp = sub_cores_[event.sub_core].warp(event.slot);
  return warp.resident && warp.serial == event.serial ? &warp : nullptr;
}

// A fixed-latency result at the same write port goes first: the load waits one cycle.
void Sm::load_result(const Event& event, Cycle now) {
  const Warp* warp = live_warp(event);
  if (warp == nullptr) return;
  SubCore& sub_core = sub_cores_[event.sub_core];
  const std::array<uint8_t, 2> registers = {static_cast<uint8_t>(event.value), static_cast<uint8_t>(event.value >> 8)};
  if (!sub_core.ports().write_port_busy(now, registers)) {
    sub_core.release_counter(event.slot, event.counter, event.delay, now);
    return;
  }
  const int bank = sub_core.ports().write_port_busy(now, {registers[0], 0}) ? 0 : 1;
  const int writer = sub_core.last_writer(bank, warp->launch);
  account_.charge_request(warp->row, writer, Contended::kRegisterWritePort, 1);
  Event later = event;
  const bool by_others = writer != warp->launch;
  if (by_others || coupled(warp->launch))
    hold_up(later.delay, warp->launch, warp->cta, ctas_[warp->cta].serial, delay_by(1, by_others));
  later.type = EventType::kCounter;
  schedule(now + 1, later);
}

void Sm::handle(const Event& event, Cycle now) {
  switch (event.type) {
    case EventType::kCounter:
      if (live_warp(event)) sub_cores_[event.sub_core].release_counter(event.slot, event.counter, event.delay, now);
      break;
    case EventType::kLoadResult:
      load_result(event, now);
      break;
    case EventType::kArbitrate:
      memory_.arbitrate(now);
      break;
    case EventType::kDataStage:
      memory_.run_data_stage(now);
      break;
    case EventType::kQueueEntry:
      sub_cores_[event.sub_core].free_queue_entry(now);
      break;
    case EventType::kCredit:
      memory_.return_credit(now);
      break;
    case EventType::kBulkStart:
      memory_.start_bulk(now);
      break;
    case EventType::kBulkLoaded:
      mbarrier_bytes(event, now);
      break;
    case EventType::kBulkStored:
      if (Warp* warp = live_warp(event)) {
        --warp->outstanding_bulk_stores;
        sub_cores_[event.sub_core].reconsider(event.slot, now, event.delay);
        maybe_end_warp(event.sub_core, event.slot, event.delay, now);
      }
      break;
    case EventType::kStored:
      if (Warp* warp = live_warp(event)) {
        --warp->outstanding_stores;
        maybe_end_warp(event.sub_core, event.slot, event.delay, now);
      }
      break;
    case EventType::kAsyncCopied:
      if (Warp* warp = live_warp(event)) async_copied(*warp, event, now);
      break;
    case EventType::kMbarrierArrive:
      mbarrier_arrive(event, now);
      break;
    case EventType::kMbarrierVisible:
      if (ctas_[event.cta].resident && ctas_[event.cta].serial == event.serial) {
        Mbarrier& barrier = ctas_[event.cta].rings[event.ring][event.stage];
        barrier.visible = event.value;
        barrier.seen = {now, event.delay};
        reconsider_cta(event.cta, event.delay, now);
      }
      break;
    case EventType::kBarrierRelease:
      if (cta_lives(event.cta, event.serial)) release_barrier(event, now);
      break;
    case EventType::kWgmmaStart:
      wgmma_.try_start(now);
      break;
    case EventType::kWgmmaWrites:
      wgmma_.begin_writes(event.value, now);
      break;
    case EventType::kWgmmaReads:
      wgmma_.begin_reads(event.value, now);
      break;
    case EventType::kWgmmaComplete:
      wgmma_.complete(event.value, now);
      break;
    case EventType::kRelease:
      if (std::ranges::none_of(ctas_, &Cta::resident)) reset_arbiters(now);
      place_ctas(now);
      break;
    case EventType::kPlace:
      place_ctas(now);
      break;
    case EventType::kCtaEnd:
      end_cta(event.cta, now);
      break;
  }
}

uint64_t Sm::trips(const Warp& warp, const traces::TripCount& count) const {
  if (count.parameter < 0) return count.literal;
  const traces::Kernel& kernel = *launches_[warp.launch].image->kernel;
  return kernel.cta_classes[ctas_[warp.cta].cta_class].values[count.parameter];
}

}  // namespace warpfold::sim
