#include "traces/import/roll.h"

#include <algorithm>
#include <map>

#include "isa/block_border.h"
#include "isa/control_code_assigner.h"
#include "traces/connect.h"
#include "traces/import/merged_path.h"

namespace warpfold::sass {
namespace {

// Returns the path without its last EXIT, which occurs once at the end of the role.
Path without_end(Path path) {
  if (path.empty()) return path;
  if (auto* steps = std::get_if<std::vector<Step>>(&path.back())) {
    if (!steps->empty() && steps->back().ends) steps->pop_back();
    if (steps->empty()) path.pop_back();
    return path;
  }
  // The end is in the last pass of a loop, which therefore has one pass.
  auto& loop = std::get<PathLoop>(path.back());
  Path inner = without_end(std::move(loop.body));
  path.pop_back();
  for (PathNode& node : inner) path.push_back(std::move(node));
  return path;
}

// Merges adjacent sequences of steps into one.
Path flattened(const Path& path) {
  Path result;
  for (const PathNode& node : path) {
    if (const auto* steps = std::get_if<std::vector<Step>>(&node)) {
      for (const Step& step : *steps) add_step(result, step);
    } else {
      const PathLoop& loop = std::get<PathLoop>(node);
      result.emplace_back(PathLoop{loop.trips, flattened(loop.body)});
    }
  }
  return result;
}

constexpr uint32_t kWarpsOfGroup = 4;

class Roller {
 public:
  Roller(const Exploration& found, const std::vector<Op>& ops, const LaunchFacts& launch, const isa::Architecture& architecture,
         bool has_control, traces::Kernel& kernel)
      : found_(found), ops_(ops), launch_(launch), architecture_(architecture), has_control_(has_control), kernel_(kernel) {}

  void roll() {
    find_classes();
    for (const Path& path : found_.paths) paths_.push_back(flattened(without_end(path)));
    uint32_t first = 0;
    const uint32_t warps = launch_.warps();
    while (first < warps) {
      uint32_t next = first + 1;
      const bool one_warpgroup = multiplies_in_warpgroups(first);
      while (next < warps && same_in_all_classes(first, next) && !(one_warpgroup && next % kWarpsOfGroup == 0)) ++next;
      add_role(first, next - first);
      first = next;
    }
    add_grid();
  }

 private:
  // Boxes whose warps take equal paths form one class.
  void find_classes() {
    std::map<std::vector<int>, uint32_t> known;
    for (const CtaBox& box : found_.boxes) {
      const auto [at, fresh] = known.emplace(box.paths, static_cast<uint32_t>(classes_.size()));
      if (fresh) classes_.push_back(&box.paths);
      class_of_box_.push_back(at->second);
    }
    kernel_.cta_classes.assign(classes_.size(), {});
  }

  bool same_in_all_classes(uint32_t a, uint32_t b) const {
    return std::ranges::all_of(classes_, [a, b](const std::vector<int>* paths) { return (*paths)[a] == (*paths)[b]; });
  }

  // True if the warp issues wgmma. The four warps of a warpgroup issue it together, so each warpgroup becomes a
  // role.
  bool multiplies_in_warpgroups(uint32_t warp) const {
    return std::ranges::any_of(classes_, [&](const std::vector<int>* paths) {
      bool found = false;
      for_each_step(paths_[static_cast<size_t>((*paths)[warp])],
                    [&](const Step& step) { found |= ops_[static_cast<size_t>(step.op)].behaviour == isa::Behaviour::kWgmma; });
      return found;
    });
  }

  void add_role(uint32_t first, uint32_t warps) {
    std::vector<const Path*> ways;
    for (const std::vector<int>* paths : classes_) ways.push_back(&paths_[static_cast<size_t>((*paths)[first])]);
    traces::Role role;
    role.warps = warps;
    role.body = nodes_of(merge_paths(ways), std::vector<uint64_t>(classes_.size(), 1));
    add_end(role.body, (*classes_.front())[first]);
    if (has_control_) {
      uncount(role.body);
    } else {
      assign(role.body);
      uncount(role.body);
      traces::connect(architecture_, role.body, traces::Waits::kInInstructions);
    }
    role.name = warps == launch_.warps() ? "all"
                : warps == 1             ? "warp" + std::to_string(first)
                                         : "warps" + std::to_string(first) + "-" + std::to_string(first + warps - 1);
    kernel_.roles.push_back(std::move(role));
  }

  // `around`: number of times that each class runs the surrounding node.
  std::vector<traces::Node> nodes_of(const std::vector<MergedNode>& merged, const std::vector<uint64_t>& around) {
    std::vector<traces::Node> nodes;
    for (const MergedNode& node : merged) {
      const traces::TripCount trips = trips_of(node.passes, around);
      std::vector<traces::Node> body;
      if (node.loop) {
        body = nodes_of(node.body, node.passes);
      } else {
        traces::Block block;
        for (const Step& step : node.steps) block.code.push_back(instruction_of(step));
        body.emplace_back(std::move(block));
      }
      if (trips.parameter < 0 && trips.literal == 1) {
        for (traces::Node& inner : body) append(nodes, std::move(inner));
      } else {
        nodes.emplace_back(traces::Loop{trips, std::move(body)});
      }
    }
    return nodes;
  }

  static void append(std::vector<traces::Node>& nodes, traces::Node node) {
    auto* block = std::get_if<traces::Block>(&node);
    if (block != nullptr && !nodes.empty()) {
      if (auto* last = std::get_if<traces::Block>(&nodes.back())) {
        last->code.insert(last->code.end(), std::make_move_iterator(block->code.begin()),
                          std::make_move_iterator(block->code.end()));
        return;
      }
    }
    nodes.push_back(std::move(node));
  }

  // Returns the trip count. Classes that never reach the node get the count of the others.
  traces::TripCount trips_of(std::vector<uint64_t> passes, const std::vector<uint64_t>& around) {
    uint64_t usual = 1;
    for (size_t c = 0; c < passes.size(); ++c) usual = around[c] > 0 ? passes[c] : usual;
    for (size_t c = 0; c < passes.size(); ++c) passes[c] = around[c] > 0 ? passes[c] : usual;
    if (std::ranges::all_of(passes, [usual](uint64_t count) { return count == usual; })) return {.literal = usual};
    const auto known = parameter_of_.find(passes);
    if (known != parameter_of_.end()) return {.parameter = known->second};
    const auto parameter = static_cast<int32_t>(kernel_.parameters.size());
    parameter_of_.emplace(passes, parameter);
    kernel_.parameters.push_back("trips" + std::to_string(parameter));
    for (size_t c = 0; c < passes.size(); ++c) kernel_.cta_classes[c].values.push_back(passes[c]);
    return {.parameter = parameter};
  }

  isa::Instruction instruction_of(const Step& step) const {
    isa::Instruction instruction = *ops_[static_cast<size_t>(step.op)].instruction;
    if (step.off) instruction.guard = {.present = true, .negated = true};
    instruction.effect = step.effect;
    return instruction;
  }

  // Appends the EXIT of the first class's path, without its guard.
  void add_end(std::vector<traces::Node>& body, int path) const {
    isa::Instruction end = *ops_[static_cast<size_t>(last_op(found_.paths[static_cast<size_t>(path)]))].instruction;
    end.guard = {};
    end.effect = {};
    append(body, traces::Block{{std::move(end)}});
  }

  static int last_op(const Path& path) {
    const PathNode& last = path.back();
    if (const auto* steps = std::get_if<std::vector<Step>>(&last)) return steps->back().op;
    return last_op(std::get<PathLoop>(last).body);
  }

  void uncount(std::vector<traces::Node>& body) const {
    for (traces::Node& node : body) {
      if (auto* block = std::get_if<traces::Block>(&node)) {
        isa::remove_copy_counter(architecture_, block->code);
      } else {
        uncount(std::get<traces::Loop>(node).body);
      }
    }
  }

  void assign(std::vector<traces::Node>& body, bool in_loop = false) const {
    for (traces::Node& node : body) {
      if (auto* block = std::get_if<traces::Block>(&node)) {
        isa::assign_control_codes(architecture_, block->code, in_loop && body.size() == 1);
      } else {
        assign(std::get<traces::Loop>(node).body, true);
      }
    }
  }

  // Sets the class of each CTA in launch order, as runs.
  void add_grid() {
    for (size_t c = 0; c < classes_.size(); ++c) kernel_.cta_classes[c].name = "class" + std::to_string(c);
    const auto add = [this](uint32_t cta_class, uint64_t count) {
      if (!kernel_.grid.empty() && kernel_.grid.back().cta_class == cta_class) {
        kernel_.grid.back().count += count;
      } else {
        kernel_.grid.push_back({cta_class, count});
      }
    };
    if (classes_.size() == 1) return add(0, launch_.ctas());
    const std::array<uint32_t, 3> clusters = launch_.clusters();
    const auto places = launch_.places_in_cluster();
    // Clusters are launched one after another. Boxes divide x, y and z into ranges; all CTAs of a range take the same
    // paths.
    for (uint32_t z = 0; z < clusters[2]; ++z) {
      for (uint32_t y = 0; y < clusters[1]; ++y) {
        for (uint32_t x = 0; x < clusters[0];) {
          uint32_t count = 0;
          for (const std::array<uint32_t, 3>& place : places) {
            const size_t box = box_of(place, x, y, z);
            count = places.size() > 1 ? 1 : found_.boxes[box].corner[0] + found_.boxes[box].extent[0] - x;
            add(class_of_box_[box], count);
          }
          x += count;
        }
      }
    }
  }

  size_t box_of(const std::array<uint32_t, 3>& place, uint32_t x, uint32_t y, uint32_t z) {
    const auto inside = [&](const CtaBox& box) {
      const auto within = [](uint32_t value, uint32_t corner, uint32_t extent) {
        return value >= corner && value - corner < extent;
      };
      return box.place == place && within(x, box.corner[0], box.extent[0]) && within(y, box.corner[1], box.extent[1]) &&
             within(z, box.corner[2], box.extent[2]);
    };
    // The next box usually follows the last one.
    for (size_t i = 0; i < found_.boxes.size(); ++i) {
      const size_t at = (last_box_ + 1 + i) % found_.boxes.size();
      if (inside(found_.boxes[at])) return last_box_ = at;
    }
    return last_box_;
  }

  const Exploration& found_;
  const std::vector<Op>& ops_;
  const LaunchFacts& launch_;
  const isa::Architecture& architecture_;
  bool has_control_;
  traces::Kernel& kernel_;
  std::vector<Path> paths_;
  std::vector<const std::vector<int>*> classes_;
  std::vector<uint32_t> class_of_box_;
  std::map<std::vector<uint64_t>, int32_t> parameter_of_;
  size_t last_box_ = 0;
};

}  // namespace

void roll(const Exploration& found, const std::vector<Op>& ops, const LaunchFacts& launch, const isa::Architecture& architecture,
          bool has_control, traces::Kernel& kernel) {
  Roller(found, ops, launch, architecture, has_control, kernel).roll();
}

}  // namespace warpfold::sass
