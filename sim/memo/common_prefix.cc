#include "sim/memo/common_prefix.h"
#include "sim/sm/sm_snapshot.h"

#include <algorithm>

namespace warpfold::sim {
namespace {

// A loop that neither leaves at its first test, and the follower not before the leader.
bool begins_alike(uint64_t leaders, uint64_t followers) { return leaders == followers || (leaders >= 2 && leaders < followers); }

// Whether a CTA of the leader's class represents one of the follower's: both begin alike, and the class has represented no other.
bool represents(uint32_t leaders, uint32_t followers, const traces::Kernel& kernel, const ClassMap& class_of) {
  const auto known = class_of.find(leaders);
  if (known != class_of.end()) return known->second == followers;
  return std::ranges::equal(kernel.cta_classes[leaders].values, kernel.cta_classes[followers].values, begins_alike);
}

CommonPrefix::OfLaunch prefix_of_launch(const CtaList& leader, const CtaList& follower, const traces::Kernel& kernel) {
  CommonPrefix::OfLaunch result;
  result.differs.assign(kernel.parameters.size(), false);
  size_t l = 0;
  size_t f = 0;
  uint64_t l_done = 0;  // of the run
  uint64_t f_done = 0;
  while (l < leader.size() && f < follower.size()) {
    const uint32_t leaders = leader[l].cta_class;
    const uint32_t followers = follower[f].cta_class;
    if (!represents(leaders, followers, kernel, result.class_of)) return result;
    result.class_of[leaders] = followers;
    for (size_t p = 0; p < result.differs.size(); ++p) {
      if (kernel.cta_classes[leaders].values[p] != kernel.cta_classes[followers].values[p]) result.differs[p] = true;
    }
    const uint64_t step = std::min(leader[l].count - l_done, follower[f].count - f_done);
    result.ctas += step;
    l_done += step;
    f_done += step;
    if (l_done == leader[l].count) l_done = 0, ++l;
    if (f_done == follower[f].count) f_done = 0, ++f;
  }
  result.all = l == leader.size() && f == follower.size();
  return result;
}

}  // namespace

// Whether a CTA is left is an answer as well: each places the last common CTA for itself.
bool prefix_exhausted(const CommonPrefix::OfLaunch& launch, uint64_t placed) { return !launch.all && placed + 1 >= launch.ctas; }

std::optional<CommonPrefix> common_prefix(const std::vector<CtaList>& leader, const std::vector<CtaList>& follower,
                                          const std::vector<KernelImage>& images, bool one_at_a_time) {
  CommonPrefix result;
  for (size_t l = 0; l < images.size(); ++l) {
    const auto& of_launch = result.launches.emplace_back(prefix_of_launch(leader[l], follower[l], *images[l].kernel));
    if (prefix_exhausted(of_launch, 0) || !(of_launch.all || one_at_a_time)) return std::nullopt;
    for (const auto& [leaders, followers] : of_launch.class_of) result.same_classes &= leaders == followers;
  }
  return result;
}

bool diverges(const CommonPrefix& prefix, const Sm& leader) {
  for (size_t l = 0; l < prefix.launches.size(); ++l) {
    const CommonPrefix::OfLaunch& launch = prefix.launches[l];
    if (prefix_exhausted(launch, leader.state().progress[l].placed)) return true;
    if (on_last_trip(leader, static_cast<int>(l), launch.differs)) return true;
  }
  return false;
}

bool equal_work_left(const CommonPrefix& prefix, const Sm& leader) {
  for (size_t l = 0; l < prefix.launches.size(); ++l) {
    const CommonPrefix::OfLaunch& launch = prefix.launches[l];
    if (leader.state().progress[l].ready == kNever || leader.state().launch_done(static_cast<int>(l))) continue;
    const auto renamed = [](const auto& entry) { return entry.first != entry.second; };
    if (!launch.all || std::ranges::any_of(launch.class_of, renamed)) return false;
  }
  return true;
}

std::vector<CtaList> common_ctas(const std::vector<CtaList>& leader, const std::vector<const CommonPrefix*>& followers) {
  std::vector<CtaList> common = leader;
  for (size_t l = 0; l < common.size(); ++l) {
    uint64_t left = kNever;
    for (const CommonPrefix* follower : followers) left = std::min(left, follower->launches[l].ctas);
    for (traces::CtaRun& run : common[l]) {
      run.count = std::min(run.count, left);
      left -= run.count;
    }
    std::erase_if(common[l], [](const traces::CtaRun& run) { return run.count == 0; });
  }
  return common;
}

}  // namespace warpfold::sim
