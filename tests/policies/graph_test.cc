#include "workloads/policies/graph.h"

#include <gtest/gtest.h>

#include "configs/load.h"

namespace warpfold::policies {
namespace {

configs::Scenario scenario(const std::string& text) {
  configs::Scenario parsed;
  const auto done = configs::parse_text("scenario", text, parsed);
  EXPECT_TRUE(done) << done.error().text();
  return parsed;
}

// d waits for a by way of c, which stands behind it in the file, and of b.
TEST(Graph, PrecedenceGoesThroughOtherKernelsWhereverTheyStand) {
  const configs::Scenario four = scenario(R"(
    kernel { name: "a" stream: 0 }
    kernel { name: "d" stream: 1 after: "c" }
    kernel { name: "b" stream: 2 after: "a" }
    kernel { name: "c" stream: 3 after: "b" }
    kernel { name: "e" stream: 4 after: "a" })");
  const Graph graph(four);
  const auto precedes = [&](const char* one, const char* other) { return graph.precedes(graph.index(one), graph.index(other)); };
  EXPECT_TRUE(precedes("a", "d"));
  EXPECT_TRUE(precedes("b", "d"));
  EXPECT_TRUE(precedes("a", "c"));
  EXPECT_FALSE(precedes("d", "a"));
  EXPECT_FALSE(precedes("e", "d"));
  EXPECT_EQ(graph.partners(graph.index("e")), (std::vector<int>{1, 2, 3}));
}

// Every kernel of a stream precedes all later ones; the cost of the pairs among 3,000 kernels shows in the time of the test.
TEST(Graph, OfALongStream) {
  std::string text;
  constexpr int kKernels = 3000;
  for (int k = 0; k < kKernels; ++k) text += "kernel { name: \"k" + std::to_string(k) + "\" }\n";
  const configs::Scenario many = scenario(text);
  const Graph graph(many);
  EXPECT_TRUE(graph.precedes(0, kKernels - 1));
  EXPECT_FALSE(graph.precedes(kKernels - 1, 0));
  EXPECT_TRUE(graph.partners(kKernels / 2).empty());
}

}  // namespace
}  // namespace warpfold::policies
