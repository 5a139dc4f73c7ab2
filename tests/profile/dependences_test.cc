// Pairs of launches that do not depend on each other.

#include "tools/profile/dependences.h"

#include <gmock/gmock.h>

namespace warpfold::profile {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Launches of operators that read and write storages.
class Steps {
 public:
  explicit Steps(uint32_t groups) : groups_(groups) { profile_.operators = {"", "f"}; }
  void launch(uint32_t group, std::vector<uint64_t> reads, std::vector<uint64_t> writes) {
    profile_.launches.push_back({.shape = 0, .op = 1, .record = ++record_});
    of_.push_back(group);
    trace_.add(record_, {"f", std::move(reads), std::move(writes)});
  }
  void again(uint32_t group) {  // a second kernel of the last operator
    profile_.launches.push_back(profile_.launches.back());
    of_.push_back(group);
  }
  void unknown(uint32_t group) {
    profile_.launches.push_back({.shape = 0});
    of_.push_back(group);
  }
  IndependentPairs pairs() const { return independent_pairs(profile_, trace_, groups_, of_); }

 private:
  uint32_t groups_;
  Profile profile_{};
  std::vector<uint32_t> of_{};
  ExecutionTrace trace_{};
  uint64_t record_ = 0;
};

TEST(Dependences, OfAResultAreFollowedThroughOtherLaunches) {
  Steps steps(2);
  steps.launch(0, {1}, {2});
  steps.launch(kNoGroup, {2}, {3});
  steps.launch(1, {3}, {4});
  EXPECT_THAT(steps.pairs().pairs, IsEmpty());
}

TEST(Dependences, LaunchesOfOneArgumentAreIndependent) {
  Steps steps(2);
  steps.launch(0, {1}, {2});
  steps.launch(1, {1}, {3});
  EXPECT_THAT(steps.pairs().pairs, ElementsAre(Pair(Pair(0, 1), 1)));
}

// An operator that changes a storage waits for earlier readers of it. A new result may be at an address that was free.
TEST(Dependences, ChangesInPlaceComeAfterReaders) {
  Steps changes(2), renews(2);
  changes.launch(0, {1}, {2});
  changes.launch(1, {1, 5}, {1});
  EXPECT_THAT(changes.pairs().pairs, IsEmpty());
  renews.launch(0, {1}, {2});
  renews.launch(1, {5}, {1});
  EXPECT_THAT(renews.pairs().pairs, ElementsAre(Pair(Pair(0, 1), 1)));
}

TEST(Dependences, KernelsOfOneOperatorAreInOrder) {
  Steps steps(2);
  steps.launch(0, {1}, {2});
  steps.again(1);
  EXPECT_THAT(steps.pairs().pairs, IsEmpty());
}

TEST(Dependences, ALaunchHasOnePartnerOfAGroup) {
  Steps steps(3);
  steps.launch(0, {1}, {2});
  steps.launch(1, {3}, {4});
  steps.launch(1, {4}, {5});
  steps.launch(2, {6}, {7});
  EXPECT_THAT(steps.pairs().pairs, ElementsAre(Pair(Pair(0, 1), 1), Pair(Pair(0, 2), 1), Pair(Pair(1, 2), 1)));
}

TEST(Dependences, OfUnknownOperatorsAreCounted) {
  Steps steps(2);
  steps.launch(0, {1}, {2});
  steps.unknown(1);
  steps.unknown(kNoGroup);
  const IndependentPairs pairs = steps.pairs();
  EXPECT_THAT(pairs.pairs, IsEmpty());
  EXPECT_THAT(pairs.known, ElementsAre(1, 0));
  EXPECT_EQ(pairs.unknown_launches, 2);
}

// Positions in the window are used again: a launch far behind does not inherit what stood there.
TEST(Dependences, OfALongProfileStayThoseOfTheirLaunches) {
  Steps steps(2);
  for (uint64_t i = 0; i < 3000; ++i) {
    steps.launch(0, {10 * i}, {10 * i + 1});
    steps.launch(kNoGroup, {10 * i + 1}, {10 * i + 2});
    steps.launch(1, {10 * i + 2}, {10 * i + 10});
  }
  EXPECT_THAT(steps.pairs().pairs, IsEmpty()) << "a chain of 9,000 launches";
}

}  // namespace
}  // namespace warpfold::profile
