// The user's ranges in a profile: record_function of torch.profiler, NVTX of Nsight Systems.

#include "tools/profile/ranges.h"

#include <gmock/gmock.h>

#include "tools/profile/independence.h"
#include "tools/profile/kineto_reader.h"
#include "tools/profile/occupied.h"

namespace warpfold::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A trace of ranges, calls and their kernels, in microseconds.
class Trace {
 public:
  Trace& range(const std::string& name, int begin, int us) {
    return event("user_annotation", name, begin, us, 1, "{}").event("gpu_user_annotation", name, begin + 90, us, 7, "{}");
  }
  // A call at `at` on a thread, of a kernel that starts at `starts`.
  Trace& launch(const std::string& kernel, int at, int thread, int starts, int us) {
    const std::string correlation = R"({"correlation": )" + std::to_string(++launches_);
    event("cuda_runtime", "cudaLaunchKernel", at, 1, thread, correlation + "}");
    return event("kernel", kernel, starts, us, 7, correlation + R"(, "stream": )" + std::to_string(launches_ % 2) + "}");
  }
  Trace& copy(int at, int starts) {
    const std::string correlation = R"({"correlation": )" + std::to_string(++launches_) + "}";
    event("cuda_runtime", "cudaMemcpyAsync", at, 1, 1, correlation);
    return event("gpu_memcpy", "Memcpy HtoD", starts, 1, 7, correlation);
  }
  Profile read() const {
    auto source = traces::accelsim::source_of("trace.json", "[" + events_ + "]");
    return read_kineto("trace.json", std::move(source.value())).value();
  }

 private:
  Trace& event(const std::string& category, const std::string& name, int begin, int us, int thread, const std::string& args) {
    events_ += (events_.empty() ? "" : ",\n") + (R"({"ph": "X", "cat": ")" + category) + R"(", "name": ")" + name +
               R"(", "tid": )" + std::to_string(thread) + R"(, "ts": )" + std::to_string(begin) + R"(, "dur": )" +
               std::to_string(us) + R"(, "args": )" + args + "}";
    return *this;
  }
  std::string events_{};
  int launches_ = 0;
};

std::vector<std::string> names_of(const Profile& profile) {
  std::vector<std::string> names;
  for (const Launch& launch : profile.launches)
    names.push_back(launch.shape == Launch::kCopy ? "copy" : profile.shapes[launch.shape].name);
  return names;
}

// The call decides, not the kernel's own time: kernels run long after their range has ended. All instances count, a call on another
// thread too, and one in a range within the range.
TEST(Ranges, KeepTheLaunchesThatTheyCall) {
  const Profile whole = Trace()
                            .range("layer0", 10, 10)
                            .range("layer1", 20, 10)
                            .range("attention", 22, 4)
                            .range("layer0", 40, 10)
                            .launch("before", 5, 1, 100, 2)
                            .launch("f", 12, 1, 110, 2)
                            .launch("g", 24, 1, 120, 2)
                            .copy(28, 130)
                            .launch("f", 45, 2, 140, 2)
                            .launch("h", 60, 1, 150, 2)
                            .read();
  EXPECT_THAT(whole.ranges, ElementsAre("layer0", "layer1", "attention"));
  const auto kept = [&](const std::string& name) {
    Profile profile = whole;
    EXPECT_TRUE(keep_range(name, profile)) << name;
    return profile;
  };
  EXPECT_THAT(names_of(kept("layer0")), ElementsAre("f", "f"));
  EXPECT_THAT(names_of(kept("layer1")), ElementsAre("g", "copy"));
  EXPECT_THAT(names_of(kept("attention")), ElementsAre("g"));
  EXPECT_EQ(kept("layer1").shapes.size(), 1) << "kernels without a launch are removed";
}

// A kernel beside one outside the range does not count as alone.
TEST(Ranges, RemovedLaunchesStillOverlap) {
  Profile profile =
      Trace().range("a", 10, 10).launch("f", 12, 1, 100, 10).launch("g", 30, 1, 105, 10).launch("f", 14, 1, 200, 10).read();
  ASSERT_TRUE(keep_range("a", profile));
  EXPECT_THAT(occupied(profile).beside, ElementsAre(true, false));
}

TEST(Ranges, AnUnknownNameListsTheNamesThatThereAre) {
  Profile profile = Trace().range("layer0", 10, 10).range("idle", 50, 1).launch("f", 12, 1, 100, 2).read();
  EXPECT_EQ(keep_range("layer", profile).error().message, R"(no range is called "layer"; there are "layer0", "idle")");
  EXPECT_EQ(keep_range("idle", profile).error().message, R"(no kernel was launched in a range called "idle")");
  EXPECT_EQ(profile.launches.size(), 1);
  Profile none = Trace().launch("f", 12, 1, 100, 2).read();
  EXPECT_THAT(keep_range("x", none).error().message, HasSubstr("the profile has no ranges"));
  Trace many;
  for (int r = 0; r < 25; ++r) many.range("r" + std::to_string(r), r, 1);
  Profile names = many.launch("f", 12, 1, 100, 2).read();
  EXPECT_THAT(keep_range("x", names).error().message, HasSubstr(R"("r19" and 5 more)"));
}

// The same kernel in two towers becomes two kernels; ranges that no statement names do not split it.
TEST(Ranges, TellLaunchesApartIfAStatementNamesThem) {
  Profile profile = Trace()
                        .range("step", 0, 90)
                        .range("tower_a", 10, 10)
                        .range("tower_b", 20, 10)
                        .launch("f", 12, 1, 100, 2)
                        .launch("f", 22, 1, 110, 2)
                        .launch("f", 32, 1, 120, 2)
                        .launch("f", 14, 1, 130, 2)
                        .read();
  Profile whole = profile;
  Independence towers;
  ASSERT_TRUE(towers.add("tower_a,tower_b"));
  tell_ranges_apart([&](const std::string& range) { return towers.names(range); }, profile);
  ASSERT_EQ(profile.shapes.size(), 3);
  EXPECT_THAT(profile.shapes[0].ranges, ElementsAre("tower_a"));
  EXPECT_THAT(profile.shapes[1].ranges, ElementsAre("tower_b"));
  EXPECT_THAT(profile.shapes[2].ranges, IsEmpty());
  EXPECT_EQ(profile.launches[3].shape, 0);
  const std::vector<std::string> a{"f", "tower_a"}, b{"f", "tower_b"}, neither{"f"};
  EXPECT_TRUE(towers.states(a, b));
  EXPECT_TRUE(towers.states(b, a));
  EXPECT_FALSE(towers.states(a, a));
  EXPECT_FALSE(towers.states(a, neither));
  tell_ranges_apart([](const std::string&) { return false; }, whole);
  EXPECT_EQ(whole.shapes.size(), 1);
}

}  // namespace
}  // namespace warpfold::profile
