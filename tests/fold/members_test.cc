// Every member of a warp or CTA is in the state: each is changed in a running machine, and the state must show it.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <utility>

#include "tests/support/sets.h"
#include "tests/support/tcgen05.h"
#include "tests/support/watched_sm.h"

namespace warpfold::test {
namespace {

// Changes a member; returns false if it cannot be changed in this state.
template <typename Part>
using Change = std::function<bool(Part&)>;

template <typename Member, typename Part>
Change<Part> one_more(Member Part::* member) {
  return [member](Part& part) { return ++(part.*member), true; };
}

bool same(const sim::Snapshot& one, const sim::Snapshot& other) {
  return one.key == other.key && one.classes == other.classes && one.counts == other.counts && one.moments == other.moments &&
         one.trips == other.trips;
}

sim::Snapshot state_of(sim::Sm& sm, sim::Cycle now) {
  sim::Snapshot state;
  sim::StateVisitor visitor(state, now);
  sm.visit(visitor);
  return state;
}

// Makes every change to every warp and CTA in some of the states of a run, and undoes it.
class Perturbation : public sim::SmObserver {
 public:
  Perturbation(const std::map<std::string, Change<sim::Warp>>& of_warps, const std::map<std::string, Change<sim::Cta>>& of_ctas)
      : of_warps_(of_warps), of_ctas_(of_ctas) {}

  void loop_ended(sim::Sm& sm, sim::Cycle now, sim::Cycle /*limit*/) override {
    if (looks_++ % 16 != 0) return;
    const sim::Snapshot before = state_of(sm, now);
    for (int c = 0; c < sm.sub_cores(); ++c) {
      for (int slot = 0; slot < sm.sub_core(c).slots(); ++slot) {
        sim::Warp& warp = sm.sub_core(c).warp(slot);
        if (warp.resident) perturb(sm, now, before, warp, of_warps_);
      }
    }
    for (sim::Cta& cta : sm.state().ctas) {
      if (cta.resident) perturb(sm, now, before, cta, of_ctas_);
    }
  }

  const std::set<std::string>& noticed() const { return noticed_; }

 private:
  template <typename Part>
  void perturb(sim::Sm& sm, sim::Cycle now, const sim::Snapshot& before, Part& part,
               const std::map<std::string, Change<Part>>& changes) {
    for (const auto& [name, change] : changes) {
      if (noticed_.contains(name)) continue;
      const Part original = part;
      if (change(part) && !same(before, state_of(sm, now))) noticed_.insert(name);
      part = original;
    }
  }

  const std::map<std::string, Change<sim::Warp>>& of_warps_;
  const std::map<std::string, Change<sim::Cta>>& of_ctas_;
  std::set<std::string> noticed_;
  uint64_t looks_ = 0;
};

// One change for each member of Warp. Left out are members that other members imply, or that influence no future:
//   counted (equals op, once a visit has settled the account), program (op lies in it), launch (that of its CTA), row
//   (that of op's segment), ordinal (for the issue log), barrier_op (for reports).
std::map<std::string, Change<sim::Warp>> warp_changes() {
  using sim::Warp;
  // A new member does not compile: it needs a line here, or a reason above.
  [[maybe_unused]] const auto& [op, counted, last_issue, since, delay, launch, row, cta, long_counters, fresh_counters, blocked,
                                in_barrier, counters, reason, resident, exited, barrier, index_in_cta, program, trips_left, serial,
                                ordinal, started, waiting_row, registers, barrier_op, barrier_phase, outstanding_stores,
                                outstanding_bulk_stores, wgmma_sequence, wgmma_groups, async, cursors] = Warp{};
  [[maybe_unused]] const auto& [open_copies, committed, completed, copies_left] = sim::AsyncGroups{};
  return {
      {"resident", [](Warp& w) { return w.resident = false, true; }},
      {"op", [](Warp& w) { return w.op += w.op == w.program->ops.data() ? 1 : -1, true; }},
      {"trips_left", [](Warp& w) { return ++w.trips_left[0], true; }},
      {"counters 0", [](Warp& w) { return ++w.counters[0], true; }},
      {"counters 5", [](Warp& w) { return ++w.counters[5], true; }},
      {"long_counters", [](Warp& w) { return w.long_counters ^= 1, true; }},
      {"fresh_counters", [](Warp& w) { return w.fresh_counters ^= 1, true; }},
      {"last_issue", [](Warp& w) { return --w.last_issue, true; }},
      {"index_in_cta", [](Warp& w) { return w.index_in_cta ^= 1, true; }},
      {"serial", one_more(&Warp::serial)},
      {"started", one_more(&Warp::started)},
      {"blocked", [](Warp& w) { return w.blocked = !w.blocked, true; }},
      {"reason", [](Warp& w) { return w.reason = sim::WarpState::kSleeping, w.blocked; }},
      {"since", [](Warp& w) { return ++w.since, w.blocked; }},
      {"in_barrier", [](Warp& w) { return w.in_barrier = !w.in_barrier, true; }},
      {"barrier", [](Warp& w) { return w.barrier ^= 1, w.in_barrier; }},
      {"waiting_row", [](Warp& w) { return ++w.waiting_row, w.in_barrier; }},
      {"barrier_phase", [](Warp& w) { return ++w.barrier_phase, w.in_barrier; }},
      {"exited", [](Warp& w) { return w.exited = !w.exited, true; }},
      {"outstanding_stores", one_more(&Warp::outstanding_stores)},
      {"outstanding_bulk_stores", one_more(&Warp::outstanding_bulk_stores)},
      {"registers", one_more(&Warp::registers)},
      {"lost to others", [](Warp& w) { return ++w.delay.others, true; }},
      {"lost in all", [](Warp& w) { return ++w.delay.all, true; }},
      {"wgmma_sequence", one_more(&Warp::wgmma_sequence)},
      {"wgmma_groups", one_more(&Warp::wgmma_groups)},
      {"open_copies", [](Warp& w) { return ++w.async.open_copies, true; }},
      {"committed", [](Warp& w) { return ++w.async.committed, true; }},
      {"completed", [](Warp& w) { return --w.async.completed, w.async.completed != ~uint64_t{0}; }},
      {"copies_left", [](Warp& w) { return ++w.async.copies_left[w.async.completed % 8], w.async.committed > w.async.completed; }},
      {"cursors", [](Warp& w) { return ++w.cursors[0], true; }},
  };
}

// The same for Cta. Left out: serial (shown by whether activity under way finds its CTA alive), launch (implied by its
// warps' programs), registers, shared_memory and tensor_memory (those of the launch), grid_arrivals (grid_test.cc).
std::map<std::string, Change<sim::Cta>> cta_changes() {
  using sim::Cta;
  [[maybe_unused]] const auto& [resident, serial, launch, cta_class, warps_running, registers, shared_memory, tensor_memory,
                                register_pool, most_delay, warp_slots, rings, barriers, warpgroups, product_started,
                                products_complete, product_delay, grid_arrivals] = Cta{};
  [[maybe_unused]] const auto& [arrivals_left, bytes_left, completed, visible, ring_arrived, seen] = sim::Mbarrier{};
  [[maybe_unused]] const auto& [arrived, phases, barrier_last] = sim::NamedBarrier{};
  [[maybe_unused]] const auto& [opened, open_arrived, open_last, done, started] = sim::Warpgroup{};
  const auto of_ring = [](auto change) {
    return [change](Cta& cta) { return !cta.rings.empty() && (change(cta.rings.back().back()), true); };
  };
  return {
      {"cta resident", [](Cta& c) { return c.resident = false, true; }},
      {"cta_class", one_more(&Cta::cta_class)},
      {"warps_running", one_more(&Cta::warps_running)},
      {"register_pool", one_more(&Cta::register_pool)},
      {"most_delay to others", [](Cta& c) { return ++c.most_delay.others, true; }},
      {"most_delay in all", [](Cta& c) { return ++c.most_delay.all, true; }},
      {"warp_slots", [](Cta& c) { return c.warp_slots[0] = sim::WarpSlot{static_cast<uint32_t>(c.warp_slots[0]) + 1}, true; }},
      {"arrivals_left", of_ring([](sim::Mbarrier& b) { ++b.arrivals_left; })},
      {"bytes_left", of_ring([](sim::Mbarrier& b) { ++b.bytes_left; })},
      {"mbarrier completed", of_ring([](sim::Mbarrier& b) { ++b.completed; })},
      {"mbarrier visible", of_ring([](sim::Mbarrier& b) { ++b.visible; })},
      {"mbarrier arrived", of_ring([](sim::Mbarrier& b) { ++b.arrived.delay.all; })},
      {"mbarrier seen", of_ring([](sim::Mbarrier& b) { ++b.seen.at; })},
      {"barrier last",
       [](Cta& c) {
         for (sim::NamedBarrier& barrier : c.barriers) --barrier.last.at;
         return true;
       }},
      {"wgmma last", [](Cta& c) { return c.warpgroups[0].last.fill({}), true; }},
      {"wgmma started", [](Cta& c) { return --c.warpgroups[0].started.at, true; }},
      {"wgmma done", [](Cta& c) { return ++c.warpgroups[0].done.delay.others, true; }},
      {"barrier arrived", [](Cta& c) { return ++c.barriers[0].arrived, true; }},
      {"barrier completed", [](Cta& c) { return ++c.barriers[1].completed, true; }},
      {"wgmma opened", [](Cta& c) { return ++c.warpgroups[0].opened, true; }},
      {"wgmma arrived", [](Cta& c) { return ++c.warpgroups[0].arrived[3], true; }},
  };
}

TEST(Members, OfWarpsAndCtasAreInTheState) {
  const auto of_warps = warp_changes();
  const auto of_ctas = cta_changes();
  std::set<std::string> all;
  for (const auto& [name, change] : of_warps) all.insert(name);
  for (const auto& [name, change] : of_ctas) all.insert(name);
  Perturbation perturbation(of_warps, of_ctas);
  for (uint64_t seed = 1; seed <= 60 && perturbation.noticed() != all; ++seed) run_watched(*recurring_scenario(seed), perturbation);
  EXPECT_EQ(differences(perturbation.noticed(), all), "");
}

// Members for tcgen05.mma, which random programs do not use.
TEST(Members, OfProductsAreInTheState) {
  using sim::Cta;
  const std::map<std::string, Change<Cta>> changes = {
      {"product started", [](Cta& c) { return --c.product_started.at, true; }},
      {"products complete", [](Cta& c) { return ++c.products_complete, true; }},
      {"product delay", [](Cta& c) { return ++c.product_delay.others, true; }},
  };
  std::set<std::string> all;
  for (const auto& [name, change] : changes) all.insert(name);
  const std::map<std::string, Change<sim::Warp>> none;
  Perturbation perturbation(none, changes);
  run_watched(tcgen05_scenario(), perturbation);
  EXPECT_EQ(differences(perturbation.noticed(), all), "");
}

// Adds a phase, completed and seen, to mbarriers that have completed none yet.
class OnePhaseMore : public sim::SmObserver {
 public:
  void loop_ended(sim::Sm& sm, sim::Cycle now, sim::Cycle /*limit*/) override {
    for (sim::Cta& cta : sm.state().ctas) {
      if (!cta.resident) continue;
      sim::Mbarrier& barrier = cta.rings[0][0];
      if (barrier.completed > 0) continue;
      const sim::Snapshot before = state_of(sm, now);
      const sim::Mbarrier original = barrier;
      ++barrier.completed;
      ++barrier.visible;
      ++(same(before, state_of(sm, now)) ? unnoticed : noticed);
      barrier = original;
    }
  }

  int noticed = 0;
  int unnoticed = 0;
};

// A warp arrives once at an mbarrier. Another warp waits for it without a cursor.
Scenario waiting_once() {
  Scenario scenario;
  scenario.gpu = one_sm("h100_sxm");
  const Lines some_time = loop(3, {op("FFMA R4, R8, R9, R4", {.stall = 4})});
  const Lines arrive = {op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {.stall = 2}, "barrier=0")};
  const Lines wait = {op("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.stall = 2}, "barrier=0")};
  scenario.kernels.push_back(KernelText("once", "sm_90")
                                 .declare("ring full depth=1 arrivals=1")
                                 .role("producer", 1, join(some_time, arrive))
                                 .role("consumer", 1, join(some_time, wait))
                                 .kernel());
  scenario.launches.push_back(launch(scenario.kernels[0]));
  return scenario;
}

// The key counts phases from the number completed. But a wait without a cursor is for the first phase, and passes at
// once if that phase is over, so the key must show whether it is.
TEST(Members, ThatAnMbarriersFirstPhaseHasBeenIsInTheState) {
  OnePhaseMore one_more;
  run_watched(waiting_once(), one_more);
  EXPECT_GT(one_more.noticed, 0);
  EXPECT_EQ(one_more.unnoticed, 0);
}

// Moves a remembered arrival from `arrived` to `seen`, the two that an mbarrier keeps.
class OtherArrival : public sim::SmObserver {
 public:
  void loop_ended(sim::Sm& sm, sim::Cycle now, sim::Cycle /*limit*/) override {
    for (sim::Cta& cta : sm.state().ctas) {
      if (!cta.resident) continue;
      sim::Mbarrier& barrier = cta.rings[0][0];
      const sim::Mbarrier original = barrier;
      barrier.arrived = {now - 5, {}};
      barrier.seen = {};
      const sim::Snapshot before = state_of(sm, now);
      std::swap(barrier.arrived, barrier.seen);
      ++(same(before, state_of(sm, now)) ? unnoticed : noticed);
      barrier = original;
    }
  }

  int noticed = 0;
  int unnoticed = 0;
};

TEST(Members, ThatNoArrivalIsRememberedIsInTheState) {
  OtherArrival other;
  run_watched(waiting_once(), other);
  EXPECT_GT(other.noticed, 0);
  EXPECT_EQ(other.unnoticed, 0);
}

// Members of requests and commands under way, and sizes of the large parts, whose members are private. If this does not
// compile or a size differs, a member was added or removed: say in the part's visit() what it means to the state, then
// change this test.
TEST(Members, OfOtherPartsAreAsManyAsEver) {
  [[maybe_unused]] const auto& [op, sub_core, slot, launch, cta, warp_serial, cta_serial, stage, group, issued, ready, enqueued,
                                queued, delay] = sim::MemoryRequest{};
  [[maybe_unused]] const auto& [owner, warpgroup, first_sub_core, columns, a_in_registers, commit, c_lost, assembled, completion,
                                writes_begun, reads_begun, update, pair_wait_cycles, reads_before] = sim::WgmmaCommand{};
  EXPECT_EQ(sizeof(sim::SmState), 23936);
  EXPECT_EQ(sizeof(sim::SubCore), 3968);
  EXPECT_EQ(sizeof(sim::MemoryStage), 5136);
  EXPECT_EQ(sizeof(sim::WgmmaUnit), 11368);
  EXPECT_EQ(sizeof(sim::Tcgen05Unit), 4712);
  EXPECT_EQ(sizeof(sim::MemoryShare), 3048);
  EXPECT_EQ(sizeof(sim::LaunchAccount), sizeof(uint64_t) * (7 + sim::kContended));
}

}  // namespace
}  // namespace warpfold::test
