#include "tools/profile/ranges.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "configs/escape/quoted.h"
#include "tools/profile/occupied.h"

namespace warpfold::profile {
namespace {

std::string names_of(const Profile& profile) {
  constexpr size_t kMostNames = 20;
  std::string names;
  for (size_t r = 0; r < std::min(profile.ranges.size(), kMostNames); ++r)
    names += (r > 0 ? ", " : "") + escape::quoted(profile.ranges[r]);
  if (profile.ranges.size() > kMostNames) names += " and " + std::to_string(profile.ranges.size() - kMostNames) + " more";
  return names;
}

// Renumbers the launches' shapes in the order of their first launch: launches with equal keys have one shape. `made` completes a
// shape that a key begins.
template <typename Key, typename KeyOf, typename Made>
void reshape(Profile& profile, KeyOf key_of, Made made) {
  std::map<Key, uint32_t> known;
  std::vector<LaunchShape> shapes;
  for (Launch& launch : profile.launches) {
    if (launch.shape == Launch::kCopy) continue;
    const Key key = key_of(launch);
    const auto [found, added] = known.try_emplace(key, static_cast<uint32_t>(shapes.size()));
    if (added) made(shapes.emplace_back(profile.shapes[launch.shape]), key);
    launch.shape = found->second;
  }
  profile.shapes = std::move(shapes);
}

}  // namespace

Expected<void> keep_range(const std::string& name, Profile& profile) {
  const auto found = std::ranges::find(profile.ranges, name);
  if (found == profile.ranges.end()) {
    const std::string asked = "no range is called " + escape::quoted(name);
    return profile.ranges.empty() ? fail(asked + ": the profile has no ranges (record_function, NVTX)")
                                  : fail(asked + "; there are " + names_of(profile));
  }
  const auto range = static_cast<uint32_t>(found - profile.ranges.begin());
  std::vector<bool> within;  // by set of ranges
  for (const std::vector<uint32_t>& set : profile.range_sets) within.push_back(std::ranges::find(set, range) != set.end());
  const std::vector<bool> beside = occupied(profile).beside;
  std::vector<Launch> kept;
  std::vector<bool> kept_beside;
  bool kernel = false;
  for (size_t l = 0; l < profile.launches.size(); ++l) {
    if (!within[profile.launches[l].ranges]) continue;
    kept.push_back(profile.launches[l]);
    kept_beside.push_back(beside[l]);
    kernel = kernel || profile.launches[l].shape != Launch::kCopy;
  }
  if (!kernel) return fail("no kernel was launched in a range called " + escape::quoted(name));
  profile.launches = std::move(kept);
  profile.beside = std::move(kept_beside);
  reshape<uint32_t>(
      profile, [](const Launch& launch) { return launch.shape; }, [](const LaunchShape&, uint32_t) {});
  return {};
}

void tell_ranges_apart(const std::function<bool(const std::string&)>& counts, Profile& profile) {
  std::vector<bool> counted;
  for (const std::string& name : profile.ranges) counted.push_back(counts(name));
  if (std::ranges::none_of(counted, [](bool each) { return each; })) return;
  std::vector<std::vector<uint32_t>> sets = profile.range_sets;
  for (std::vector<uint32_t>& set : sets) std::erase_if(set, [&](uint32_t range) { return !counted[range]; });
  using Key = std::pair<uint32_t, std::vector<uint32_t>>;
  reshape<Key>(
      profile, [&](const Launch& launch) { return Key(launch.shape, sets[launch.ranges]); },
      [&](LaunchShape& shape, const Key& key) {
        for (const uint32_t range : key.second) shape.ranges.push_back(profile.ranges[range]);
      });
}

}  // namespace warpfold::profile
