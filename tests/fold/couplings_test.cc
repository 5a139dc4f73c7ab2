// What coupled warps show of each other at an anchor: every part of it is changed in a running machine, and must be seen.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/sm/sm_snapshot.h"
#include "tests/support/sets.h"
#include "tests/support/watched_sm.h"

namespace warpfold::test {
namespace {

sim::Snapshot couplings_of(sim::Sm& sm, sim::Cycle now) {
  sim::Snapshot state;
  sim::StateVisitor visitor(state, now);
  sim::visit_couplings(sm, visitor, std::vector<bool>(sm.state().launches.size(), true));
  return state;
}

// Makes the changes to a CTA and a warp of it, one at a time, and takes them back.
class Perturbation : public sim::SmObserver {
 public:
  void loop_ended(sim::Sm& sm, sim::Cycle now, sim::Cycle /*limit*/) override {
    using sim::Cta;
    using sim::Warp;
    static const std::map<std::string, std::function<void(Cta&, Warp&)>> kChanges = {
        {"launch", [](Cta& cta, Warp&) { cta.launch ^= 1; }},  // of the same kernel
        {"class", [](Cta& cta, Warp&) { ++cta.cta_class; }},
        {"op", [](Cta&, Warp& warp) { warp.op += warp.op == warp.program->ops.data() ? 1 : -1; }},
        {"wgmma sequence", [](Cta&, Warp& warp) { ++warp.wgmma_sequence; }},
        {"cursor", [](Cta&, Warp& warp) { ++warp.cursors[0]; }},
        {"trips", [](Cta&, Warp& warp) { ++warp.trips_left[0]; }},
    };
    for (Cta& cta : sm.state().ctas) {
      if (!cta.resident) continue;
      const sim::Snapshot before = couplings_of(sm, now);
      const Cta original_cta = cta;
      for (const sim::WarpSlot slot : original_cta.warp_slots) {
        const sim::WarpPlace place = sm.state().place_of(slot);
        Warp& warp = sm.sub_core(place.sub_core).warp(place.slot);
        if (!warp.resident || warp.exited) continue;
        const Warp original = warp;
        for (const auto& [name, change] : kChanges) {
          change(cta, warp);
          const sim::Snapshot after = couplings_of(sm, now);
          // Trips are beside the key.
          if (name == "trips" ? before.trips.left != after.trips.left : before.key != after.key) noticed.insert(name);
          cta = original_cta;
          warp = original;
        }
      }
      exchange_warps(sm, now, cta);
    }
  }

  std::set<std::string> noticed;

 private:
  // Two warps alike in everything but their places.
  void exchange_warps(sim::Sm& sm, sim::Cycle now, sim::Cta& cta) {
    const sim::WarpPlace one = sm.state().place_of(cta.warp_slots[0]);
    const sim::WarpPlace other = sm.state().place_of(cta.warp_slots[1]);
    sim::Warp& warp = sm.sub_core(other.sub_core).warp(other.slot);
    const sim::Warp original = std::exchange(warp, sm.sub_core(one.sub_core).warp(one.slot));
    const sim::Snapshot before = couplings_of(sm, now);
    std::swap(cta.warp_slots[0], cta.warp_slots[1]);
    if (before.key != couplings_of(sm, now).key) noticed.insert("warp slot");
    std::swap(cta.warp_slots[0], cta.warp_slots[1]);
    warp = original;
  }
};

TEST(Couplings, ShowAllThatWarpsWaitFor) {
  Scenario scenario;
  scenario.gpu = one_sm("h100_sxm");
  const auto wait = [](std::string_view effect) {
    return op("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.stall = 2}, effect);
  };
  const auto arrive = [](std::string_view effect) { return op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {.stall = 2}, effect); };
  scenario.kernels.push_back(KernelText("coupled", "sm_90")
                                 .declare("ring full depth=2 arrivals=1")
                                 .declare("ring empty depth=2 arrivals=4 free")
                                 .declare("cursor load depth=2")
                                 .declare("cursor use depth=2")
                                 .role("consumer", 4, loop(9, {wait("barrier=0 cursor=1"), arrive("barrier=1 cursor=1 advance=1")}))
                                 .role("producer", 1, loop(9, {wait("barrier=1 cursor=0"), arrive("barrier=0 cursor=0 advance=1")}))
                                 .kernel());
  scenario.launches = {launch(scenario.kernels[0], 0), launch(scenario.kernels[0], 1)};
  Perturbation perturbation;
  run_watched(scenario, perturbation);
  const std::set<std::string> all = {"class", "cursor", "launch", "op", "trips", "warp slot", "wgmma sequence"};
  EXPECT_EQ(differences(perturbation.noticed, all), "");
}

}  // namespace
}  // namespace warpfold::test
