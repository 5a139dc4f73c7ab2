// Barriers of a grid: arrivals at a counter in L2, and the loads that wait for them (grid_barrier.h).
#include <algorithm>

#include "sim/sm/listener.h"
#include "sim/sm/memory_stage.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {
namespace {

// Cycles from one load of a loop that waits to the next.
Cycle period_of(const Spec& spec, const MicroOp& load) { return spec.memory.l2_hit_latency + load.poll_cycles; }

}  // namespace

bool MemoryStage::polls(const Warp& warp) const {
  return std::ranges::any_of(polling_, [&](const PollingLoad& load) { return load.request.warp_serial == warp.serial; });
}

// The fence comes before the arrival. All arrivals have one, so a fence behind the arrival takes the same time.
void MemoryStage::arrive_at_grid(Sm& sm, const MemoryRequest& request, Cycle passed) {
  GridPhase& phase = grid_[request.launch];
  ++phase.arrived;
  phase.last = std::max(phase.last, passed + fence_cycles(sm.spec()));
  if (phase.expected > 0 && phase.arrived >= phase.expected) complete_grid_phase(sm, request.launch, phase.last);
}

void MemoryStage::expect_arrivals(Sm& sm, int launch, uint64_t arrivals) {
  GridPhase& phase = grid_[launch];
  phase.expected = arrivals;
  if (arrivals > 0 && phase.arrived >= arrivals) complete_grid_phase(sm, launch, phase.last);
}

void MemoryStage::complete_grid_phase(Sm& sm, int launch, Cycle last) {
  GridPhase& phase = grid_[launch];
  phase.arrived = 0;
  phase.last = last;
  ++phase.completed;
  std::vector<PollingLoad> waited;
  std::erase_if(polling_, [&](const PollingLoad& load) {
    if (load.request.launch != launch) return false;
    waited.push_back(load);
    return true;
  });
  for (PollingLoad& load : waited) poll_arrives(sm, load);
}

void MemoryStage::take_poll(Sm& sm, TransferUnderWay& transfer, Cycle now) {
  MemoryRequest& request = transfer.request;
  ingress_.unacknowledged -= transfer.bytes;
  release(sm, ingress_, now);
  tell(sm, TransferWaited{request, transfer, transfer.late});
  PollingLoad load{request, now - sm.spec().memory_reply};
  const bool lives = sm.state().cta_lives(request.cta, request.cta_serial);
  const uint64_t awaited = lives ? sm.state().ctas[request.cta].grid_arrivals : 0;
  if (grid_[request.launch].completed < awaited) {
    polling_.push_back(load);
  } else {
    poll_arrives(sm, load);
  }
}

// Of the loads that follow each other at one period, the first that passes L2 after the last arrival brings the news.
//
//   the first load passes in cycle 100, the last arrival in cycle 350, a period of 280: the load of cycle 380 counts
void MemoryStage::poll_arrives(Sm& sm, PollingLoad& load) {
  const Spec& spec = sm.spec();
  const Cycle period = period_of(spec, *load.request.op);
  const Cycle last = grid_[load.request.launch].last;
  const Cycle early = last > load.passed ? last - load.passed : 0;
  const Cycle passed = load.passed + (early + period - 1) / period * period;
  const Cycle way = std::max<Cycle>(spec.memory.l2_hit_latency, spec.memory_transit + spec.memory_reply) - spec.memory_transit;
  load_arrives(sm, load.request, passed + way);
}

void MemoryStage::visit_grid(Sm& sm, StateVisitor& visitor) {
  bool meets = false;
  for (size_t l = 0; l < grid_.size(); ++l) {
    if (!sm.state().launches[l].image->meets_in_grid) continue;
    meets = true;
    // The binding lists all fields. visit_cta visits completed, relative to each CTA's arrivals. Not visited: expected,
    // which the chip sets.
    [[maybe_unused]] const auto& [arrived, last, completed, expected] = grid_[l];
    visitor.value("grid_arrived", grid_[l].arrived);
    // A load that the SM learns of has passed memory_reply cycles ago.
    visitor.time("grid_last", grid_[l].last, sm.spec().memory_reply);
  }
  if (!meets) return;
  visitor.value("polling", polling_.size());
  for (PollingLoad& load : polling_) {
    [[maybe_unused]] const auto& [request, passed] = load;
    // Loads of whole periods ago are equivalent.
    const Cycle period = period_of(sm.spec(), *load.request.op);
    if (visitor.recording()) load.passed += (visitor.now() - load.passed) / period * period;
    visit_request(sm, load.request, visitor);
    visitor.moment("polling_passed", load.passed);
  }
}

}  // namespace warpfold::sim
