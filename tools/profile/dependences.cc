#include "tools/profile/dependences.h"

#include <algorithm>
#include <bitset>
#include <deque>
#include <unordered_map>

namespace warpfold::profile {
namespace {

// Launches that are this far apart are not paired, and a dependence on an earlier one is not followed: a memory bound.
constexpr size_t kWindow = 4096;
constexpr size_t kNever = SIZE_MAX;

class Pairing {
 public:
  Pairing(const Profile& profile, const ExecutionTrace& trace, uint32_t groups, std::span<const uint32_t> group_of_launch)
      : profile_(profile), trace_(trace), group_of_(group_of_launch), waiting_(size_t{groups} * groups) {
    result_.known.resize(groups);
  }

  IndependentPairs take() {
    for (size_t l = 0; l < profile_.launches.size(); ++l) {
      std::bitset<kWindow>& mine = ancestors_[l % kWindow];
      mine.reset();
      const StorageUse* const use = use_of(l);
      const uint32_t group = group_of_[l];
      if (use == nullptr) {
        ++result_.unknown_launches;
        continue;
      }
      follow(l, *use);
      if (group == kNoGroup) continue;
      ++result_.known[group];
      pair(l, group);
    }
    return std::move(result_);
  }

 private:
  struct Storage {
    size_t writer = kNever;
    std::deque<size_t> readers;  // since the writer, within the window
  };

  const StorageUse* use_of(size_t l) const {
    const Launch& launch = profile_.launches[l];
    return launch.record == 0 ? nullptr : trace_.find(launch.record, profile_.operators[launch.op]);
  }

  bool near(size_t launch, size_t before) const { return before != kNever && before < launch && launch - before < kWindow; }

  void depend(size_t launch, size_t on) {
    if (!near(launch, on)) return;
    std::bitset<kWindow> theirs = ancestors_[on % kWindow];
    for (size_t later = on + 1; later <= launch; ++later) theirs.reset(later % kWindow);  // positions reused since
    theirs.set(on % kWindow);
    ancestors_[launch % kWindow] |= theirs;
  }

  void follow(size_t l, const StorageUse& use) {
    const Launch& launch = profile_.launches[l];
    // Kernels of one operator run in order.
    const auto [last, first] = last_of_record_.try_emplace(launch.record, l);
    if (!first) depend(l, std::exchange(last->second, l));
    for (const uint64_t storage : use.reads) depend(l, storages_[storage].writer);
    for (const uint64_t storage : use.writes) {
      Storage& written = storages_[storage];
      if (std::ranges::binary_search(use.reads, storage)) {
        for (const size_t reader : written.readers) depend(l, reader);
      }
      written = {l, {}};
    }
    for (const uint64_t storage : use.reads) {
      std::deque<size_t>& readers = storages_[storage].readers;
      while (!readers.empty() && !near(l, readers.front())) readers.pop_front();
      if (storages_[storage].writer != l) readers.push_back(l);
    }
  }

  // Pairs the launch with the nearest launch of each other group that waits for a partner and that it does not need.
  void pair(size_t launch, uint32_t group) {
    const auto groups = static_cast<uint32_t>(result_.known.size());
    for (uint32_t other = 0; other < groups; ++other) {
      if (other == group) continue;
      std::deque<size_t>& partners = waiting_[size_t{other} * groups + group];
      while (!partners.empty() && !near(launch, partners.front())) partners.pop_front();
      const auto needs = [&](size_t each) { return ancestors_[launch % kWindow].test(each % kWindow); };
      const auto partner = std::find_if_not(partners.rbegin(), partners.rend(), needs);
      if (partner == partners.rend()) {
        waiting_[size_t{group} * groups + other].push_back(launch);
        continue;
      }
      partners.erase(std::next(partner).base());
      ++result_.pairs[std::minmax(group, other)];
    }
  }

  const Profile& profile_;
  const ExecutionTrace& trace_;
  std::span<const uint32_t> group_of_;
  std::vector<std::bitset<kWindow>> ancestors_ =
      std::vector<std::bitset<kWindow>>(kWindow);  // by launch modulo the window: launches of the window that it needs
  std::unordered_map<uint64_t, Storage> storages_{};
  std::unordered_map<uint64_t, size_t> last_of_record_{};
  std::vector<std::deque<size_t>> waiting_;  // launches of the first group that have no partner of the second
  IndependentPairs result_{};
};

}  // namespace

IndependentPairs independent_pairs(const Profile& profile, const ExecutionTrace& trace, uint32_t groups,
                                   std::span<const uint32_t> group_of_launch) {
  return Pairing(profile, trace, groups, group_of_launch).take();
}

}  // namespace warpfold::profile
