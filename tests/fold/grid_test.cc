// The state of a grid's barrier: arrivals of the phase, and loads that wait.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sim/sm/sm.h"
#include "tests/support/machine.h"
#include "tests/support/random_programs.h"
#include "tests/support/watched_sm.h"

namespace warpfold::test {
namespace {

sim::Snapshot state_of(sim::Sm& sm, sim::Cycle now, sim::KeyFilter* filter) {
  sim::Snapshot state;
  sim::StateVisitor visitor(state, now, filter);
  sm.visit(visitor);
  return state;
}

// Two CTAs on an SM. While one of them loops, the other waits for it.
Scenario one_waits_for_the_other() {
  Scenario scenario;
  scenario.gpu = one_sm("h100_sxm");
  const Lines meet = {op("ATOMG.E.ADD.STRONG.GPU PT, R4, [R2.64], R5", {.stall = 2, .write = 0}, "bytes=32 barrier=0"),
                      op("LDG.E.STRONG.GPU R6, [R2.64]", {.stall = 2, .write = 1, .wait = {0}}, "bytes=32 barrier=0"),
                      op("ISETP.NE.AND P0, PT, R6, R4, PT", {.stall = 13, .wait = {1}}), op("@P0 BRA `(.L_poll)", {.stall = 5})};
  scenario.kernels.push_back(KernelText("meet", "sm_90")
                                 .options("registers=32")
                                 .classes("parameter t\nclass early t=2\nclass late t=400\ngrid early*1 late*1\n")
                                 .role("all", 1, loop(3, join(loop("t", {op("FFMA R8, R9, R10, R8", {.stall = 4})}), meet)))
                                 .kernel());
  scenario.launches.push_back(launch(scenario.kernels[0]));
  return scenario;
}

// Collects the names of the grid's fields, and gives a CTA an arrival more.
class GridFields : public sim::KeyFilter, public sim::SmObserver {
 public:
  bool keeps(const char* name, uint64_t /*word*/) override {
    const std::string text = name;
    if (text.starts_with("grid_") || text.starts_with("polling")) names.insert(text);
    return true;
  }
  void loop_ended(sim::Sm& sm, sim::Cycle now, sim::Cycle /*limit*/) override {
    const sim::Snapshot before = state_of(sm, now, this);
    EXPECT_TRUE(before.key == state_of(sm, now, this).key) << "a look changes nothing";
    for (sim::Cta& cta : sm.state().ctas) {
      if (!cta.resident) continue;
      ++cta.grid_arrivals;
      ++(before.key == state_of(sm, now, this).key ? unnoticed : noticed);
      --cta.grid_arrivals;
    }
  }
  std::set<std::string> names;
  int noticed = 0;
  int unnoticed = 0;
};

TEST(Grid, ArrivalsAndLoadsThatWaitAreInTheState) {
  GridFields fields;
  run_watched(one_waits_for_the_other(), fields);
  EXPECT_EQ(fields.names, (std::set<std::string>{"grid_arrived", "grid_last", "grid_phase", "polling", "polling_passed"}));
  EXPECT_GT(fields.noticed, 0);
  EXPECT_EQ(fields.unnoticed, 0);
}

}  // namespace
}  // namespace warpfold::test
