#include "tools/report/layered_layout.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace warpfold::report {
namespace {

const std::vector<Box> kBoxes{{100, 40}, {100, 60}, {80, 40}, {100, 90}, {100, 40}, {60, 20}};
// 0 over 1 and 2, 3 below both, 4 below 3 and (past two layers) 0; 5 is read by 4 alone.
const std::vector<Link> kLinks{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {0, 4}, {5, 4}};

// Boxes that nothing leads to come first in a caller's list too.
const std::vector<Box> kInOrder{kBoxes[5], kBoxes[0], kBoxes[1], kBoxes[2], kBoxes[3], kBoxes[4]};
const std::vector<Link> kLinksInOrder{{1, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 5}, {1, 5}, {0, 5}};

bool meet(const Point& a, const Box& box, const Point& b, const Box& other) {
  return a.x < b.x + other.width && b.x < a.x + box.width && a.y < b.y + other.height && b.y < a.y + box.height;
}

TEST(LayeredLayout, KeepsBoxesApartAndInside) {
  const Layered made = layered(kInOrder, kLinksInOrder);
  for (size_t i = 0; i < kInOrder.size(); ++i) {
    EXPECT_GE(made.corners[i].x, -1e-9);
    EXPECT_LE(made.corners[i].x + kInOrder[i].width, made.width + 1e-9);
    EXPECT_LE(made.corners[i].y + kInOrder[i].height, made.height + 1e-9);
    for (size_t j = i + 1; j < kInOrder.size(); ++j)
      EXPECT_FALSE(meet(made.corners[i], kInOrder[i], made.corners[j], kInOrder[j])) << i << " over " << j;
  }
}

TEST(LayeredLayout, RunsEdgesDownwards) {
  const Layered made = layered(kInOrder, kLinksInOrder, {.across = 20, .down = 30});
  for (const Link& link : kLinksInOrder) {
    const auto from = static_cast<size_t>(link.from);
    const auto to = static_cast<size_t>(link.to);
    EXPECT_GE(made.layers[to].top, made.layers[from].bottom + 30 - 1e-9);
  }
  // A box without incoming edges lies directly above its reader.
  EXPECT_DOUBLE_EQ(made.layers[0].top, made.layers[4].top);
}

// An edge past two layers enters and leaves each, beside their boxes.
TEST(LayeredLayout, BendsLongEdgesRoundBoxes) {
  const Layered made = layered(kInOrder, kLinksInOrder);
  EXPECT_TRUE(made.bends[0].empty());
  ASSERT_EQ(made.bends[5].size(), 4U);
  for (const Point& bend : made.bends[5]) {
    for (size_t i = 0; i < kInOrder.size(); ++i)
      EXPECT_FALSE(meet(made.corners[i], kInOrder[i], {bend.x - 1, bend.y - 1}, {2, 2})) << i;
  }
}

TEST(LayeredLayout, PutsALineOfBoxesInOneLine) {
  const Layered made = layered({{100, 20}, {50, 20}, {80, 20}}, {{0, 1}, {1, 2}});
  EXPECT_NEAR(made.corners[0].x + 50, made.corners[1].x + 25, 1e-9);
  EXPECT_NEAR(made.corners[1].x + 25, made.corners[2].x + 40, 1e-9);
  EXPECT_DOUBLE_EQ(made.width, 100);
}

TEST(LayeredLayout, TakesNothingAndRefusesEdgesUpwards) {
  EXPECT_EQ(layered({}, {}).width, 0);
  EXPECT_THROW(layered(kBoxes, kLinks), std::logic_error);  // the last box is above one before it
}

}  // namespace
}  // namespace warpfold::report
