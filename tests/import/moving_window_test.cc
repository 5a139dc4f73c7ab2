// Lines that a moving run of bytes meets, solved and searched.

#include "traces/import/moving_window.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace warpfold::sass {
namespace {

bool meets(uint64_t address, uint64_t bytes, uint64_t every) {
  for (uint64_t line = address / access::kLineBytes; line <= (address + bytes - 1) / access::kLineBytes; ++line) {
    if (line % every == 0) return true;
  }
  return false;
}

RC_GTEST_PROP(MovingWindow, FindsThePassesThatASearchFinds, ()) {
  const auto every = *rc::gen::elementOf(std::vector<uint64_t>{1, 2, 3, 7, 31, 101});
  const auto stride = *rc::gen::oneOf(rc::gen::inRange<int64_t>(-5000, 5000),
                                      rc::gen::map(rc::gen::inRange<int64_t>(-99, 99), [](int64_t lines) { return lines * 128; }));
  const auto address = uint64_t{0x7f0010000000} + *rc::gen::inRange<uint64_t>(0, 100'000);
  const auto bytes = *rc::gen::inRange<uint64_t>(1, 2000);
  const auto count = *rc::gen::inRange<uint64_t>(0, 300);
  std::set<uint64_t> solved;
  MovingWindow(stride, every).for_each(address, bytes, count, [&](uint64_t pass) {
    RC_ASSERT(solved.insert(pass).second);
    return true;
  });
  for (uint64_t pass = 0; pass < count; ++pass) {
    const uint64_t at = address + pass * static_cast<uint64_t>(stride);
    // A run that may meet two lines at once is tried everywhere.
    if (meets(at, bytes, every)) RC_ASSERT(solved.contains(pass));
    if (bytes + access::kLineBytes - 1 < every * access::kLineBytes) RC_ASSERT(solved.contains(pass) == meets(at, bytes, every));
  }
}

// 128 bytes that move by 128: one pass in 67.
TEST(MovingWindow, CostsWhatIsFound) {
  uint64_t found = 0;
  MovingWindow(128, 67).for_each(0x7f0010000000, 128, 1'000'000, [&](uint64_t) { return ++found < 1'000'000; });
  EXPECT_NEAR(static_cast<double>(found), 1e6 / 67, 1);
}

TEST(MovingWindow, StopsWhereItIsTold) {
  int found = 0;
  MovingWindow(0, 67).for_each(0, 4, 1'000'000, [&](uint64_t) { return ++found < 10; });
  EXPECT_EQ(found, 10);
}

}  // namespace
}  // namespace warpfold::sass
