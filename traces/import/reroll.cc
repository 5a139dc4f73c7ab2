#include "traces/import/reroll.h"

#include <algorithm>
#include <utility>

namespace warpfold::sass {
namespace {

// Appends a node. Loops of one pass are replaced by their body.
void append_opened(Path& path, PathNode node) {
  if (auto* steps = std::get_if<std::vector<Step>>(&node)) {
    for (const Step& step : *steps) add_step(path, step);
    return;
  }
  auto& loop = std::get<PathLoop>(node);
  if (loop.trips > 1) {
    add_loop(path, std::move(loop.body), loop.trips);
    return;
  }
  for (PathNode& inner : loop.body) append_opened(path, std::move(inner));
}

// Returns the shortest body whose repetition gives `path`, and the number of passes.
std::pair<Path, uint64_t> in_passes(Path path) {
  const auto* steps = path.size() == 1 ? std::get_if<std::vector<Step>>(&path.front()) : nullptr;
  if (steps == nullptr) return {std::move(path), 1};
  for (size_t length = 1; 2 * length <= steps->size(); ++length) {
    if (steps->size() % length != 0) continue;
    if (!std::equal(steps->begin() + static_cast<std::ptrdiff_t>(length), steps->end(), steps->begin())) continue;
    const uint64_t passes = steps->size() / length;
    return {Path{std::vector<Step>(steps->begin(), steps->begin() + static_cast<std::ptrdiff_t>(length))}, passes};
  }
  return {std::move(path), 1};
}

}  // namespace

Path rerolled(const Path& path) {
  Path result;
  for (const PathNode& node : path) {
    if (const auto* steps = std::get_if<std::vector<Step>>(&node)) {
      for (const Step& step : *steps) add_step(result, step);
      continue;
    }
    const auto& loop = std::get<PathLoop>(node);
    Path opened;
    for (PathNode& inner : rerolled(loop.body)) append_opened(opened, std::move(inner));
    auto [body, passes] = in_passes(std::move(opened));
    add_loop(result, std::move(body), loop.trips * passes);
  }
  return result;
}

}  // namespace warpfold::sass
