#include "sim/gpu/merge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "sim/fold/fold.h"
#include "sim/sm/sm_launch.h"

namespace warpfold::sim {
namespace {

// CTAs one after the other that have as much to do.
struct Alike {
  uint64_t instructions = 0;  // of each
  uint64_t ctas = 0;
};

struct Share {
  const CtaList* list = nullptr;
  Work work;
  uint64_t ctas = 0;
  std::vector<Alike> order;
  std::vector<double> ends;  // ends_of(order)
  double scatter = 0;        // it may end so much earlier or later than `ends` say, in instructions that have an SM to themselves,
  bool scatters = false;     // which is more than the difference
  bool averages = false;     // more than kManyGenerations of CTAs
  // Nothing can be said of when it ends but of SMs with the very same CTAs: its warps get on each by itself, and no CTAs come and
  // go over which that would average out; or its CTAs are of several lengths, and others beside them hold them up as they meet.
  bool its_own = false;
};

using Shares = std::vector<Share>;  // per launch

// How much of what the longest CTA has more to do than the shortest, times as many as fit, an SM may end later than others of the
// same `ends`: which CTAs run side by side is not in them. fitted: to exact runs of 140 launches of attention with a mask
// (docs/folding.md, "Merged classes").
constexpr double kScatter = 0.2;

// Who surely is not the last to end is estimated by one whose instructions are as many but for this share, if more generations of
// CTAs come and go than so many. assumed: counters of 78 launches of attention with a mask were then within 1.4 %; with fewer
// generations, where there is little to save, they were up to 3.6 % off.
constexpr double kLikeEnough = 0.02;
constexpr uint64_t kManyGenerations = 4;

// When the last CTA ends if one, two, ... up to `places` of them take all that an SM has and more of them share it, in instructions
// of one CTA: each gets the place that is free first. Of one it is their sum, of `places` what the longest row of them takes.
std::vector<double> ends_of(const std::vector<Alike>& order, size_t places) {
  std::vector<uint64_t> rows(places);
  for (const Alike& each : order) {
    for (uint64_t left = each.ctas; left > 0; --left) {
      const auto [first, last] = std::ranges::minmax_element(rows);
      if (left > places && *last - *first <= each.instructions) {  // as many for each place
        const uint64_t rounds = (left - 1) / places;
        for (uint64_t& row : rows) row += rounds * each.instructions;
        left -= rounds * places;
      }
      *first += each.instructions;
    }
  }
  std::ranges::sort(rows, std::ranges::greater{});
  std::vector<double> ends(places);
  double waiting = 0;
  for (size_t filling = places; filling > 0; --filling) {
    ends[filling - 1] = static_cast<double>(rows.front()) + waiting / static_cast<double>(filling);
    waiting += static_cast<double>(rows[filling - 1]);
  }
  return ends;
}

// How far from their mean CTAs are in instructions, summed.
double unevenness(const Share& share) {
  const double mean = static_cast<double>(share.work.instructions) / static_cast<double>(share.ctas);
  double sum = 0;
  for (const Alike& each : share.order)
    sum += std::abs(static_cast<double>(each.instructions) - mean) * static_cast<double>(each.ctas);
  return sum;
}

// `beside`: there are other launches.
Share share_of(const CtaList& list, const KernelImage& image, WorkTable& table, double difference, bool beside) {
  Share share;
  share.list = &list;
  for (const traces::CtaRun& run : list) {
    const Work each = table.of_cta(run.cta_class);
    share.work = share.work + each * run.count;
    share.ctas += run.count;
    share.order.push_back({each.instructions, run.count});
  }
  share.ends = ends_of(share.order, image.ctas_per_sm);
  if (share.ctas > 0) {
    const auto [shortest, longest] = std::ranges::minmax(share.order, {}, &Alike::instructions);
    const auto apart = static_cast<double>((longest.instructions - shortest.instructions) * image.ctas_per_sm);
    share.scatter = kScatter * apart;
    share.scatters = share.scatter > difference * share.ends.front();
    share.averages = share.ctas > kManyGenerations * image.ctas_per_sm;
    const bool drifts = !image.coupled && share.ctas <= kGenerations * image.ctas_per_sm;
    share.its_own = drifts || (beside && unevenness(share) > difference * static_cast<double>(share.work.instructions));
  }
  return share;
}

std::vector<Shares> shares_of(const std::vector<SmClass>& classes, const std::vector<KernelImage>& images, double difference) {
  std::vector<WorkTable> tables(images.begin(), images.end());
  std::vector<Shares> shares;
  for (const SmClass& sm_class : classes) {
    Shares& of_class = shares.emplace_back();
    for (size_t l = 0; l < images.size(); ++l)
      of_class.push_back(share_of(sm_class.ctas[l], images[l], tables[l], difference, images.size() > 1));
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

// Whether no launch's instructions differ by more than that, or it has the very same CTAs where nothing less will do.
bool alike(const Shares& one, const Shares& other, double difference) {
  return std::ranges::equal(one, other, [&](const Share& a, const Share& b) {
    if (a.its_own || b.its_own) return *a.list == *b.list;
    const auto [less, more] = std::minmax(a.work.instructions, b.work.instructions);
    return static_cast<double>(more - less) <= difference * static_cast<double>(more);
  });
}

// Whether each CTA of the one has no more to do than the one in its place of the other.
bool none_longer(const Share& one, const Share& other) {
  auto its = other.order.begin();
  uint64_t passed = 0;
  for (const Alike& own : one.order) {
    for (uint64_t left = own.ctas; left > 0;) {
      if (its == other.order.end() || own.instructions > its->instructions) return false;
      const uint64_t both = std::min(left, its->ctas - passed);
      left -= both;
      passed += both;
      if (passed < its->ctas) continue;
      ++its;
      passed = 0;
    }
  }
  return true;
}

// Whether `each` does not end later than `leader` for the order of its CTAs, where that matters.
bool ends_in_order(const Shares& each, const Shares& leader) {
  return std::ranges::equal(each, leader,
                            [](const Share& own, const Share& its) { return !own.scatters || none_longer(own, its); });
}

// The weighted means of two that have enough of what was asked so far.
class Means {
 public:
  void keep_those_above(double wanted, double first, double second) {
    const double step = first - second;
    const double missing = wanted - second;
    if (step > 0) least_ = std::max(least_, missing / step);
    if (step < 0) most_ = std::min(most_, missing / step);
    possible_ &= step != 0 || missing <= 0;
  }
  bool any() const { return possible_ && least_ <= most_; }

 private:
  double least_ = 0;  // weights of the first
  double most_ = 1;
  bool possible_ = true;
};

// Whether some mean of the two has no fewer instructions than `each` in any launch, and but for `difference` no fewer bytes and
// CTAs and no earlier end. If an instruction, a byte and a CTA take some time each, whatever it is, `each` then takes no longer
// than the longer of them, but for that share of its bytes' and CTAs' time and of what its CTAs lose by not ending together.
// `scatters`: the order of CTAs has not been looked at, so ends are as far apart as makes up for it.
bool within(const Shares& each, const Shares& one, const Shares& other, double difference, bool scatters) {
  Means means;
  for (size_t l = 0; l < each.size(); ++l) {
    const std::array lacking = {1.0, 1 - difference, 1 - difference};
    const std::array wanted = amounts(each[l]);
    const std::array first = amounts(one[l]);
    const std::array second = amounts(other[l]);
    for (size_t a = 0; a < wanted.size(); ++a) means.keep_those_above(wanted[a] * lacking[a], first[a], second[a]);
    const double scatter = scatters ? std::max({each[l].scatter, one[l].scatter, other[l].scatter}) : 0;
    for (size_t e = 0; e < each[l].ends.size(); ++e) {
      const double later = scatter / static_cast<double>(e + 1);
      means.keep_those_above(each[l].ends[e] * (1 - difference) + later, one[l].ends[e], other[l].ends[e]);
    }
  }
  return means.any();
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

// The classes that have to be simulated, most instructions first. Whether one is needed is asked of those with least first: not
// where two that are alike stand for it, nor, in a launch by itself, of which only the last end counts, where two surely end later
// and somebody is alike enough to estimate by what it does.
std::vector<size_t> leaders_of(const std::vector<Shares>& shares, double difference) {
  std::vector<size_t> left(shares.size());
  std::iota(left.begin(), left.end(), size_t{0});
  std::ranges::stable_sort(left, std::ranges::greater{}, [&](size_t c) { return instructions(shares[c]); });
  std::vector<size_t> never_last;
  for (size_t at = left.size(); at-- > 1;) {
    const Shares& each = shares[left[at]];
    const auto any_two_of = [&](const std::vector<size_t>& classes, bool scatters) {
      return std::ranges::any_of(classes, [&](size_t one) {
        return std::ranges::any_of(classes,
                                   [&](size_t other) { return within(each, shares[one], shares[other], difference, scatters); });
      });
    };
    std::vector<size_t> others;
    std::ranges::copy_if(left, std::back_inserter(others), [&](size_t c) { return c != left[at]; });
    std::vector<size_t> near;
    std::ranges::copy_if(others, std::back_inserter(near),
                         [&](size_t c) { return alike(shares[c], each, difference) && ends_in_order(each, shares[c]); });
    const bool stood_for = any_two_of(near, false);
    const bool by_itself = each.size() == 1 && each.front().scatters && each.front().averages;
    if (!stood_for && !(by_itself && any_two_of(others, true))) continue;
    if (!stood_for) never_last.push_back(left[at]);
    left = std::move(others);
  }
  for (const size_t c : never_last) {
    if (std::ranges::none_of(left, [&](size_t leader) { return alike(shares[leader], shares[c], kLikeEnough); })) left.push_back(c);
  }
  return left;
}

}  // namespace

std::vector<MergedClass> merge_alike(std::vector<SmClass> classes, const std::vector<KernelImage>& images, double difference) {
  const std::vector<MergedClass::Less> nothing(images.size());
  std::vector<MergedClass> merged;
  if (difference == 0) {  // nobody stands for another, not even where both have the same in another order
    for (SmClass& each : classes) merged.push_back({std::move(each), nothing});
    return merged;
  }
  const std::vector<Shares> shares = shares_of(classes, images, difference);
  const std::vector<size_t> leaders = leaders_of(shares, difference);
  for (const size_t leader : leaders) merged.push_back({classes[leader], nothing});
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
