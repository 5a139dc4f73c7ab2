#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "traces/import/merged_path.h"

// One program for several classes of CTAs follows in each class the path of that class.

namespace warpfold::sass {
namespace {

void expand(const Path& path, std::vector<int>& ops) {
  for (const PathNode& node : path) {
    if (const auto* steps = std::get_if<std::vector<Step>>(&node)) {
      for (const Step& step : *steps) ops.push_back(step.op);
    } else {
      const auto& loop = std::get<PathLoop>(node);
      for (uint64_t i = 0; i < loop.trips; ++i) expand(loop.body, ops);
    }
  }
}

void expand(const std::vector<MergedNode>& nodes, size_t cta_class, std::vector<int>& ops) {
  for (const MergedNode& node : nodes) {
    for (uint64_t i = 0; i < node.passes.at(cta_class); ++i) {
      for (const Step& step : node.steps) ops.push_back(step.op);
      expand(node.body, cta_class, ops);
    }
  }
}

Path random_path(int depth) {
  Path path;
  const int nodes = *rc::gen::inRange(1, 5);
  for (int i = 0; i < nodes; ++i) {
    if (depth < 2 && *rc::gen::inRange(0, 3) == 0) {
      path.emplace_back(PathLoop{static_cast<uint64_t>(*rc::gen::inRange(1, 4)), random_path(depth + 1)});
    } else {
      const int steps = *rc::gen::inRange(1, 4);
      for (int s = 0; s < steps; ++s) {
        Step step;
        step.op = *rc::gen::inRange(0, 4);
        add_step(path, step);
      }
    }
  }
  return path;
}

RC_GTEST_PROP(MergedPath, EveryClassKeepsItsPath, ()) {
  std::vector<Path> paths;
  const int classes = *rc::gen::inRange(1, 5);
  for (int c = 0; c < classes; ++c) paths.push_back(random_path(0));
  std::vector<const Path*> all;
  for (const Path& path : paths) all.push_back(&path);
  const std::vector<MergedNode> merged = merge_paths(all);
  for (size_t c = 0; c < paths.size(); ++c) {
    std::vector<int> before;
    std::vector<int> after;
    expand(paths[c], before);
    expand(merged, c, after);
    RC_ASSERT(before == after);
  }
}

TEST(MergedPath, LoopsThatDifferInTripsAreOne) {
  const auto path = [](uint64_t trips) {
    Path body;
    add_step(body, {.op = 1, .off = false, .ends = false, .effect = {}});
    Path result;
    add_step(result, {.op = 0, .off = false, .ends = false, .effect = {}});
    add_loop(result, body, trips);
    return result;
  };
  const Path three = path(3);
  const Path five = path(5);
  const std::vector<MergedNode> merged = merge_paths({&three, &five});
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[1].passes, (std::vector<uint64_t>{3, 5}));
}

}  // namespace
}  // namespace warpfold::sass
