#include "sim/chip/reference.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <tuple>

#include "sim/engine/interrupt.h"
#include "sim/memory/chip_memory.h"
#include "sim/plan/epochs.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {
namespace {

using traces::Launch;

class Chip {
 public:
  Chip(const Spec& spec, const std::vector<Launch>& launches, bool serialise)
      : spec_(spec), launches_(launches), serialise_(serialise), released_(launches.size(), false) {
    for (const Launch& each : launches) images_.push_back(*make_image(spec_, *each.kernel));
    std::vector<int> epoch_of(launches.size());  // bounds split an SM only among launches of the same epoch
    queues_.resize(launches.size());
    const std::vector<Epoch> epochs = epochs_of(launches, serialise);
    for (size_t e = 0; e < epochs.size(); ++e) {
      for (const size_t l : epochs[e]) epoch_of[l] = static_cast<int>(e);
    }
    for (size_t l = 0; l < launches.size(); ++l) {
      const std::vector<traces::CtaRun>& grid = launches[l].kernel->grid;
      queues_[l].assign(grid.begin(), grid.end());
    }
    for (uint32_t sm = 0; sm < spec_.memory.sm_count; ++sm) {
      std::vector<SmLaunch> shares;
      for (size_t l = 0; l < launches.size(); ++l) {
        shares.push_back({launches[l], &images_[l], CtaList{}, rank(l), launches[l].priority, 0, epoch_of[l], launches[l].early,
                          may_run_on(l, sm) ? CtaSource::kQueue : CtaSource::kList});
      }
      sms_.push_back(std::make_unique<Sm>(spec_, std::move(shares)));
    }
    memory_.emplace(spec_.memory, sms_.size(), launches.size());
    for (size_t s = 0; s < sms_.size(); ++s) {
      sms_[s]->share_memory(true);
      memory_->open_lane(0, s, 1, sms_[s]->memory().join_chip(*sms_[s], 0));
    }
    next_.assign(sms_.size(), kNever);
  }

  std::vector<ReferenceLaunch> run() {
    release();
    for (Cycle now = earliest(); now != kNever; now = earliest()) {
      stop_if_wanted();
      deliver(now);
      complete_grids();
      run_cycle(now);
      for (size_t s = 0; s < sms_.size(); ++s) {
        for (Sm::Asked& asked : sms_[s]->outbox()) memory_->request(asked.at, s, asked.request);
        sms_[s]->outbox().clear();
      }
      release();
    }
    return collect();
  }

 private:
  Cycle earliest() const { return std::min(*std::ranges::min_element(next_), memory_->next()); }

  bool may_run_on(size_t launch, uint32_t sm) const {
    const traces::SmRange& range = launches_[launch].sms;
    return range.count == 0 || (sm >= range.first && sm < range.first + range.count);
  }

  // Runs the SMs for one cycle. SMs that ask for a CTA get the next CTAs of the grid, the SM with the fewest warps
  // first.
  void run_cycle(Cycle now) {
    while (true) {
      for (size_t s = 0; s < sms_.size(); ++s) {
        while (next_[s] == now && !asks(s)) next_[s] = sms_[s]->run(now + 1);
      }
      std::vector<std::pair<uint32_t, size_t>> order;
      for (size_t s = 0; s < sms_.size(); ++s) {
        uint32_t warps = 0;
        for (const HeldResources& held : sms_[s]->state().held) warps += held.warps;
        if (asks(s)) order.emplace_back(warps, s);
      }
      if (order.empty()) return;
      std::ranges::sort(order);
      const auto place_of = [&](const auto& asking) {
        return rank(static_cast<size_t>(sms_[asking.second]->state().asking_launch));
      };
      const int launch = sms_[std::ranges::min_element(order, {}, place_of)->second]->state().asking_launch;
      std::deque<traces::CtaRun>& queue = queues_[launch];
      for (const auto& [warps, s] : order) {
        SmState& state = sms_[s]->state();
        if (state.asking_launch != launch) continue;
        state.asking_launch = kNoLaunch;
        next_[s] = now;
        if (queue.empty()) continue;
        std::vector<CtaList> lists;
        for (const SmLaunch& each : state.launches) lists.push_back(each.ctas);
        lists[launch].push_back({queue.front().cta_class, 1});
        if (--queue.front().count == 0) queue.pop_front();
        sms_[s]->receive(std::move(lists));
      }
      if (!queue.empty()) continue;
      for (size_t s = 0; s < sms_.size(); ++s) {
        sms_[s]->take_from(launch, CtaSource::kList, now + 1);
        next_[s] = sms_[s]->next_time();
      }
    }
  }
  bool asks(size_t sm) const { return sms_[sm]->state().asking_launch != kNoLaunch; }

  // Tells SMs of their transfers that have passed L2 and DRAM by `now`.
  void deliver(Cycle now) {
    while (memory_->next() <= now) {
      ChipMemory::Passed passed;
      if (!memory_->pop(passed)) continue;
      Sm& sm = *sms_[passed.lane];
      sm.memory().take_reply(sm, passed.transfer, passed.reply);
      next_[passed.lane] = sm.next_time();
    }
  }

  // Completes a phase of a grid's barrier when all CTAs of the launch have arrived.
  void complete_grids() {
    for (int l = 0; l < static_cast<int>(launches_.size()); ++l) {
      uint64_t arrived = 0;
      Cycle last = 0;
      for (const auto& sm : sms_) {
        arrived += sm->memory().grid(l).arrived;
        if (sm->memory().grid(l).arrived > 0) last = std::max(last, sm->memory().grid(l).last);
      }
      if (arrived == 0 || arrived < launches_[l].kernel->ctas()) continue;
      for (size_t s = 0; s < sms_.size(); ++s) {
        sms_[s]->memory().complete_grid_phase(*sms_[s], l, last);
        next_[s] = std::min(next_[s], sms_[s]->next_time());
      }
    }
  }

  // Returns the number of launches placed before this launch: launches of higher priority, then of a lower stream, then
  // earlier in the list.
  int rank(size_t launch) const {
    const auto key = [&](size_t l) { return std::tuple(-launches_[l].priority, launches_[l].stream, l); };
    int before = 0;
    for (size_t other = 0; other < launches_.size(); ++other) before += key(other) < key(launch) ? 1 : 0;
    return before;
  }

  bool waits_for(size_t launch, size_t other) const {
    if (std::ranges::find(launches_[launch].after, static_cast<int>(other)) != launches_[launch].after.end()) return true;
    return other < launch && (serialise_ || launches_[launch].stream == launches_[other].stream);
  }

  bool ended(size_t launch) const {
    return released_[launch] &&
           std::ranges::all_of(sms_, [&](const auto& sm) { return sm->state().launch_done(static_cast<int>(launch)); });
  }

  void release() {
    for (size_t l = 0; l < launches_.size(); ++l) {
      if (released_[l]) continue;
      bool ready = true;
      Cycle at = 0;
      for (size_t other = 0; other < launches_.size(); ++other) {
        if (!waits_for(l, other)) continue;
        ready = ready && ended(other);
        for (const auto& sm : sms_) at = std::max(at, sm->state().progress[other].end + spec_.kernel_launch);
      }
      if (!ready) continue;
      released_[l] = true;
      for (size_t s = 0; s < sms_.size(); ++s) {
        sms_[s]->release_launch(static_cast<int>(l), at);
        next_[s] = std::min(next_[s], at);
      }
    }
  }

  std::vector<ReferenceLaunch> collect() const {
    std::vector<ReferenceLaunch> all;
    for (int l = 0; l < static_cast<int>(launches_.size()); ++l) {
      ReferenceLaunch& launch = all.emplace_back();
      launch.start = kNever;
      for (const auto& sm : sms_) {
        if (sm->state().progress[l].done > 0) launch.start = std::min(launch.start, sm->state().progress[l].start);
        launch.end = std::max(launch.end, sm->state().progress[l].end);
        launch.instructions += sm->account().launch(l).instructions;
        launch.resident_warp_cycles += sm->account().launch(l).resident_warp_cycles;
      }
    }
    return all;
  }

  const Spec& spec_;
  std::optional<ChipMemory> memory_;
  const std::vector<Launch>& launches_;
  bool serialise_;
  std::vector<KernelImage> images_;
  std::vector<bool> released_;
  std::vector<std::unique_ptr<Sm>> sms_;
  std::vector<Cycle> next_;
  std::vector<std::deque<traces::CtaRun>> queues_;  // [launch]: CTAs not yet assigned to an SM
};

}  // namespace

std::vector<ReferenceLaunch> reference(const Spec& spec, const std::vector<Launch>& launches, bool serialise) {
  return Chip(spec, launches, serialise).run();
}

}  // namespace warpfold::sim
