#include "traces/import/path.h"

#include <utility>

namespace warpfold::sass {

bool PathLoop::operator==(const PathLoop& other) const { return trips == other.trips && body == other.body; }

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
