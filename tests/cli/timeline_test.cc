// simulate --timeline and --perfetto: the timeline in the result, and the same as a trace.

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "configs/result.pb.h"
#include "perfetto_view.h"
#include "program.h"
#include "tools/perfetto/timeline_trace.h"
#include "tools/perfetto/trace_writer.h"
#include "tools/warpfold/failure.h"

namespace warpfold::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;

class Timelines : public Program {
 protected:
  Timelines() { write("s.textproto", small_scenario()); }
  configs::Result simulate(std::vector<std::string> more) const {
    more.insert(more.begin(), {"simulate", "s.textproto"});
    return message<configs::Result>(more);
  }
};

TEST_F(Timelines, AreOnlyWhereAskedFor) {
  EXPECT_FALSE(simulate({}).has_timeline());
  EXPECT_FALSE(simulate({"--perfetto", "t.pftrace"}).has_timeline());
  EXPECT_TRUE(simulate({"--timeline"}).has_timeline());
}

TEST_F(Timelines, SayWhatTheResultSays) {
  const configs::Result result = simulate({"--timeline", "--fold", "exact"});
  ASSERT_EQ(result.timeline().sms_size(), static_cast<int>(result.sm_classes()));
  std::map<std::string, uint64_t> busy;
  std::map<uint32_t, uint64_t> ctas;
  uint64_t sms = 0;
  for (const configs::SmTimeline& sm : result.timeline().sms()) {
    sms += sm.sms();
    for (const configs::UseWindow& window : sm.windows()) {
      for (int lane = 0; lane < window.busy_size(); ++lane)
        busy[result.timeline().lanes(lane).resource()] += sm.sms() * window.busy(lane);
    }
    for (const configs::KernelSpan& kernel : sm.kernels()) ctas[kernel.kernel()] += sm.sms() * kernel.ctas();
  }
  EXPECT_GT(sms, 0);
  for (const configs::Resource& resource : result.resources()) {
    if (!busy.contains(resource.name())) continue;
    EXPECT_EQ(busy[resource.name()], resource.busy()) << resource.name();
  }
  EXPECT_TRUE(busy.contains("issue_slot"));
  for (int k = 0; k < result.kernels_size(); ++k) EXPECT_EQ(ctas[static_cast<uint32_t>(k)], result.kernels(k).ctas());
}

// Slices of a track that lie in no other one: name, start and length in cycles.
using Spans = std::vector<std::tuple<std::string, uint64_t, uint64_t>>;
Spans spans(const std::vector<Slice>& slices) {
  Spans spans;
  for (const Slice& slice : slices) {
    if (slice.depth == 0) spans.emplace_back(slice.name, slice.numbers.at("start_cycle"), slice.numbers.at("cycles"));
  }
  return spans;
}

// The trace of a folded run, track by track against the timeline it was made of.
TEST_F(Timelines, AreTheSumOfTheTracesSlices) {
  const configs::Result result =
      simulate({"--timeline", "--fold", "exact", "--perfetto", "t.pftrace", "--set", "kernel.first.philox.calls_per_thread=256",
                "--set", "kernel.first.philox.queries=2048"});
  const View view(read("t.pftrace"));
  const perfetto::Clock clock(result.provenance().scenario().gpu().clock_mhz());
  uint64_t folded_cycles = 0;
  for (const configs::SmTimeline& sm : result.timeline().sms()) {
    const std::string top =
        "SM class " + std::to_string(sm.sm_class()) + ": " + std::to_string(sm.sms()) + (sm.sms() == 1 ? " SM" : " SMs");
    for (const configs::KernelSpan& kernel : sm.kernels()) {
      const std::string& name = result.kernels(static_cast<int>(kernel.kernel())).name();
      const std::vector<Slice> slices = view.slices(top + "/kernels/" + name);
      ASSERT_FALSE(slices.empty());
      EXPECT_EQ(spans(slices).back(), std::tuple(name, kernel.start_cycle(), kernel.end_cycle() - kernel.start_cycle()));
      EXPECT_EQ(slices.back().begin_ns, clock.ns(kernel.start_cycle()));
      EXPECT_EQ(slices.back().end_ns, clock.ns(kernel.end_cycle()));
    }
    // Replayed and folded spans tile the SM's time.
    uint64_t at = 0;
    uint64_t folded = 0;
    for (const auto& [name, start, cycles] : spans(view.slices(top + "/replayed and folded"))) {
      EXPECT_EQ(start, at);
      at += cycles;
      if (name == "folded") folded += cycles;
    }
    EXPECT_EQ(at, sm.end_cycle());
    for (const configs::FoldedSpan& span : sm.folded()) folded -= span.cycles(), folded_cycles += span.cycles();
    EXPECT_EQ(folded, 0);
    std::map<uint32_t, Spans> by_slot;
    for (const configs::CtaSlice& cta : sm.ctas()) {
      by_slot[cta.slot()].emplace_back(result.kernels(static_cast<int>(cta.kernel())).name(), cta.start_cycle(),
                                       cta.end_cycle() - cta.start_cycle());
    }
    for (const auto& [slot, ctas] : by_slot) EXPECT_EQ(spans(view.slices(top + "/CTA slots/slot " + std::to_string(slot))), ctas);
    EXPECT_FALSE(view.counts(top + "/sub-core 0/issue_slot/use of issue_slot").empty());
  }
  EXPECT_GT(folded_cycles, 0) << "this scenario folds no more: the test says little";
}

// Every lane of every SM: a slice for each window in which it was busy, with the window's place and figures.
TEST_F(Timelines, LanesAreTheSumOfTheTracesSlices) {
  const configs::Result result =
      simulate({"--timeline", "--fold", "exact", "--perfetto", "t.pftrace", "--set", "kernel.first.philox.calls_per_thread=256",
                "--set", "kernel.first.philox.queries=2048"});
  const View view(read("t.pftrace"));
  const std::vector<std::string> tracks = view.tracks();
  std::set<std::string> names;
  int lanes_in_use = 0;
  for (const configs::SmTimeline& sm : result.timeline().sms()) {
    const std::string top =
        "SM class " + std::to_string(sm.sm_class()) + ": " + std::to_string(sm.sms()) + (sm.sms() == 1 ? " SM" : " SMs");
    for (int lane = 0; lane < result.timeline().lanes_size(); ++lane) {
      const configs::TimelineLane& about = result.timeline().lanes(lane);
      const std::string group = about.has_sub_core() ? "/sub-core " + std::to_string(about.sub_core()) : "/SM";
      const std::string track = top + group + "/" + about.resource();
      std::vector<std::tuple<uint64_t, uint64_t, uint64_t>> busy;  // start, cycles, busy
      uint64_t sum = 0;
      for (const configs::UseWindow& window : sm.windows()) {
        if (window.busy(lane) == 0) continue;
        busy.emplace_back(window.start_cycle(), window.end_cycle() - window.start_cycle(), window.busy(lane));
        sum += window.busy(lane);
      }
      decltype(busy) shown;
      uint64_t shown_sum = 0;
      for (const Slice& slice : view.slices(track)) {
        shown.emplace_back(slice.numbers.at("start_cycle"), slice.numbers.at("cycles"), slice.numbers.at("busy"));
        shown_sum += slice.numbers.at("busy");
        names.insert(slice.name.substr(std::min(slice.name.size(), slice.name.find(", "))));
        EXPECT_EQ(slice.numbers.contains("folded_cycles"), slice.name.ends_with("folded")) << slice.name;
      }
      EXPECT_EQ(shown, busy) << track;
      EXPECT_EQ(shown_sum, sum) << track;
      EXPECT_EQ(std::ranges::count(tracks, track), sum > 0 ? 1 : 0) << track;
      lanes_in_use += sum > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(lanes_in_use, 10);
  EXPECT_TRUE(names.contains("") && (names.contains(", folded") || names.contains(", partly folded")))
      << "replayed and folded windows are both in this run";
}

TEST_F(Timelines, CountersAreInPercentOfTheWindow) {
  const configs::Result result = simulate({"--timeline", "--perfetto", "t.pftrace"});
  const View view(read("t.pftrace"));
  const configs::SmTimeline& sm = result.timeline().sms(0);
  const auto counts = view.counts("SM class 0: " + std::to_string(sm.sms()) + " SMs/sub-core 0/issue_slot/use of issue_slot");
  const configs::UseWindow& first = sm.windows(0);
  ASSERT_FALSE(counts.empty());
  EXPECT_EQ(counts.front().first, 0);
  EXPECT_DOUBLE_EQ(counts.front().second,
                   100.0 * static_cast<double>(first.busy(0)) / static_cast<double>(first.end_cycle() - first.start_cycle()));
  EXPECT_EQ(counts.back().second, 0);
}

TEST_F(Timelines, AreTheSameBytesEveryTime) {
  for (const std::string file : {"a.pftrace", "b.pftrace"})
    ASSERT_EQ(run({"simulate", "s.textproto", "--perfetto", file}).exit_code, 0);
  EXPECT_EQ(read("a.pftrace"), read("b.pftrace"));
}

TEST_F(Timelines, GoWithEveryWayToFold) {
  for (const std::string mode : {"auto", "exact", "off", "shadow"}) {
    const configs::Result result = simulate({"--timeline", "--fold", mode});
    EXPECT_TRUE(result.has_timeline()) << mode;
    EXPECT_TRUE(mode != "off" || result.timeline().sms(0).folded().empty());
  }
  const configs::Result all = simulate({"--timeline", "--sms", "all", "--perfetto", "t.pftrace"});
  EXPECT_EQ(all.timeline().sms_size(), static_cast<int>(all.sms_simulated()));
  EXPECT_THAT(View(read("t.pftrace")).tracks(), Contains("SM 1"));
}

TEST_F(Timelines, AFileThatCannotBeWrittenIsToldWithItsOwnExitCode) {
  const Ended ended = run({"simulate", "s.textproto", "--perfetto", "nowhere/t.pftrace"});
  EXPECT_EQ(ended.exit_code, kCannotWrite);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("nowhere/t.pftrace"));
}

TEST_F(Timelines, OfSavedResultsAreTheSameTrace) {
  ASSERT_EQ(run({"simulate", "s.textproto", "--timeline", "--output", "r.json", "--perfetto", "a.pftrace"}).exit_code, 0);
  const Ended ended = run({"report", "r.json", "--perfetto", "b.pftrace"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(read("a.pftrace"), read("b.pftrace"));
  const Ended two = run({"report", "r.json", "r.json", "--perfetto", "c.pftrace"});
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.err, HasSubstr("one result"));
}

TEST_F(Timelines, ThatAreMissingOrForgedAreTheUsersError) {
  ASSERT_EQ(run({"simulate", "s.textproto", "--output", "without.json"}).exit_code, 0);
  const Ended without = run({"report", "without.json", "--perfetto", "t.pftrace"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_EQ(without.err, "without.json: the result has no timeline; simulate --timeline keeps it\n");
  const configs::Result good = simulate({"--timeline"});
  const auto refused = [&](auto change) {
    configs::Result forged = good;
    change(*forged.mutable_timeline()->mutable_sms(0), forged);
    const auto trace = perfetto::timeline_trace(forged);
    return trace ? std::string() : trace.error().message;
  };
  const std::string forged_timeline = "the result's timeline is not one that a simulation writes";
  EXPECT_EQ(refused([](auto&, auto&) {}), "");
  EXPECT_EQ(refused([](auto& sm, auto&) { sm.mutable_kernels(0)->set_kernel(7); }), forged_timeline);
  EXPECT_EQ(refused([](auto& sm, auto&) { sm.mutable_kernels(0)->set_end_cycle(~uint64_t{0}); }), forged_timeline);
  EXPECT_EQ(refused([](auto& sm, auto&) { *sm.add_ctas() = sm.ctas(0); }), forged_timeline);
  EXPECT_EQ(refused([](auto& sm, auto&) { sm.add_folded()->set_cycles(10); }), forged_timeline);
  EXPECT_EQ(refused([](auto& sm, auto&) { sm.mutable_windows(0)->clear_busy(); }), forged_timeline);
  EXPECT_EQ(refused([](auto& sm, auto&) { sm.mutable_windows(0)->set_start_cycle(5); }), forged_timeline);
  EXPECT_EQ(refused([](auto&, auto& result) { result.clear_provenance(); }), forged_timeline);
  EXPECT_EQ(refused([](auto&, auto& result) { result.mutable_timeline()->mutable_lanes(0)->clear_capacity_per_cycle(); }),
            forged_timeline);
}

TEST(Trace, ShowsOnlyWhatCanBeShown) {
  EXPECT_EQ(perfetto::shown("gemm \"8K\" <b>"), "gemm \"8K\" <b>");
  EXPECT_EQ(perfetto::shown("a\nb\x1b[0m\x7f"), "a\\nb\\x1b[0m\\x7f");
  EXPECT_EQ(perfetto::shown("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(perfetto::shown("\xff\xc0\x80\xed\xa0\x80\xc3"), "\\xff\\xc0\\x80\\xed\\xa0\\x80\\xc3") << "no UTF-8";
  EXPECT_EQ(perfetto::shown(std::string(500, 'x')).size(), 200);
}

TEST(Trace, NanosecondsAreExactWhereTheClockIs) {
  const perfetto::Clock clock(1755);
  EXPECT_EQ(clock.ns(0), 0);
  EXPECT_EQ(clock.ns(1755), 1000);
  EXPECT_EQ(clock.ns(1'755'000'000'000'000), 1'000'000'000'000'000);
  EXPECT_EQ(clock.ns(1), 0);
  EXPECT_EQ(clock.ns(2), 1);
}

}  // namespace
}  // namespace warpfold::cli
