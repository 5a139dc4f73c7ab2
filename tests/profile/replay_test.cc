// The step with other times of its kernels.

#include "tools/profile/replay.h"

#include <gmock/gmock.h>

namespace warpfold::profile {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

Profile step(const std::vector<Launch>& launches) {
  Profile profile;
  profile.shapes.resize(4);
  profile.launches = launches;
  return profile;
}

std::vector<double> starts(const std::vector<LaunchSpan>& spans) {
  std::vector<double> starts;
  starts.reserve(spans.size());
  for (const LaunchSpan& span : spans) starts.push_back(span.start_us);
  return starts;
}

constexpr uint32_t kA = 0, kB = 1, kC = 2, kD = 3;

TEST(Replay, WithTheMeasuredTimesIsTheProfile) {
  const Profile profile = step({{kA, 7, 100, 10}, {kB, 7, 112, 8}, {kC, 20, 115, 10}, {Launch::kCopy, 7, 121, 2}, {kD, 7, 126, 4}});
  EXPECT_THAT(starts(replayed(profile, {0, 0, 0, 0})), ElementsAre(0, 12, 15, 21, 26));
  EXPECT_THAT(starts(replayed(profile, {10, 8, 10, 4})), ElementsAre(0, 12, 15, 21, 26));
}

// The example of the header: gaps and overlaps stay.
TEST(Replay, KeepsGapsAndOverlaps) {
  const Profile profile = step({{kA, 7, 0, 10}, {kB, 7, 12, 8}, {kC, 20, 15, 10}, {kD, 7, 26, 4}});
  EXPECT_THAT(starts(replayed(profile, {5, 0, 0, 0})), ElementsAre(0, 7, 10, 21));
}

// B takes longer: D waits for the end of B in its stream.
TEST(Replay, AStreamHasOneLaunchAtATime) {
  const Profile profile = step({{kA, 7, 0, 10}, {kB, 7, 11, 5}, {kC, 20, 11, 20}, {kD, 7, 17, 2}});
  EXPECT_THAT(starts(replayed(profile, {0, 40, 0, 0})), ElementsAre(0, 11, 11, 52));
}

// A programmatic launch starts before its stream's last one has ended.
TEST(Replay, KeepsOverlapsInAStream) {
  const Profile profile = step({{kA, 7, 0, 10}, {kB, 7, 8, 10}});
  EXPECT_THAT(starts(replayed(profile, {20, 0, 0, 0})), ElementsAre(0, 18));
  EXPECT_THAT(starts(replayed(profile, {1, 0, 0, 0})), ElementsAre(0, DoubleNear(8, 1e-9)));
}

TEST(Replay, OfNothingIsNothing) { EXPECT_TRUE(replayed({}, {}).empty()); }

}  // namespace
}  // namespace warpfold::profile
