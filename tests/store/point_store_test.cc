#include "tools/warpfold/store/point_store.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "sim/engine/interrupt.h"
#include "tools/warpfold/store/point_claims.h"

namespace warpfold::cli {
namespace {

namespace fs = std::filesystem;

class Store : public testing::Test {
 protected:
  Store() {
    std::string name = (fs::temp_directory_path() / "warpfold-store-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Store() override { fs::remove_all(folder_); }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  std::string points() const { return (folder_ / "points").string(); }
  std::string folder(const std::string& name) const {
    fs::create_directories(folder_ / name);
    return (folder_ / name).string();
  }
  static std::vector<std::string> keys(size_t count) {
    std::vector<std::string> all;
    for (size_t i = 0; i < count; ++i) {
      std::string digits = std::to_string(i);
      all.push_back(std::string(16 - digits.size(), '0') + digits);
    }
    return all;
  }
  static configs::StudyPoint point(size_t i) {
    configs::StudyPoint made;
    configs::StudyRun& run = *made.add_run();
    run.set_policy("SEQUENTIAL");
    run.set_total_time_us(static_cast<double>(i) / 3);
    return made;
  }
  // Lines in all files of points: each a point that some process has simulated.
  size_t recorded() const {
    size_t lines = 0;
    for (const auto& entry : fs::directory_iterator(points())) {
      if (entry.path().extension() != ".points") continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) ++lines;
    }
    return lines;
  }
  // In a process of its own.
  template <typename Work>
  pid_t start(Work work) const {
    const pid_t child = fork();
    if (child == 0) {
      work();
      _exit(0);  // as a killed process: nothing is tidied up
    }
    return child;
  }
  static bool ended_well(pid_t child) {
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  fs::path folder_;
};

constexpr auto kNoWatch = [](size_t) {};

TEST_F(Store, SimulatesEachPointOnceWithManyThreads) {
  const auto store = PointStore::open(points()).value();
  const auto plan = keys(500);
  std::vector<std::atomic<int>> times(plan.size());
  std::atomic<size_t> most{0};
  const auto simulate = [&](size_t i) -> Outcome<configs::StudyPoint> {
    ++times[i];
    return point(i);
  };
  ASSERT_TRUE(store->finish(plan, 4, PointStore::Others::kAwait, simulate, [&](size_t done) {
    for (size_t seen = most; seen < done && !most.compare_exchange_weak(seen, done);) {
    }
  }));
  EXPECT_EQ(most, plan.size());
  EXPECT_TRUE(std::ranges::all_of(times, [](const auto& each) { return each == 1; }));
  EXPECT_EQ(recorded(), plan.size());
  configs::StudyPoint found;
  ASSERT_TRUE(store->log().find(plan[7], found));
  EXPECT_EQ(found.run(0).total_time_us(), 7.0 / 3);
  EXPECT_FALSE(store->log().find("ffffffffffffffff", found));
  // All there: nothing is simulated.
  ASSERT_TRUE(store->finish(plan, 4, PointStore::Others::kAwait, simulate, kNoWatch));
  EXPECT_EQ(recorded(), plan.size());
}

TEST_F(Store, IsSharedByProcesses) {
  constexpr size_t kPoints = 300;
  std::array<pid_t, 4> children{};
  for (pid_t& child : children) {
    child = start([&] {
      const auto store = PointStore::open(points()).value();
      const auto simulate = [](size_t i) -> Outcome<configs::StudyPoint> {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return point(i);
      };
      if (!store->finish(keys(kPoints), 2, PointStore::Others::kAwait, simulate, kNoWatch)) _exit(1);
      for (const std::string& key : keys(kPoints)) {
        if (!store->log().has(key)) _exit(2);
      }
    });
  }
  for (const pid_t child : children) EXPECT_TRUE(ended_well(child));
  EXPECT_EQ(recorded(), kPoints);
}

// Another process finished the points and removed the plan after this process opened the store.
TEST_F(Store, ReadsTheLogBehindItsClaim) {
  const auto plan = keys(20);
  const auto late = PointStore::open(points()).value();
  const auto early = PointStore::open(points()).value();
  ASSERT_TRUE(early->finish(
      plan, 1, PointStore::Others::kAwait, [](size_t i) -> Outcome<configs::StudyPoint> { return point(i); }, kNoWatch));
  early->forget_plan(plan);
  size_t by_late = 0;
  ASSERT_TRUE(late->finish(
      plan, 1, PointStore::Others::kAwait,
      [&](size_t i) -> Outcome<configs::StudyPoint> {
        ++by_late;
        return point(i);
      },
      kNoWatch));
  EXPECT_EQ(by_late, 0);
  EXPECT_EQ(recorded(), plan.size());
}

TEST_F(Store, TakesOverWhatAKilledProcessHasClaimed) {
  const auto plan = keys(40);
  const pid_t child = start([&] {
    const auto store = PointStore::open(points()).value();
    (void)store->finish(
        plan, 1, PointStore::Others::kAwait,
        [](size_t i) -> Outcome<configs::StudyPoint> {
          if (i == 10) _exit(0);
          return point(i);
        },
        kNoWatch);
  });
  ASSERT_TRUE(ended_well(child));
  ASSERT_EQ(recorded(), 10);
  const auto store = PointStore::open(points()).value();
  std::set<size_t> simulated;
  ASSERT_TRUE(store->finish(
      plan, 1, PointStore::Others::kAwait,
      [&](size_t i) -> Outcome<configs::StudyPoint> {
        simulated.insert(i);
        return point(i);
      },
      kNoWatch));
  EXPECT_EQ(simulated.size(), 30);
  EXPECT_EQ(*simulated.begin(), 10);
  EXPECT_EQ(recorded(), plan.size());
}

// A task of an array does not wait for the others, and a point's failure is not the store's.
TEST_F(Store, LeavesToOthersWhatTheyHaveClaimed) {
  const auto plan = keys(2);
  const auto first = PointStore::open(points()).value();
  const auto second = PointStore::open(points()).value();
  size_t by_second = 0;
  ASSERT_TRUE(first->finish(
      plan, 1, PointStore::Others::kAwait,
      [&](size_t i) -> Outcome<configs::StudyPoint> {
        if (i == 0) {
          EXPECT_TRUE(second->finish(
              plan, 1, PointStore::Others::kLeave,
              [&](size_t other) -> Outcome<configs::StudyPoint> {
                ++by_second;
                return point(other);
              },
              kNoWatch));
        }
        return point(i);
      },
      kNoWatch));
  EXPECT_EQ(by_second, 1);
  EXPECT_EQ(recorded(), 2);
}

TEST_F(Store, StopsWithAFailureAndWithAnInterrupt) {
  const auto store = PointStore::open(points()).value();
  const auto plan = keys(20);
  const auto failed = store->finish(
      plan, 2, PointStore::Others::kAwait,
      [](size_t i) -> Outcome<configs::StudyPoint> {
        if (i == 5) return user_error("no such file");
        return point(i);
      },
      kNoWatch);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().text, "no such file");
  EXPECT_THROW((void)store->finish(
                   keys(30), 2, PointStore::Others::kAwait,
                   [](size_t i) -> Outcome<configs::StudyPoint> {
                     if (i == 25) sim::stop_wanted() = true;
                     sim::stop_if_wanted();
                     return point(i);
                   },
                   kNoWatch),
               sim::Interrupted);
  sim::stop_wanted() = false;
}

TEST_F(Store, ReadsThePlanThatItWrote) {
  const auto store = PointStore::open(points()).value();
  const auto plan = store->write_plan(keys(3)).value();
  EXPECT_EQ(store->read_plan(plan).value(), keys(3));
  EXPECT_FALSE(store->read_plan("0123456789abcdef"));
  store->forget_plan(keys(3));
  EXPECT_FALSE(store->read_plan(plan));
}

TEST_F(Store, ClaimsDoNotOverlap) {
  const std::string file = folder("claims") + "/plan";
  const auto first = PointClaims::open(file).value();
  const auto third = PointClaims::open(file).value();
  std::optional<PointClaims> second(PointClaims::open(file).value());
  const auto claim = [](const PointClaims& claims, size_t begin, size_t most) {
    const auto range = claims.claim(begin, 10, most).value();
    return std::pair(range.begin, range.end);
  };
  EXPECT_EQ(claim(first, 3, 2), std::pair(size_t{3}, size_t{5}));
  EXPECT_EQ(claim(*second, 0, 5), std::pair(size_t{0}, size_t{3}));  // up to the claim of the first
  EXPECT_EQ(claim(*second, 4, 4), std::pair(size_t{5}, size_t{9}));  // behind it
  EXPECT_EQ(claim(third, 0, 100), std::pair(size_t{9}, size_t{10}));
  EXPECT_FALSE(first.claim(5, 9, 4));  // nothing is left
  first.release({3, 5});
  EXPECT_EQ(claim(third, 0, 4), std::pair(size_t{3}, size_t{5}));
  second.reset();  // the end of a process releases all of its claims
  EXPECT_EQ(claim(third, 0, 3), std::pair(size_t{0}, size_t{3}));
}

TEST_F(Store, TwoProcessesOfOneNameHaveTwoLogs) {
  PointLog one(points());
  PointLog other(points());
  ASSERT_TRUE(one.open());
  ASSERT_TRUE(other.open());
  ASSERT_TRUE(one.append(keys(2)[0], 1, point(0)));
  ASSERT_TRUE(other.append(keys(2)[1], 1, point(1)));
  EXPECT_EQ(std::distance(fs::directory_iterator(points()), {}), 2);
}

}  // namespace
}  // namespace warpfold::cli
