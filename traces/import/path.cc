#include "traces/import/path.h"

#include <utility>

namespace warpfold::sass {

bool PathLoop::operator==(const PathLoop& other) const { return trips == other.trips && body == other.body; }

uint64_t issued_on(const Path& path) {
  uint64_t issued = 0;
  for (const PathNode& node : path) {
    const auto* steps = std::get_if<std::vector<Step>>(&node);
    issued += steps != nullptr ? steps->size() : std::get<PathLoop>(node).trips * issued_on(std::get<PathLoop>(node).body);
  }
  return issued;
}

uint64_t hash_of(const Path& path) {
  constexpr uint64_t kPrime = 0x9e3779b97f4a7c15;
  uint64_t hash = path.size();
  const auto add = [&hash](uint64_t value) { hash = (hash ^ value) * kPrime ^ hash >> 29; };
  for (const PathNode& node : path) {
    if (const auto* loop = std::get_if<PathLoop>(&node)) {
      add(loop->trips);
      add(hash_of(loop->body));
      continue;
    }
    for (const Step& step : std::get<std::vector<Step>>(node)) {
      add(static_cast<uint64_t>(step.op) << 2 | (step.off ? 2U : 0U) | (step.ends ? 1U : 0U));
      add(uint64_t{step.effect.bytes} << 32 | uint64_t{step.effect.l2_passes} << 16 | step.effect.wavefronts);
    }
  }
  return hash;
}

void add_step(Path& path, Step step) {
  if (path.empty() || !std::holds_alternative<std::vector<Step>>(path.back())) path.emplace_back(std::vector<Step>{});
  std::get<std::vector<Step>>(path.back()).push_back(step);
}

void add_loop(Path& path, Path body, uint64_t trips) {
  if (!path.empty()) {
    auto* last = std::get_if<PathLoop>(&path.back());
    if (last != nullptr && last->body == body) {
      last->trips += trips;
      return;
    }
  }
  path.emplace_back(PathLoop{trips, std::move(body)});
}

}  // namespace warpfold::sass
