#include "tools/profile/neighbours.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace warpfold::profile {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// For each launch, the shape of the nearest launch before it (or after it) whose name `near` matches; kNone: there is none.
std::vector<uint32_t> shapes_near(const NameTable& names, const NameRule& rule, const Profile& profile) {
  std::vector<bool> matches(profile.shapes.size());
  for (size_t s = 0; s < profile.shapes.size(); ++s) matches[s] = names.is_near(rule, profile.shapes[s].name);
  std::vector<uint32_t> near(profile.launches.size(), kNone);
  uint32_t last = kNone;
  const size_t count = profile.launches.size();
  for (size_t i = 0; i < count; ++i) {
    const size_t l = rule.near().after() ? count - 1 - i : i;
    const uint32_t shape = profile.launches[l].shape;
    near[l] = last;
    if (shape != Launch::kCopy && matches[shape]) last = shape;
  }
  return near;
}

// The turns of launches, which come in order of their starts.
class Turns {
 public:
  uint32_t of(const NamedKernel& named) {
    const uint32_t turns = NameTable::turns(named);
    if (named.sequence == nullptr) return launches_[named.rule]++ % turns;
    uint32_t& layers = launches_[named.sequence];  // that have ended
    uint32_t layer = layers;
    if (named.rule->place() == AT) ++layers;
    if (named.rule->place() == AFTER) layer += turns - 1;
    return NameTable::equal_turn(named, layer % turns);
  }

 private:
  std::map<const void*, uint32_t> launches_;  // of a rule or a sequence
};

}  // namespace

void tell_apart(const NameTable& names, Profile& profile) {
  std::vector<NamedKernel> named;
  for (const LaunchShape& shape : profile.shapes) named.push_back(names.find(shape));
  const auto stated = [](const NamedKernel& each) { return each.rule != nullptr && each.rule->sizes() == STATED; };
  if (std::ranges::none_of(named, stated)) return;
  std::map<const NameRule*, std::vector<uint32_t>> near;
  Turns turns;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> known;  // shape, turn, shape of the launch near it
  std::vector<LaunchShape> shapes;
  std::vector<uint32_t> shape_of;
  for (size_t l = 0; l < profile.launches.size(); ++l) {
    const uint32_t shape = profile.launches[l].shape;
    shape_of.push_back(shape);
    if (shape == Launch::kCopy) continue;
    const NameRule* rule = named[shape].rule;
    uint32_t turn = 0;
    uint32_t neighbour = kNone;
    if (stated(named[shape])) {
      turn = turns.of(named[shape]);
      if (rule->has_near()) {
        if (!near.contains(rule)) near[rule] = shapes_near(names, *rule, profile);
        neighbour = near[rule][l];
      }
    }
    const auto [found, added] = known.try_emplace({shape, turn, neighbour}, static_cast<uint32_t>(shapes.size()));
    if (added) {
      LaunchShape& each = shapes.emplace_back(profile.shapes[shape]);
      each.turn = turn;
      each.has_near = neighbour != kNone;
      if (each.has_near) each.near_grid = profile.shapes[neighbour].grid;
      if (each.has_near) each.near_shared_memory_bytes = profile.shapes[neighbour].shared_memory_bytes;
    }
    shape_of.back() = found->second;
  }
  for (size_t l = 0; l < shape_of.size(); ++l) profile.launches[l].shape = shape_of[l];
  profile.shapes = std::move(shapes);
}

}  // namespace warpfold::profile
