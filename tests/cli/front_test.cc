// Pareto fronts: which runs dominate others beyond their error bounds.

#include "tools/warpfold/figures/study_front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpfold::cli {
namespace {

using testing::ElementsAre;

// A study over SMs, whose runs take `time` within `bound`.
class StudyFront : public testing::Test {
 protected:
  StudyFront() {
    study_.add_axis()->set_name("sms");
    study_.add_policy(configs::SEQUENTIAL);
  }
  void add(const std::string& sms, double time, double bound) {
    study_.mutable_axis(0)->add_value(sms);
    configs::StudyRun& run = *records_[{sms}].add_run();
    run.set_policy("SEQUENTIAL");
    run.set_estimator("simulation");
    run.set_total_time_us(time);
    run.set_error_bound(bound);
  }
  FrontRuns front(const std::vector<std::string>& minimize, const std::vector<std::string>& maximize = {}) const {
    configs::Front front;
    for (const std::string& each : minimize) front.add_minimize(each);
    for (const std::string& each : maximize) front.add_maximize(each);
    return front_of(study_, front, records_).value();
  }
  static std::vector<std::string> labels(const FrontRuns& runs) {
    std::vector<std::string> all;
    for (const MeasuredRun& each : runs.best) all.push_back(each.label);
    return all;
  }

  configs::Study study_;
  PointRecords records_;
};

TEST_F(StudyFront, AnExactRunDominatesASlowerAndLargerOne) {
  add("60", 110, 0);
  add("70", 100, 0);
  add("80", 100.01, 0);
  const FrontRuns runs = front({"total_time_us", "sms"});
  EXPECT_THAT(labels(runs), ElementsAre("sms=70", "sms=60"));
  EXPECT_EQ(runs.all.size(), 3);
  EXPECT_THAT(runs.best.front().values, ElementsAre(100, 70));
}

TEST_F(StudyFront, ARunDominatesOnlyBeyondTheBoundsOfBoth) {
  add("70", 100, 0.005);
  add("80", 100.9, 0.005);  // 100.5 and 100.4: either may be the faster one
  add("90", 101.1, 0.005);  // 100.5 and 100.59
  add("95", 101.1, 0.001);
  EXPECT_THAT(labels(front({"total_time_us", "sms"})), ElementsAre("sms=70", "sms=80"));
}

TEST_F(StudyFront, ABoundIsOfEachMeasureThatHasTheTimeInIt) {
  add("70", 100, 0.01);
  add("80", 101, 0.01);
  EXPECT_THAT(labels(front({"sms", "sms * total_time_us"})), ElementsAre("sms=70"));  // 7,070 and 7,999
  EXPECT_THAT(labels(front({"sms", "total_time_us - sms"})), ElementsAre("sms=70", "sms=80"));
}

TEST_F(StudyFront, MoreIsBetterWhereAMeasureIsMaximized) {
  add("70", 100, 0);
  add("80", 100, 0);
  add("90", 90, 0);
  EXPECT_THAT(labels(front({"total_time_us"}, {"1 / sms"})), ElementsAre("sms=90", "sms=70"));
  EXPECT_THAT(labels(front({"total_time_us"}, {"sms"})), ElementsAre("sms=90"));
}

}  // namespace
}  // namespace warpfold::cli
