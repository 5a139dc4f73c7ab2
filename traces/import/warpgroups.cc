#include "traces/import/warpgroups.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>

namespace warpfold::sass {
namespace {

constexpr size_t kWarps = 4;  // of a warpgroup

using Behaviour = isa::Behaviour;

template <typename Value>
using Four = std::array<const Value*, kWarps>;

class Uniter {
 public:
  Uniter(const std::vector<Op>& ops, Exploration& found) : ops_(ops), found_(found) {}

  void unite() {
    for (CtaBox& box : found_.boxes) {
      for (size_t first = 0; first + kWarps <= box.paths.size(); first += kWarps)
        unite(std::span(box.paths).subspan(first, kWarps));
    }
  }

 private:
  void unite(std::span<int> warps) {
    if (std::ranges::count(warps, warps.front()) == std::ssize(warps)) return;
    Four<Path> paths{};
    std::ranges::transform(warps, paths.begin(), [this](int path) { return &found_.paths[static_cast<size_t>(path)]; });
    if (!multiplies(*paths.front())) return;
    auto one = united(paths);
    if (!one) return;
    auto known = std::ranges::find(found_.paths, *one);
    const auto path = static_cast<int>(known - found_.paths.begin());
    if (known == found_.paths.end()) found_.paths.push_back(*std::move(one));
    std::ranges::fill(warps, path);
  }

  Behaviour behaviour(const Step& step) const { return ops_[static_cast<size_t>(step.op)].behaviour; }

  bool multiplies(const Path& path) const {
    return std::ranges::any_of(path, [this](const PathNode& node) {
      if (const auto* loop = std::get_if<PathLoop>(&node)) return multiplies(loop->body);
      return std::ranges::any_of(std::get<std::vector<Step>>(node),
                                 [this](const Step& step) { return behaviour(step) == Behaviour::kWgmma; });
    });
  }

  // What the warps do together; none where they go different ways.
  std::optional<Path> united(const Four<Path>& paths) const {
    Path result;
    for (size_t i = 0; i < paths.front()->size(); ++i) {
      Four<std::vector<Step>> steps{};
      Four<PathLoop> loops{};
      for (size_t w = 0; w < kWarps; ++w) {
        if (paths[w]->size() != paths.front()->size()) return std::nullopt;
        steps[w] = std::get_if<std::vector<Step>>(&(*paths[w])[i]);
        loops[w] = std::get_if<PathLoop>(&(*paths[w])[i]);
        if ((loops[w] == nullptr) != (loops.front() == nullptr)) return std::nullopt;
      }
      auto node = loops.front() != nullptr ? united_loop(loops) : united_steps(steps);
      if (!node) return std::nullopt;
      result.push_back(*std::move(node));
    }
    return result;
  }

  std::optional<PathNode> united_loop(const Four<PathLoop>& loops) const {
    Four<Path> bodies{};
    for (size_t w = 0; w < kWarps; ++w) {
      if (loops[w]->trips != loops.front()->trips) return std::nullopt;
      bodies[w] = &loops[w]->body;
    }
    auto body = united(bodies);
    if (!body) return std::nullopt;
    return PathLoop{loops.front()->trips, *std::move(body)};
  }

  std::optional<PathNode> united_steps(const Four<std::vector<Step>>& runs) const {
    std::vector<Step> result;
    for (size_t i = 0; i < runs.front()->size(); ++i) {
      std::array<Step, kWarps> steps;
      for (size_t w = 0; w < kWarps; ++w) {
        if (runs[w]->size() != runs.front()->size()) return std::nullopt;
        steps[w] = (*runs[w])[i];
      }
      const auto step = united_step(steps);
      if (!step) return std::nullopt;
      result.push_back(*step);
    }
    return result;
  }

  std::optional<Step> united_step(const std::array<Step, kWarps>& steps) const {
    if (std::ranges::count(steps, steps.front()) == std::ssize(steps)) return steps.front();
    const auto issued = std::ranges::find(steps, false, &Step::off);
    if (issued == steps.end()) return std::nullopt;
    Step result = *issued;
    const bool arrives = behaviour(result) == Behaviour::kMbarrierArrive;
    if (!arrives && (result.mbarrier.address >= 0 || result.effect != isa::Effect{})) return std::nullopt;
    result.mbarrier.value = 0;
    result.mbarrier.reaches = 0;
    for (const Step& step : steps) {
      if (step.op != result.op || step.ends != result.ends) return std::nullopt;
      if (step.off) continue;
      if (step.effect != result.effect || step.mbarrier.address != result.mbarrier.address) return std::nullopt;
      result.mbarrier.value += step.mbarrier.value;
      result.mbarrier.reaches |= step.mbarrier.reaches;
    }
    if (!arrives) result.mbarrier = {};
    if (arrives) {
      const uint32_t parts = std::gcd(result.mbarrier.value, uint32_t{kWarps});
      result.mbarrier.value /= parts;
      result.mbarrier.warps = static_cast<uint8_t>(kWarps / parts);
    }
    return result;
  }

  const std::vector<Op>& ops_;
  Exploration& found_;
};

}  // namespace

void unite_warpgroups(const std::vector<Op>& ops, Exploration& found) { Uniter(ops, found).unite(); }

}  // namespace warpfold::sass
