// Random programs that share a machine: the account always holds, and two runs have the same outcome.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "sim/chip/reference.h"
#include "sim/sm/make_spec.h"
#include "tests/support/random_programs.h"

namespace warpfold::test {
namespace {

// Returns all figures of a replay as comparable text.
std::string everything(const Replay& run, bool with_ledger = true) {
  std::string all = text({std::to_string(run.outcome.total_cycles), run.outcome.deadlock.report, "\n"});
  const auto add = [&](uint64_t value) { all += text({std::to_string(value), " "}); };
  for (const sim::KernelCounters& counters : run.outcome.kernels) {
    for (const uint64_t value : {counters.start_cycle, counters.end_cycle, counters.ctas, counters.instructions, counters.l2_bytes,
                                 counters.dram_bytes, counters.resident_warp_cycles}) {
      add(value);
    }
    for (const uint64_t value : counters.states) add(value);
  }
  for (const auto& victim : run.outcome.ledger) {
    if (!with_ledger) break;
    for (const auto& culprit : victim) {
      for (const uint64_t value : culprit) add(value);
    }
  }
  for (const sim::ResourceUse& use : run.outcome.resources) add(use.busy);
  for (const auto& launch_issues : run.issues) {
    for (const auto& warp : launch_issues) {
      for (const uint64_t cycle : warp) add(cycle);
    }
  }
  return all;
}

RC_GTEST_PROP(RandomPrograms, KeepTheAccountAndRepeatThemselves, ()) {
  const Scenario scenario = any_scenario();
  RC_LOG(scenario.describe());
  const Replay run = replay(scenario.gpu, scenario.launches, scenario.serialise);  // throws if the account does not hold
  RC_LOG(run.outcome.deadlock.report);
  RC_ASSERT(!run.outcome.deadlocked);
  for (size_t k = 0; k < scenario.launches.size(); ++k) {
    const traces::Kernel& kernel = *scenario.launches[k].kernel;
    const sim::KernelCounters& counters = run.outcome.kernels[k];
    RC_ASSERT(counters.ctas == kernel.ctas());
    RC_ASSERT(counters.instructions == traces::issued_instructions(kernel));
    uint64_t states = 0;
    for (const uint64_t cycles : counters.states) states += cycles;
    RC_ASSERT(states == counters.resident_warp_cycles);
    RC_ASSERT(counters.l2_bytes == counters.l2_bytes_served);
  }
  RC_ASSERT(everything(replay(scenario.gpu, scenario.launches, scenario.serialise)) == everything(run));
}

RC_GTEST_PROP(RandomPrograms, IssueOneInstructionACycleAndSubCoreAndNeverGoBackInTime, ()) {
  const Scenario scenario = any_scenario();
  std::vector<sim::IssueRecord> log;
  const auto outcome = sim::simulate(scenario.gpu, scenario.launches, {.serialise = scenario.serialise, .issue_log = &log});
  RC_ASSERT(outcome.has_value());
  std::set<std::tuple<uint32_t, uint32_t, uint64_t>> taken;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> last_of_warp;
  std::map<uint32_t, uint64_t> last_of_class;
  for (const sim::IssueRecord& record : log) {
    RC_ASSERT(taken.insert({record.sm_class, record.sub_core, record.cycle}).second);
    auto& last = last_of_class[record.sm_class];
    RC_ASSERT(record.cycle >= last);
    last = record.cycle;
    const auto [at, first] = last_of_warp.try_emplace({record.sm_class, record.warp}, record.cycle);
    RC_ASSERT(first || record.cycle > at->second);
    at->second = record.cycle;
  }
}

// A simulation of every SM equals the reference, which steps all SMs cycle by cycle in the order of their index. With
// one SM, it also equals the simulation by classes.
RC_GTEST_PROP(RandomPrograms, OnTheWholeChipMeetMemoryInOrderOfTime, ()) {
  Scenario scenario = any_scenario();
  scenario.gpu.mutable_l2()->set_read_bytes_per_clk(between(8, 200));
  scenario.gpu.mutable_l2()->set_write_bytes_per_clk(between(8, 200));
  scenario.gpu.mutable_dram()->set_bandwidth_gb_per_s(between(10, 200));
  scenario.gpu.set_kernel_launch_cycles(between(0U, 50U));
  RC_LOG(scenario.describe());
  const auto chip = sim::simulate(scenario.gpu, scenario.launches, {.serialise = scenario.serialise, .all_sms = true});
  RC_ASSERT(chip.has_value());
  const std::vector<sim::ReferenceLaunch> plain =
      sim::reference(*sim::make_spec(scenario.gpu), scenario.launches, scenario.serialise);
  for (size_t l = 0; l < plain.size(); ++l) {
    const sim::KernelCounters& kernel = chip->kernels[l];
    RC_ASSERT((sim::ReferenceLaunch{kernel.start_cycle, kernel.end_cycle, kernel.instructions, kernel.resident_warp_cycles}) ==
              plain[l]);
  }
  if (scenario.gpu.sm_count() > 1) return;
  const auto classes = sim::simulate(scenario.gpu, scenario.launches, {.serialise = scenario.serialise});
  RC_ASSERT(classes.has_value());
  // The ledger is left out: with rates of its own, a long queue charges its longest waits to the last holder that its
  // history has room for.
  RC_ASSERT(everything({*chip, {}}, false) == everything({*classes, {}}, false));
}

// With any reservations, warps between their first and last issue never hold more registers than the SM has.
RC_GTEST_PROP(RandomPrograms, NeverHoldMoreThanTheSmHas, ()) {
  const Scenario scenario = any_scenario();
  const Replay run = replay(scenario.gpu, scenario.launches, scenario.serialise);
  std::map<uint64_t, int64_t> change;
  for (size_t k = 0; k < scenario.launches.size(); ++k) {
    const auto registers = static_cast<int64_t>((scenario.launches[k].kernel->registers_per_thread * 32 + 255) / 256 * 256);
    for (const auto& warp : run.issues[k]) {
      change[warp.front()] += registers;
      change[warp.back()] -= registers;
    }
  }
  int64_t held = 0;
  for (const auto& [cycle, difference] : change) RC_ASSERT((held += difference) <= 65536);
}

// A warp that is alone on its sub-core never issues earlier than the stall count of the instruction before says.
RC_GTEST_PROP(RandomPrograms, NeverIssueBeforeTheStallCount, ()) {
  Lines lines;
  std::vector<int> stalls;
  for (int i = between(1, 40); i > 0; --i) {
    lines.push_back(any_instruction());
    stalls.push_back((lines.back()[18] - '0') * 10 + (lines.back()[19] - '0'));
    if (lines.back()[15] == 'Y') stalls.back() = std::max(stalls.back(), 2);
  }
  const traces::Kernel kernel = KernelText("k", "sm_86").declare("stream data read dram=1/3").role("one", 1, lines).kernel();
  const std::vector<uint64_t> issues = replay(one_sm("rtx_a6000"), kernel).warp(0);
  RC_ASSERT(issues.size() == lines.size() + 1);
  for (size_t i = 0; i < lines.size(); ++i) RC_ASSERT(issues[i + 1] - issues[i] >= static_cast<uint64_t>(std::max(stalls[i], 1)));
}

}  // namespace
}  // namespace warpfold::test
