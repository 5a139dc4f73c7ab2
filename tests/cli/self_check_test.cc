// --self-check: its output, and that it finds planted faults.

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "configs/load.h"
#include "program.h"
#include "tests/source_dir.h"
#include "tools/warpfold/run/launches.h"
#include "tools/warpfold/run/runner.h"
#include "tools/warpfold/run/self_check.h"

namespace warpfold::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

const std::string kScenarios = WARPFOLD_SOURCE_DIR "/configs/scenarios/";

// Returns the message of a run of the scenario that fails for a defect; "" if it has a result.
std::string defect_of(const std::string& name, const RunOptions& how, const std::vector<std::string>& settings = {}) {
  workloads::KernelMaker kernels(kScenarios + name + ".textproto");
  const auto scenario = configs::load_scenario(kernels.file(), settings);
  if (!scenario) throw std::runtime_error(scenario.error().text());
  const auto planned = plan_scenario(*scenario, kernels);
  if (!planned) throw std::runtime_error(planned.error().text());
  try {
    const auto results = Runner(kernels, "", how).run({*planned});
    if (!results) throw std::runtime_error(results.error().text);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

RunOptions checked(bool skips, const std::string& omitted_field = "") {
  RunOptions how;
  how.folding.options.omitted_field = omitted_field;
  how.folding.options.check_skips = skips;
  how.folding.self_check = kSelfCheckInstructions;
  return how;
}

// A field without which the scenario folds to a wrong result. The counter grows by less than a byte per period, so the
// difference shows only in the whole run; tests/fold/skip_check_test.cc has faults that show in a period.
TEST(SelfChecks, FindAFieldThatTheKeyLacks) {
  const std::vector<std::string> narrow{"kernel.attention.flash_attention_3.shape.head_dim=64"};
  for (const bool skips : {false, true}) {
    EXPECT_THAT(
        defect_of("flash_attention_3_h100", checked(skips, "dram_fraction"), narrow),
        MatchesRegex("self-check: kernel attention: dram_bytes is [0-9]+ folded and [0-9]+ replayed \\([0-9]+ (more|less)\\)"));
    EXPECT_EQ(defect_of("flash_attention_3_h100", checked(skips), narrow), "");
  }
}

TEST(SelfChecks, FindNothingElse) {
  for (const std::string name : {"flash_attention_3_h100", "stream_copy_h100", "qkv_philox_small"})
    EXPECT_EQ(defect_of(name, checked(true)), "") << name;
}

// The two kernels of the small scenario, one after the other: two simulations.
class CheckedRuns : public Program {
 protected:
  CheckedRuns() : kernels_(path("work/s.textproto")) {
    write("s.textproto", small_scenario());
    const auto scenario = configs::load_scenario(path("work/s.textproto"), {"policy.kind=SEQUENTIAL"});
    if (!scenario) throw std::runtime_error(scenario.error().text());
    auto planned = plan_scenario(*scenario, kernels_);
    if (!planned) throw std::runtime_error(planned.error().text());
    planned_ = std::move(*planned);
    const auto outcome = sim::simulate(gpu_of(planned_->scenario), make_launches(planned_->plan),
                                       {.serialise = true, .run_cache = &known_, .keep_runs = true});
    if (!outcome) throw std::runtime_error(outcome.error().text());
    outcome_ = *outcome;
  }
  // As if the first simulation had come to this.
  sim::Outcome with(const std::function<void(sim::Outcome&)>& change) const {
    sim::Outcome changed = outcome_;
    sim::MadeRun run = *outcome_.made.front();
    auto other = std::make_shared<sim::Outcome>(*run.outcome);
    change(*other);
    run.outcome = other;
    changed.made.front() = std::make_shared<const sim::MadeRun>(run);
    return changed;
  }
  static configs::SelfCheck check(const sim::Outcome& outcome, uint64_t budget = kSelfCheckInstructions) {
    return SelfCheck({outcome}, budget, 1).of({&outcome});
  }
  static std::string said(const sim::Outcome& outcome) {
    try {
      check(outcome);
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "";
  }

  workloads::KernelMaker kernels_;
  std::optional<Planned> planned_;
  sim::RunCache known_;
  sim::Outcome outcome_;
};

TEST_F(CheckedRuns, AreTheSameInEveryFigure) {
  ASSERT_EQ(outcome_.made.size(), 2);
  EXPECT_EQ(said(outcome_), "");
  EXPECT_THAT(said(with([](sim::Outcome& run) { run.kernels[0].end_cycle += 5; })),
              MatchesRegex("self-check: kernel first: end_cycle is [0-9]+ folded and [0-9]+ replayed \\(5 more\\)"));
  EXPECT_THAT(said(with([](sim::Outcome& run) { --run.kernels[0].segments[0].states[1]; })),
              MatchesRegex("self-check: kernel first: role 0 [a-z_]+ 0 wait is [0-9]+ folded and [0-9]+ replayed \\(1 less\\)"));
  EXPECT_THAT(
      said(with([](sim::Outcome& run) { run.resources[0].busy += 7; })),
      MatchesRegex("self-check: kernel first: resource issue_slot, busy is [0-9]+ folded and [0-9]+ replayed \\(7 more\\)"));
  EXPECT_THAT(said(with([](sim::Outcome& run) { ++run.ledger[0][0][1]; })),
              MatchesRegex("self-check: kernel first: ledger of 0 against 0, alu is [0-9]+ folded and .*\\(1 more\\)"));
}

TEST_F(CheckedRuns, ThatAreBoundedLieWithinTheirBound) {
  const auto bounded = [&](double error, const std::function<void(sim::KernelCounters&)>& change) {
    return with([&](sim::Outcome& run) {
      run.fold.mode = sim::Folded::kBounded;
      run.fold.error_bound = error;
      change(run.kernels[0]);
    });
  };
  const auto longer = [](sim::KernelCounters& kernel) { kernel.end_cycle += (kernel.end_cycle - kernel.start_cycle) / 50; };
  const sim::Outcome within = bounded(0.021, longer);
  EXPECT_EQ(said(within), "");
  EXPECT_NEAR(check(within).cycles_error(), 0.02, 0.001);
  EXPECT_EQ(check(outcome_).cycles_error(), 0);
  EXPECT_THAT(said(bounded(0.002, longer)),
              MatchesRegex("self-check: kernel first: cycles is [0-9]+ folded and [0-9]+ replayed \\(off by (1\\.9|2\\.0)[0-9]* %; "
                           "the bound is 0\\.200 %\\)"));
  EXPECT_THAT(said(bounded(0.1, [](sim::KernelCounters& kernel) { --kernel.instructions; })), HasSubstr("instructions is "));
  EXPECT_THAT(said(bounded(0.1, [](sim::KernelCounters& kernel) { ++kernel.ctas; })), HasSubstr("ctas is "));
  EXPECT_THAT(said(bounded(0.1, [](sim::KernelCounters& kernel) { ++kernel.l2_bytes; })), HasSubstr("l2_bytes is "));
}

TEST_F(CheckedRuns, FitTheBudgetSmallestFirst) {
  const configs::SelfCheck all = check(outcome_);
  EXPECT_EQ(all.kernels(), 2);
  EXPECT_EQ(all.kernels_checked(), 2);
  EXPECT_GT(all.instructions(), 0);
  EXPECT_EQ(all.instructions_checked(), all.instructions());
  EXPECT_EQ(all.budget(), kSelfCheckInstructions);
  const auto size = [&](size_t run) { return outcome_.made[run]->instructions_of_replay(); };
  const configs::SelfCheck one = check(outcome_, std::max(size(0), size(1)));
  EXPECT_EQ(one.kernels(), 2);
  EXPECT_EQ(one.kernels_checked(), 1);
  EXPECT_EQ(one.instructions_checked(), std::min(size(0), size(1)));
  const configs::SelfCheck none = check(outcome_, std::min(size(0), size(1)) - 1);
  EXPECT_EQ(none.kernels_checked(), 0);
  EXPECT_EQ(none.instructions_checked(), 0);
}

// ---- of the program

class SelfCheckedResults : public Program {
 protected:
  SelfCheckedResults() { write("s.textproto", small_scenario()); }
};

TEST_F(SelfCheckedResults, SayWhatShareWasChecked) {
  // Two side by side, and each alone.
  const std::string sentence = "self-check: 4 of 4 kernels, 100.00 % of the instructions";
  for (const std::string command : {"simulate", "compare"}) {
    const Ended result = run({command, "s.textproto", "--self-check"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(sentence));
    EXPECT_THAT(result.out, HasSubstr(" simulated again unfolded: the same\n"));
    EXPECT_THAT(run({command, "s.textproto"}).out, Not(HasSubstr("self-check")));
  }
  EXPECT_EQ(run({"simulate", "s.textproto", "--self-check", "--format", "json", "--output", "r.json"}).exit_code, 0);
  EXPECT_THAT(run({"report", "r.json"}).out, HasSubstr("self-check: 4 of 4 kernels, 100.00 % of the instructions"));
}

TEST_F(SelfCheckedResults, AreTheSameBesides) {
  auto checked = message<configs::Result>({"simulate", "s.textproto", "--self-check"});
  auto unchecked = message<configs::Result>({"simulate", "s.textproto"});
  EXPECT_TRUE(checked.fold().has_self_check());
  EXPECT_FALSE(unchecked.fold().has_self_check());
  checked.mutable_fold()->clear_self_check();
  for (configs::Result* each : {&checked, &unchecked}) each->mutable_provenance()->clear_command_line();
  EXPECT_EQ(checked.DebugString(), unchecked.DebugString());
}

TEST_F(SelfCheckedResults, AreOfFoldedRunsAlone) {
  EXPECT_EQ(refused({"simulate", "s.textproto", "--self-check", "--fold", "shadow"}),
            "--self-check checks folding by a sample; it takes --fold auto or exact, not shadow\n");
  EXPECT_EQ(refused({"whatif", "s.textproto", "--self-check", "--fold", "off"}),
            "--self-check checks folding by a sample; it takes --fold auto or exact, not off\n");
  EXPECT_EQ(refused({"simulate", "s.textproto", "--self-check", "--sms", "all"}),
            "--self-check checks folding by a sample; --sms all folds nothing\n");
  EXPECT_EQ(refused({"layer", "llama3_8b", "--self-check"}),
            "--self-check is of results of simulations; layer has none to say it in\n");
  EXPECT_EQ(refused({"validate", WARPFOLD_SOURCE_DIR "/docs/validation/data.csv", "--self-check"}),
            "--self-check is of results of simulations; validate has none to say it in\n");
  EXPECT_THAT(run({"simulate", "--help"}).out, AllOf(HasSubstr("--self-check"), HasSubstr("one skip in eight")));
}

}  // namespace
}  // namespace warpfold::cli
