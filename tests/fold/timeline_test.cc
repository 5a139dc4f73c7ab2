// The timeline of a folded run equals that of a full replay in the stretches that were replayed, and marks the others.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <numeric>
#include <set>
#include <tuple>

#include "tests/support/random_programs.h"
#include "tests/support/same_outcome.h"
#include "tests/support/share.h"

namespace warpfold::test {
namespace {

using sim::Cycle;
using sim::SmTimeline;

sim::Outcome run(const Scenario& scenario, sim::FoldMode mode, bool timeline = true) {
  return outcome(scenario.gpu, scenario.launches, {.serialise = scenario.serialise, .fold = {.mode = mode}, .timeline = timeline});
}

// True if `at` lies among the folded spans that were left out. A timeline keeps as many of the first spans as of the
// last, so spans that were left out lie between the two halves.
bool in_spans_left_out(const SmTimeline& sm, Cycle at) {
  if (sm.folds_left_out == 0) return false;
  const size_t half = sm.folds.size() / 2;
  const sim::FoldedSpan& last_of_first = sm.folds[half - 1];
  return at >= last_of_first.start + last_of_first.cycles && at <= sm.folds[half].start;
}

// Describes an inconsistency; empty if there is none. Windows must tile the time from 0, CTAs of one slot must not
// overlap, folded spans must be in order, and a slice that is cut off must be cut off at a folded span.
std::string inconsistency(const SmTimeline& sm) {
  Cycle at = 0;
  Cycle folded = 0;
  for (const sim::UseWindow& window : sm.windows) {
    if (window.start != at || window.end <= at) return "windows do not tile the time at " + std::to_string(at);
    at = window.end;
    folded += window.folded;
  }
  if (at != sm.end) return "windows end at " + std::to_string(at);
  std::set<Cycle> starts;
  std::set<Cycle> ends;
  Cycle last = 0;
  for (const sim::FoldedSpan& span : sm.folds) {
    if (span.start < last || span.cycles % span.periods != 0) return "folded span at " + std::to_string(span.start);
    last = span.start + span.cycles;
    starts.insert(span.start);
    ends.insert(last);
    folded -= span.cycles;
  }
  // Windows include the cycles of the spans that were left out.
  if (sm.folds_left_out == 0 ? folded != 0 : folded > sm.end) return "windows have other folded cycles than the spans";
  const auto left_out = [&](Cycle cut) { return in_spans_left_out(sm, cut); };
  std::map<uint32_t, Cycle> free;
  for (const sim::CtaSlice& cta : sm.ctas) {
    const std::string place = "CTA at " + std::to_string(cta.start) + " in slot " + std::to_string(cta.slot);
    if (cta.start < free[cta.slot] || cta.end < cta.start) return place + " overlaps";
    free[cta.slot] = cta.end;
    if (cta.placed != cta.start && !ends.contains(cta.start) && !left_out(cta.start))
      return place + " does not begin where a folded span ends";
    if (cta.ended_folded && !starts.contains(cta.end) && !left_out(cta.end))
      return place + " does not end where a folded span begins";
  }
  std::map<std::tuple<uint32_t, int, uint32_t>, Cycle> left;
  for (const sim::PhaseSlice& phase : sm.phases) {
    Cycle& until = left[{phase.slot, phase.launch, phase.role}];
    if (phase.start < until || phase.end < phase.start) return "phase at " + std::to_string(phase.start) + " overlaps";
    until = phase.end;
  }
  return "";
}

// Describes a launch whose CTAs are not all in a slice or a count; empty if there is none.
std::string missing_ctas(const SmTimeline& sm) {
  for (const sim::LaunchSpan& launch : sm.launches) {
    uint64_t ctas = launch.ctas_left_out + launch.ctas_folded;
    for (const sim::CtaSlice& cta : sm.ctas) ctas += cta.launch == launch.launch;
    if (ctas != launch.ctas) return std::to_string(ctas) + " CTAs of " + std::to_string(launch.ctas);
  }
  return "";
}

using Lanes = std::vector<uint64_t>;
Lanes busy(const SmTimeline& sm, size_t lanes) {
  Lanes sum(lanes, 0);
  for (const sim::UseWindow& window : sm.windows) {
    for (size_t l = 0; l < lanes; ++l) sum[l] += window.busy[l];
  }
  return sum;
}

// Names a resource whose use in the windows, summed over lanes and SMs, is not that of the outcome; empty if there is
// none.
std::string other_use(const sim::Outcome& outcome) {
  std::map<std::string, uint64_t> sums;
  for (const SmTimeline& sm : outcome.timeline.sms) {
    const Lanes of_sm = busy(sm, outcome.timeline.lanes.size());
    for (size_t l = 0; l < of_sm.size(); ++l) sums[outcome.timeline.lanes[l].name] += sm.sms * of_sm[l];
  }
  for (const sim::ResourceUse& use : outcome.resources) {
    if (sums.contains(use.name) && sums[use.name] != use.busy) return use.name + " in windows: " + std::to_string(sums[use.name]);
  }
  return sums.size() < 10 ? "few lanes" : "";
}

using Slice = std::tuple<int, uint32_t, uint32_t, Cycle>;  // launch, class, slot, cycle

using Phases = std::set<std::tuple<int, uint32_t, uint32_t, sim::Phase, Cycle>>;  // launch, role, slot

bool cut_at(const SmTimeline& sm, Cycle at) {
  return std::ranges::any_of(sm.folds,
                             [&](const sim::FoldedSpan& span) { return span.start == at || span.start + span.cycles == at; });
}

// Describes an entry of a folded SM's timeline that was replayed but is not in the timeline of the full replay; empty
// if there is none.
std::string other_than_replayed(const SmTimeline& folded, const SmTimeline& replayed) {
  for (size_t l = 0; l < folded.launches.size(); ++l) {
    const sim::LaunchSpan& one = folded.launches[l];
    const sim::LaunchSpan& other = replayed.launches[l];
    if (std::tie(one.launch, one.released, one.start, one.end, one.ctas) !=
        std::tie(other.launch, other.released, other.start, other.end, other.ctas))
      return "launch " + std::to_string(one.launch);
  }
  std::set<Slice> placed;
  std::set<Slice> ended;
  for (const sim::CtaSlice& cta : replayed.ctas) {
    placed.emplace(cta.launch, cta.cta_class, cta.slot, cta.placed);
    ended.emplace(cta.launch, cta.cta_class, cta.slot, cta.end);
  }
  for (const sim::CtaSlice& cta : folded.ctas) {
    if (!placed.contains({cta.launch, cta.cta_class, cta.slot, cta.placed})) return "CTA placed at " + std::to_string(cta.placed);
    if (!cta.ended_folded && !ended.contains({cta.launch, cta.cta_class, cta.slot, cta.end}))
      return "CTA ended at " + std::to_string(cta.end);
  }
  if (replayed.phases_left_out > 0) return "";
  Phases begun;
  Phases done;
  for (const sim::PhaseSlice& phase : replayed.phases) {
    begun.emplace(phase.launch, phase.role, phase.slot, phase.phase, phase.start);
    done.emplace(phase.launch, phase.role, phase.slot, phase.phase, phase.end);
  }
  for (const sim::PhaseSlice& phase : folded.phases) {
    if (!cut_at(folded, phase.start) && !begun.contains({phase.launch, phase.role, phase.slot, phase.phase, phase.start}))
      return "phase begun at " + std::to_string(phase.start);
    if (!cut_at(folded, phase.end) && !done.contains({phase.launch, phase.role, phase.slot, phase.phase, phase.end}))
      return "phase ended at " + std::to_string(phase.end);
  }
  return "";
}

TEST(Timeline, OfAFoldedRunIsThatOfTheReplay) {
  int folded = 0;
  int cut = 0;
  int runs = 0;
  const bool holds = rc::check([&] {
    Scenario scenario = any_recurring_scenario();
    bound_machine(scenario);
    RC_LOG(scenario.describe());
    const sim::Outcome exact = run(scenario, sim::FoldMode::kExact);
    const sim::Outcome replay = run(scenario, sim::FoldMode::kOff);
    for (const sim::Outcome* each : {&exact, &replay}) {
      for (const SmTimeline& sm : each->timeline.sms) {
        if (const std::string wrong = inconsistency(sm) + missing_ctas(sm); !wrong.empty()) RC_FAIL(wrong);
      }
      if (const std::string wrong = other_use(*each); !wrong.empty()) RC_FAIL(wrong);
    }
    bool ends_in_skipped_time = false;
    for (size_t m = 0; m < exact.timeline.sms.size(); ++m) {
      const SmTimeline& one = exact.timeline.sms[m];
      const SmTimeline& other = replay.timeline.sms[m];
      const auto whole = [](const SmTimeline& sm) {
        return std::ranges::all_of(sm.launches, [](const sim::LaunchSpan& launch) { return launch.ctas_left_out == 0; });
      };
      if (!whole(other)) continue;
      if (const std::string differs = other_than_replayed(one, other); !differs.empty()) RC_FAIL(differs);
      const size_t lanes = exact.timeline.lanes.size();
      if (busy(one, lanes) != busy(other, lanes)) RC_FAIL("use of an SM");
      ends_in_skipped_time |= std::ranges::any_of(one.ctas, &sim::CtaSlice::ended_folded);
    }
    ++runs;
    folded += exact.fold.mode == sim::Folded::kExact;
    cut += ends_in_skipped_time;
  });
  ASSERT_TRUE(holds);
  EXPECT_TRUE(can_be_a_share(folded, runs, 0.6, "recur"));
  EXPECT_TRUE(can_be_a_share(cut, runs, 0.15, "have CTAs that end in skipped time"));
}

TEST(Timeline, ChangesNothing) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto scenario = recurring_scenario(seed);
    const sim::Outcome with = run(*scenario, sim::FoldMode::kAuto);
    const sim::Outcome without = run(*scenario, sim::FoldMode::kAuto, false);
    EXPECT_EQ(difference(with, without), "");
    EXPECT_EQ(with.fold.instructions_replayed, without.fold.instructions_replayed);
    EXPECT_TRUE(without.timeline.sms.empty());
  }
}

}  // namespace
}  // namespace warpfold::test
