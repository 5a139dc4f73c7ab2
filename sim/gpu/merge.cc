#include "sim/gpu/merge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/fold/fold.h"
#include "sim/sm/sm_launch.h"

namespace warpfold::sim {
namespace {

struct Share {
  const CtaList* list = nullptr;
  Work work;
  uint64_t ctas = 0;
  bool drifts = false;           // its warps get on each by itself, and no CTAs come and go over which that would average out
  std::vector<uint64_t> last{};  // instructions of as many of its CTAs as fit, the last one first, where they may matter
};

using Shares = std::vector<Share>;  // per launch

// Of the CTAs that are there at the end each takes its time, beside as many others as fit: little where there are many. (Of CTAs
// whose warps wait for each other that is not asked: docs/folding.md, "Merged classes".)
std::vector<uint64_t> last_of(const CtaList& list, const Share& share, WorkTable& table, const KernelImage& image,
                              double difference) {
  std::vector<uint64_t> last;
  if (image.tied) return last;
  uint64_t longest = 0;
  for (auto run = list.rbegin(); run != list.rend(); ++run) {
    const uint64_t each = table.of_cta(run->cta_class).instructions;
    longest = std::max(longest, each);
    const uint64_t room = image.ctas_per_sm - last.size();
    last.insert(last.end(), std::min<uint64_t>(run->count, room), each);
  }
  const auto ending = static_cast<double>(longest * image.ctas_per_sm);
  return ending > difference * static_cast<double>(share.work.instructions) ? last : std::vector<uint64_t>{};
}

std::vector<Shares> shares_of(const std::vector<SmClass>& classes, const std::vector<KernelImage>& images, double difference) {
  std::vector<WorkTable> tables(images.begin(), images.end());
  std::vector<Shares> shares;
  for (const SmClass& sm_class : classes) {
    Shares& of_class = shares.emplace_back(images.size());
    for (size_t l = 0; l < images.size(); ++l) {
      of_class[l].list = &sm_class.ctas[l];
      for (const traces::CtaRun& run : sm_class.ctas[l]) {
        of_class[l].work = of_class[l].work + tables[l].of_cta(run.cta_class) * run.count;
        of_class[l].ctas += run.count;
      }
      const uint64_t few = kGenerations * images[l].ctas_per_sm;
      of_class[l].last = last_of(sm_class.ctas[l], of_class[l], tables[l], images[l], difference);
      of_class[l].drifts = !images[l].tied && of_class[l].ctas > 0 && of_class[l].ctas <= few;
    }
  }
  return shares;
}

std::array<double, 3> amounts(const Share& share) {
  return {static_cast<double>(share.work.instructions), static_cast<double>(share.work.bytes), static_cast<double>(share.ctas)};
}

uint64_t instructions(const Shares& shares) {
  return std::transform_reduce(shares.begin(), shares.end(), uint64_t{0}, std::plus{},
                               [](const Share& share) { return share.work.instructions; });
}

// Whether no launch's instructions differ by more than that; where its warps drift, whether it has the very same CTAs: when the
// last of a few ends depends on more than how many instructions they have.
bool alike(const Shares& one, const Shares& other, double difference) {
  return std::ranges::equal(one, other, [&](const Share& a, const Share& b) {
    if (a.drifts || b.drifts) return *a.list == *b.list;
    const auto [less, more] = std::minmax(a.work.instructions, b.work.instructions);
    return static_cast<double>(more - less) <= difference * static_cast<double>(more);
  });
}

// Whether some mean of the two has no fewer instructions than `each` in any launch, and no fewer bytes and CTAs but for
// `difference`. If an instruction, a byte and a CTA take some time each, whatever it is, `each` then takes no longer than the
// longer of them, but for that share of its bytes' and CTAs' time.
bool within(const Shares& each, const Shares& one, const Shares& other, double difference) {
  double least = 0;  // weights of `one` in the mean
  double most = 1;
  for (size_t l = 0; l < each.size(); ++l) {
    const std::array lacking = {1.0, 1 - difference, 1 - difference};
    const std::array wanted = amounts(each[l]);
    const std::array first = amounts(one[l]);
    const std::array second = amounts(other[l]);
    for (size_t a = 0; a < wanted.size(); ++a) {
      const double step = first[a] - second[a];
      const double missing = wanted[a] * lacking[a] - second[a];
      if (step > 0) least = std::max(least, missing / step);
      if (step < 0) most = std::min(most, missing / step);
      if (step == 0 && missing > 0) return false;
    }
  }
  return least <= most;
}

// How different two are: what they differ by, relative, summed.
double distance(const Shares& one, const Shares& other) {
  double sum = 0;
  for (size_t l = 0; l < one.size(); ++l) {
    const std::array first = amounts(one[l]);
    const std::array second = amounts(other[l]);
    for (size_t a = 0; a < first.size(); ++a) sum += std::abs(first[a] - second[a]) / std::max({first[a], second[a], 1.0});
  }
  return sum;
}

// Whether none of the last CTAs of `each` has more to do than the one in its place of `leader`, or all of its CTAs are the leader's
// first.
bool ends_alike(const Shares& each, const Shares& leader) {
  return std::ranges::equal(each, leader, [](const Share& own, const Share& others) {
    const auto& [mine, its] = std::tie(own.last, others.last);
    if (mine.size() <= its.size() && std::equal(mine.begin(), mine.end(), its.begin(), std::less_equal{})) return true;
    return own.ctas <= others.ctas && part_of(*own.list, 0, own.ctas) == part_of(*others.list, 0, own.ctas);
  });
}

// The classes that have to be simulated, most instructions first. Whether one is needed is asked of those with least first.
std::vector<size_t> leaders_of(const std::vector<Shares>& shares, double difference) {
  std::vector<size_t> left(shares.size());
  std::iota(left.begin(), left.end(), size_t{0});
  std::ranges::stable_sort(left, std::ranges::greater{}, [&](size_t c) { return instructions(shares[c]); });
  for (size_t at = left.size(); at-- > 1;) {
    const Shares& each = shares[left[at]];
    std::vector<size_t> near;
    std::ranges::copy_if(left, std::back_inserter(near), [&](size_t c) {
      return c != left[at] && alike(shares[c], each, difference) && ends_alike(each, shares[c]);
    });
    const bool spared = std::ranges::any_of(near, [&](size_t one) {
      return std::ranges::any_of(near, [&](size_t other) { return within(each, shares[one], shares[other], difference); });
    });
    if (spared) left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return left;
}

}  // namespace

std::vector<MergedClass> merge_alike(std::vector<SmClass> classes, const std::vector<KernelImage>& images, double difference) {
  const std::vector<MergedClass::Less> nothing(images.size());
  std::vector<MergedClass> merged;
  if (difference == 0) {  // nobody stands for another, not even where both have the same in another order
    for (SmClass& each : classes) merged.push_back({std::move(each), nothing, false});
    return merged;
  }
  const std::vector<Shares> shares = shares_of(classes, images, difference);
  const std::vector<size_t> leaders = leaders_of(shares, difference);
  for (const size_t leader : leaders) merged.push_back({classes[leader], nothing, false});
  for (size_t c = 0; c < classes.size(); ++c) {
    if (std::ranges::find(leaders, c) != leaders.end()) continue;
    const auto leader = std::ranges::min_element(leaders, {}, [&](size_t each) { return distance(shares[each], shares[c]); });
    MergedClass& into = merged[static_cast<size_t>(leader - leaders.begin())];
    into.sm_class.sms += classes[c].sms;
    into.merged = true;
    for (size_t l = 0; l < images.size(); ++l) {
      into.less[l].work = into.less[l].work + (shares[*leader][l].work - shares[c][l].work) * classes[c].sms;
      into.less[l].ctas += (shares[*leader][l].ctas - shares[c][l].ctas) * classes[c].sms;
    }
  }
  return merged;
}

}  // namespace warpfold::sim
