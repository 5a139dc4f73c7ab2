// Ties of compare: how far folding's estimates leave open which policy is faster.

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "configs/result.pb.h"
#include "program.h"
#include "sim/plan/made_run.h"
#include "tools/warpfold/figures/estimated_runs.h"

namespace warpfold::cli {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A simulation as the run cache gives it: outcomes that contain it point to the same.
std::shared_ptr<const sim::MadeRun> simulated(uint64_t cycles, double error_bound) {
  auto outcome = std::make_shared<sim::Outcome>();
  outcome->total_cycles = cycles;
  outcome->fold.error_bound = error_bound;
  outcome->folds = {std::make_shared<const sim::FoldReport>(outcome->fold)};
  auto made = std::make_shared<sim::MadeRun>();
  made->outcome = outcome;
  return made;
}

const std::shared_ptr<const sim::FoldReport>& report_of(const std::shared_ptr<const sim::MadeRun>& run) {
  return run->outcome->folds.front();
}

// Simulations in sequence; a repeated one is made once.
sim::Outcome sequence(const std::vector<std::shared_ptr<const sim::MadeRun>>& runs) {
  sim::Outcome whole;
  for (const auto& run : runs) {
    whole.total_cycles += run->outcome->total_cycles;
    whole.folds.push_back(report_of(run));
    if (std::ranges::find(whole.made, run) == whole.made.end()) whole.made.push_back(run);
  }
  return whole;
}

configs::Result result_of(const sim::Outcome& outcome, EstimatedRuns& estimated) {
  configs::Result result;
  result.set_total_cycles(outcome.total_cycles);
  estimated.fill(outcome, result);
  return result;
}

std::vector<uint32_t> numbers(const configs::Result& result) {
  std::vector<uint32_t> numbers;
  for (const configs::EstimatedRun& run : result.fold().estimated()) numbers.push_back(run.run());
  return numbers;
}

TEST(EstimatedRuns, HaveOneNumberInAllResultsThatContainThem) {
  const auto gemms = simulated(6000, 0.032);
  const auto fused = simulated(9000, 0.002);
  const auto attention = simulated(4000, 0.002);
  EstimatedRuns estimated;
  const configs::Result beside = result_of(sequence({gemms, attention}), estimated);
  const configs::Result in_one = result_of(sequence({fused}), estimated);
  const configs::Result apart = result_of(sequence({attention, fused}), estimated);
  EXPECT_THAT(numbers(beside), ElementsAre(1, 2));
  EXPECT_THAT(numbers(in_one), ElementsAre(3));
  EXPECT_THAT(numbers(apart), ElementsAre(2, 3));
  EXPECT_EQ(beside.fold().estimated(0).cycles(), 6000);
  EXPECT_EQ(beside.fold().estimated(0).error_bound(), 0.032);
  EXPECT_DOUBLE_EQ(beside.fold().total_error_bound(), 0.02) << "(6000 x 3.2 % + 4000 x 0.2 %) of 10,000";
}

TEST(EstimatedRuns, CountAsOftenAsTheResultContainsThem) {
  const auto layer = simulated(1000, 0.01);
  EstimatedRuns estimated;
  const configs::Result result = result_of(sequence({layer, simulated(500, 0), layer, layer}), estimated);
  ASSERT_EQ(result.fold().estimated_size(), 1);
  EXPECT_EQ(result.fold().estimated(0).cycles(), 3000);
}

// Reports behind a simulation's own are those of simulations that were discarded on the way to it.
TEST(EstimatedRuns, AreNoneOfExactSimulationsAndOfDiscardedOnes) {
  auto exact = std::make_shared<sim::Outcome>(*simulated(1000, 0)->outcome);
  exact->folds.push_back(report_of(simulated(900, 0.032)));
  auto made = std::make_shared<sim::MadeRun>();
  made->outcome = exact;
  sim::Outcome whole = sequence({made});
  whole.folds = exact->folds;
  EstimatedRuns estimated;
  const configs::Result result = result_of(whole, estimated);
  EXPECT_TRUE(result.fold().estimated().empty());
  EXPECT_TRUE(result.fold().has_total_error_bound());
  EXPECT_EQ(result.fold().total_error_bound(), 0);
}

// CARVE_OUT and SLICED are one run, of which more is estimated than WARP_SPECIALIZED is faster by.
class Ties : public Program {
 protected:
  Ended compare(const std::string& policies, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"compare", "block", "embedding=2048", "heads=16", "seq=4096", "--policies", policies};
    const std::vector<std::string> coarse{"--fold-error", "0.1"};
    words.insert(words.end(), coarse.begin(), coarse.end());
    words.insert(words.end(), more.begin(), more.end());
    Ended ended = run(words);
    if (ended.exit_code != 0) throw std::runtime_error(ended.err);
    return ended;
  }
};

TEST_F(Ties, SayHowFarAndWhatWouldResolveThem) {
  const std::string policies = "carve_out,sliced,warp_specialized";
  const std::string table = compare(policies).out;
  EXPECT_THAT(
      table.substr(0, table.find("\n\n")),
      ContainsRegex("tied with[ \n]+CARVE_OUT, SLICED \\(0\\.[0-9]+ %[ \n]+slower,[ \n]+told[ \n]+apart[ \n]+from[ \n]+[0-9]+\\.[0-9]+ %"));
  EXPECT_THAT(table,
              AllOf(ContainsRegex("\n +rank +policy +tied with +slower % +told apart from %\n"),
                    ContainsRegex("\n +1 +CARVE_OUT +WARP_SPECIALIZED +0\\.[0-9]+ +[0-9]+\\.[0-9]+\n"),
                    ContainsRegex("\n +1 +SLICED +WARP_SPECIALIZED +0\\.[0-9]+ +[0-9]+\\.[0-9]+\n--fold exact would resolve ")));

  configs::Comparison comparison;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(compare(policies, {"--format", "json"}).out, &comparison).ok());
  const configs::Result& carved_out = comparison.results(0);
  EXPECT_EQ(numbers(carved_out), numbers(comparison.results(1))) << "the same run";
  EXPECT_EQ(carved_out.rank(), 1);
  EXPECT_EQ(carved_out.tie().fastest(), "WARP_SPECIALIZED");
  EXPECT_LT(carved_out.tie().slower(), carved_out.tie().told_apart_from());
  const configs::Result& fastest = comparison.results(2);
  EXPECT_FALSE(fastest.has_tie());
  EXPECT_LE(carved_out.fold().total_error_bound(), carved_out.fold().error_bound());

  const std::string csv = compare(policies, {"--format", "csv"}).out;
  EXPECT_THAT(csv, AllOf(HasSubstr(",rank,tie_fastest,tie_slower,tie_told_apart_from,"),
                         ContainsRegex(",1,WARP_SPECIALIZED,0\\.00[0-9]+,0\\.[0-9]+,"), ContainsRegex(",1,,,,")));
}

TEST_F(Ties, AreResolvedByFoldExact) {
  const std::string table = compare("carve_out,sliced,warp_specialized", {"--fold", "exact"}).out;
  EXPECT_THAT(table, AllOf(HasSubstr(" times as\n  fast as CARVE_OUT; "), ContainsRegex("\nWARP_SPECIALIZED +1 "),
                           ContainsRegex("\n +2 +SLICED +CARVE_OUT +0\\.00 +0\\.00\n"), Not(HasSubstr("--fold exact"))));
}

// Nothing would tell them apart.
TEST_F(Ties, OfTheSameRunAreTheSameTime) {
  EXPECT_THAT(compare("carve_out,sliced").out, AllOf(HasSubstr("tied with SLICED (the same time);"),
                                                     HasSubstr("cycles within 10.00 %"), Not(HasSubstr("--fold exact"))));
}

}  // namespace
}  // namespace warpfold::cli
