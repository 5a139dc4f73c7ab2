#include "sim/plan/epochs.h"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <iterator>
#include <numeric>
#include <utility>

namespace warpfold::sim {

namespace {

// Returns [launch][other]: the launch waits for the other one, directly or not. `depends_on`: result of dependences().
std::vector<boost::dynamic_bitset<>> closure(const std::vector<std::vector<int>>& depends_on) {
  const size_t launches = depends_on.size();
  std::vector<boost::dynamic_bitset<>> waits(launches, boost::dynamic_bitset<>(launches));
  for (size_t l = 0; l < launches; ++l) {
    for (const int d : depends_on[l]) waits[l].set(static_cast<size_t>(d));
  }
  for (size_t by = 0; by < launches; ++by) {
    for (size_t l = 0; l < launches; ++l) {
      if (waits[l].test(by)) waits[l] |= waits[by];
    }
  }
  return waits;
}

}  // namespace

std::vector<std::vector<int>> dependences(const std::vector<Launch>& launches, bool serialise) {
  std::vector<std::vector<int>> result(launches.size());
  for (size_t l = 0; l < launches.size(); ++l) {
    result[l] = launches[l].after;
    for (size_t earlier = 0; earlier < l; ++earlier) {
      if (serialise || launches[earlier].stream == launches[l].stream) result[l].push_back(static_cast<int>(earlier));
    }
  }
  return result;
}

std::vector<Epoch> epochs_of(const std::vector<Launch>& launches, bool serialise) {
  const auto waits = closure(dependences(launches, serialise));
  Epoch order(launches.size());
  for (size_t l = 0; l < order.size(); ++l) order[l] = l;
  // A launch that waits for itself, directly or not, never runs: leave all launches in one epoch.
  if (std::ranges::any_of(order, [&](size_t l) { return waits[l].test(l); })) return {order};
  // A launch that waits for more launches comes later.
  std::ranges::stable_sort(order, {}, [&](size_t l) { return waits[l].count(); });
  // by_all: launches that all launches from position `at` on wait for. waited_for[at]: how many of them come before
  // `at`.
  boost::dynamic_bitset<> by_all(launches.size());
  by_all.set();
  std::vector<size_t> waited_for(launches.size());
  boost::dynamic_bitset<> before(launches.size());
  before.set();
  for (size_t at = order.size(); at-- > 0;) {
    by_all &= waits[order[at]];
    before.reset(order[at]);
    waited_for[at] = (by_all & before).count();
  }
  std::vector<Epoch> epochs;
  for (size_t at = 0; at < order.size(); ++at) {
    if (waited_for[at] == at) epochs.emplace_back();
    epochs.back().push_back(order[at]);
  }
  for (Epoch& epoch : epochs) std::ranges::sort(epoch);
  return epochs;
}

std::vector<Launch> launches_of(const std::vector<Launch>& launches, const Epoch& epoch) {
  std::vector<Launch> own;
  for (const size_t l : epoch) {
    Launch& launch = own.emplace_back(launches[l]);
    std::vector<int> after;
    for (const int other : launch.after) {
      const auto place = std::ranges::lower_bound(epoch, static_cast<size_t>(other));
      if (place != epoch.end() && *place == static_cast<size_t>(other)) after.push_back(static_cast<int>(place - epoch.begin()));
    }
    launch.after = std::move(after);
  }
  // Renumber streams: only which launches share one, and the order of streams, has an effect.
  std::vector<int> streams;
  for (const Launch& launch : own) streams.push_back(launch.stream);
  std::ranges::sort(streams);
  streams.erase(std::ranges::unique(streams).begin(), streams.end());
  for (Launch& launch : own) launch.stream = static_cast<int>(std::ranges::lower_bound(streams, launch.stream) - streams.begin());
  if (own.size() == 1) {
    Launch alone;
    alone.kernel = own.front().kernel;
    alone.early = own.front().early;
    alone.sms = own.front().sms;
    own.front() = std::move(alone);
  }
  return own;
}

std::vector<std::vector<PlacementBounds>> bounds_of_epoch(const std::vector<std::vector<PlacementBounds>>& bounds,
                                                          const Epoch& epoch) {
  if (epoch.size() == 1) return {};
  std::vector<std::vector<PlacementBounds>> own;
  for (const std::vector<PlacementBounds>& each : bounds) {
    own.emplace_back();
    for (const size_t l : epoch) own.back().push_back(each[l]);
  }
  return own;
}

}  // namespace warpfold::sim
