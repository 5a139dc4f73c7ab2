#include "traces/import/merged_path.h"

#include <algorithm>
#include <utility>

namespace warpfold::sass {
namespace {

// True if the two are equal except for trip counts.
bool alike(const std::vector<MergedNode>& nodes, const Path& path);

bool alike(const MergedNode& node, const PathNode& other) {
  const auto* steps = std::get_if<std::vector<Step>>(&other);
  if (node.loop != (steps == nullptr)) return false;
  return node.loop ? alike(node.body, std::get<PathLoop>(other).body) : node.steps == *steps;
}

bool alike(const std::vector<MergedNode>& nodes, const Path& path) {
  if (nodes.size() != path.size()) return false;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!alike(nodes[i], path[i])) return false;
  }
  return true;
}

std::vector<MergedNode> merged(const std::vector<MergedNode>& nodes, const Path& path, size_t classes);

// Creates a node for the last class. Earlier classes have no passes of it.
MergedNode fresh(const PathNode& node, size_t classes) {
  MergedNode result;
  result.passes.assign(classes, 0);
  if (const auto* steps = std::get_if<std::vector<Step>>(&node)) {
    result.steps = *steps;
    result.passes.back() = 1;
    return result;
  }
  const PathLoop& loop = std::get<PathLoop>(node);
  result.loop = true;
  result.passes.back() = loop.trips;
  result.body = merged({}, loop.body, classes);
  return result;
}

void extend(MergedNode& node) {
  node.passes.push_back(0);
  for (MergedNode& inner : node.body) extend(inner);
}

// Sets the passes of the last class in a node that it shares.
void take_part(MergedNode& node, const PathNode& other) {
  if (!node.loop) {
    node.passes.back() = 1;
    return;
  }
  const PathLoop& loop = std::get<PathLoop>(other);
  node.passes.back() = loop.trips;
  for (size_t i = 0; i < node.body.size(); ++i) take_part(node.body[i], loop.body[i]);
}

// Splits the first differing nodes, counted from the front (split_front) or the back (split_back). If both are blocks,
// their common part becomes a block of its own.
void split_front(std::vector<MergedNode>& nodes, Path& path) {
  size_t at = 0;
  while (at < nodes.size() && at < path.size() && alike(nodes[at], path[at])) ++at;
  if (at >= nodes.size() || at >= path.size() || nodes[at].loop) return;
  auto* steps = std::get_if<std::vector<Step>>(&path[at]);
  if (steps == nullptr) return;
  const auto common = std::ranges::mismatch(nodes[at].steps, *steps).in2 - steps->begin();
  if (common == 0) return;
  const auto place = static_cast<std::ptrdiff_t>(at);
  if (common < std::ssize(nodes[at].steps)) {
    MergedNode front = nodes[at];
    front.steps.resize(static_cast<size_t>(common));
    nodes[at].steps.erase(nodes[at].steps.begin(), nodes[at].steps.begin() + common);
    nodes.insert(nodes.begin() + place, std::move(front));
  }
  if (common < std::ssize(*steps)) {
    std::vector<Step> front(steps->begin(), steps->begin() + common);
    steps->erase(steps->begin(), steps->begin() + common);
    path.insert(path.begin() + place, PathNode(std::move(front)));
  }
}

void split_back(std::vector<MergedNode>& nodes, Path& path) {
  size_t at = 0;  // index from the back
  while (at < nodes.size() && at < path.size() && alike(nodes[nodes.size() - 1 - at], path[path.size() - 1 - at])) ++at;
  if (at >= nodes.size() || at >= path.size()) return;
  MergedNode& node = nodes[nodes.size() - 1 - at];
  auto* steps = std::get_if<std::vector<Step>>(&path[path.size() - 1 - at]);
  if (node.loop || steps == nullptr) return;
  size_t common = 0;
  while (common < node.steps.size() && common < steps->size() &&
         node.steps[node.steps.size() - 1 - common] == (*steps)[steps->size() - 1 - common]) {
    ++common;
  }
  if (common == 0) return;
  const auto behind = static_cast<std::ptrdiff_t>(at);
  if (common < node.steps.size()) {
    MergedNode back = node;
    back.steps.erase(back.steps.begin(), back.steps.end() - static_cast<std::ptrdiff_t>(common));
    node.steps.resize(node.steps.size() - common);
    nodes.insert(nodes.end() - behind, std::move(back));
  }
  if (common < steps->size()) {
    std::vector<Step> back(steps->end() - static_cast<std::ptrdiff_t>(common), steps->end());
    steps->resize(steps->size() - common);
    path.insert(path.end() - behind, PathNode(std::move(back)));
  }
}

// Merges a path by the longest common subsequence. `nodes` are already extended to `classes` classes.
std::vector<MergedNode> merged(const std::vector<MergedNode>& nodes, const Path& path, size_t classes) {
  const size_t rows = nodes.size();
  const size_t columns = path.size();
  std::vector<std::vector<uint32_t>> length(rows + 1, std::vector<uint32_t>(columns + 1, 0));
  for (size_t i = rows; i-- > 0;) {
    for (size_t j = columns; j-- > 0;) {
      length[i][j] = alike(nodes[i], path[j]) ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
    }
  }
  std::vector<MergedNode> result;
  size_t i = 0;
  size_t j = 0;
  while (i < rows || j < columns) {
    if (i < rows && j < columns && alike(nodes[i], path[j])) {
      result.push_back(nodes[i++]);
      take_part(result.back(), path[j++]);
    } else if (j == columns || (i < rows && length[i + 1][j] >= length[i][j + 1])) {
      result.push_back(nodes[i++]);
    } else {
      result.push_back(fresh(path[j++], classes));
    }
  }
  return result;
}

}  // namespace

std::vector<MergedNode> merge_paths(const std::vector<const Path*>& paths) {
  std::vector<MergedNode> nodes;
  for (size_t c = 0; c < paths.size(); ++c) {
    for (MergedNode& node : nodes) extend(node);
    Path path = *paths[c];
    split_front(nodes, path);
    split_back(nodes, path);
    nodes = merged(nodes, path, c + 1);
  }
  return nodes;
}

}  // namespace warpfold::sass
