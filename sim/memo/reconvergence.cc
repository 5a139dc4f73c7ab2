#include "sim/memo/reconvergence.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace warpfold::sim {
namespace {

// Warps in the same places with the same trips left. Their serial numbers are only names.
bool same_trips(const Trips& one, const Trips& other) {
  return one.left == other.left && std::ranges::equal(one.warps, other.warps, [](const Trips::OfWarp& a, const Trips::OfWarp& b) {
           return a.launch == b.launch && a.depth == b.depth;
         });
}

}  // namespace

bool reconverge(const Snapshot& one, const Snapshot& other) {
  return one.key == other.key && one.levels == other.levels && one.classes == other.classes && one.moments == other.moments &&
         one.counts.size() == other.counts.size() && same_trips(one.trips, other.trips);
}

std::vector<CtaList> continued(const std::vector<CtaList>& leader_ctas, const Sm& leader, const std::vector<CtaList>& ctas,
                               const Sm& sm) {
  std::vector<CtaList> result;
  for (size_t l = 0; l < ctas.size(); ++l) {
    const auto launch = static_cast<int>(l);
    CtaList list = part_of(leader_ctas[l], 0, leader.state().progress[launch].placed);
    std::ranges::copy(part_of(ctas[l], sm.state().progress[launch].placed), std::back_inserter(list));
    result.push_back(part_of(list, 0));
  }
  return result;
}

uint64_t weight_of_what_is_left(const std::vector<CtaList>& ctas, const Sm& sm, const std::vector<KernelImage>& images) {
  uint64_t sum = 0;
  for (size_t l = 0; l < ctas.size(); ++l) {
    for (const traces::CtaRun& run : part_of(ctas[l], sm.state().progress[l].placed)) {
      const std::vector<uint64_t>& values = images[l].kernel->cta_classes[run.cta_class].values;
      sum += run.count * std::accumulate(values.begin(), values.end(), uint64_t{1});
    }
  }
  return sum;
}

void PastDifference::add_counts(Sm& own, const Snapshot& own_state, Sm& leader, const Snapshot& leader_state) {
  counts.resize(own_state.counts.size());
  for (size_t i = 0; i < own_state.counts.size(); ++i) counts[i] += own_state.counts[i] - leader_state.counts[i];
  if (account) {
    account->add_rows(own.account());
  } else {
    account = own.account();
  }
  account->subtract_rows(leader.account());
  launches.resize(own.state().launches.size());
  for (size_t l = 0; l < launches.size(); ++l) {
    const LaunchProgress& progress = own.state().progress[l];
    Times& times = launches[l];
    if (progress.start == kNever) continue;
    if (times.start == kNever) times.start = progress.start;
    if (times.end == kNever && own.state().launch_done(static_cast<int>(l))) times.end = progress.end;
  }
}

}  // namespace warpfold::sim
