#include "sim/sampling/representatives.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "sim/sampling/generations.h"

namespace warpfold::sim {
namespace {

// CTAs one after the other that have as much to do.
struct EqualCtas {
  uint64_t instructions = 0;  // of each
  uint64_t ctas = 0;
};

// What an SM of the class does of one launch, and what can be said of when it ends.
struct Share {
  const CtaList* list = nullptr;
  Work work;
  uint64_t ctas = 0;
  std::vector<EqualCtas> order;
  std::vector<double> ends;      // ends_of(order)
  double scatter = 0;            // order_scatter()
  bool order_matters = false;    // it is more than the difference
  bool averages_out = false;     // more than kManyGenerations of CTAs
  bool exact_ctas_only = false;  // only classes with the very same CTAs may represent it
};

using Shares = std::vector<Share>;  // per launch

// When the last CTA ends if one, two, ... up to `places` of them take all that an SM has and more of them share it, in instructions
// of one CTA: each gets the place that is free first. Of one it is their sum, of `places` what the longest row of them takes.
std::vector<double> ends_of(const std::vector<EqualCtas>& order, size_t places) {
  std::vector<uint64_t> rows(places);
  for (const EqualCtas& each : order) {
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

// ---- rules for one launch of a class

// Which CTAs run side by side is not in `ends`: an SM may end earlier or later by so much, in instructions that have an SM to
// themselves. fitted: to exact runs of 140 launches of attention with a mask, each for errors of 0.2, 1, 2 and 5 %
// (docs/sampling.md): of 560, 11 ended too early by more than the error without this rule, two with half of it, none with it.
double order_scatter(const EqualCtas& shortest, const EqualCtas& longest, const KernelImage& image) {
  constexpr double kOrderScatter = 0.2;
  return kOrderScatter * static_cast<double>((longest.instructions - shortest.instructions) * image.ctas_per_sm);
}

// Uncoupled warps get on each by itself, and so few CTAs come and go that this does not average out. measured: of two SMs with two
// CTAs each, the one with 0.1 % less to do took 0.8 % longer.
bool warps_drift(const Share& share, const KernelImage& image) {
  return !image.coupled && share.ctas <= kGenerations * image.ctas_per_sm;
}

// How far from their mean CTAs are in instructions, summed.
double unevenness(const Share& share) {
  const double mean = static_cast<double>(share.work.instructions) / static_cast<double>(share.ctas);
  double sum = 0;
  for (const EqualCtas& each : share.order)
    sum += std::abs(static_cast<double>(each.instructions) - mean) * static_cast<double>(each.ctas);
  return sum;
}

// CTAs of several lengths are held up by CTAs of other launches as they meet. measured: attention with a mask beside random numbers
// on twelve SMs took 176 thousand cycles, 142 on the five that were simulated before this rule.
bool lengths_meet_others(const Share& share, double difference) {
  return unevenness(share) > difference * static_cast<double>(share.work.instructions);
}

// `beside`: there are other launches.
Share share_of(const CtaList& list, const KernelImage& image, WorkTable& table, double difference, bool beside) {
  // assumed: counters of 78 launches of attention with a mask were then within 1.4 %; with fewer generations, where there is little
  // to save, they were up to 3.6 % off.
  constexpr uint64_t kManyGenerations = 4;
  Share share;
  share.list = &list;
  for (const traces::CtaRun& run : list) {
    const Work each = table.of_cta(run.cta_class);
    share.work = share.work + each * run.count;
    share.ctas += run.count;
    share.order.push_back({each.instructions, run.count});
  }
  share.ends = ends_of(share.order, image.ctas_per_sm);
  if (share.ctas == 0) return share;
  const auto [shortest, longest] = std::ranges::minmax(share.order, {}, &EqualCtas::instructions);
  share.scatter = order_scatter(shortest, longest, image);
  share.order_matters = share.scatter > difference * share.ends.front();
  share.averages_out = share.ctas > kManyGenerations * image.ctas_per_sm;
  share.exact_ctas_only = warps_drift(share, image) || (beside && lengths_meet_others(share, difference));
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

// ---- rules for two classes

// Whether no launch's instructions differ by more than that, or it has the very same CTAs where nothing less will do.
bool within_difference(const Shares& one, const Shares& other, double difference) {
  return std::ranges::equal(one, other, [&](const Share& a, const Share& b) {
    if (a.exact_ctas_only || b.exact_ctas_only) return *a.list == *b.list;
    const auto [less, more] = std::minmax(a.work.instructions, b.work.instructions);
    return static_cast<double>(more - less) <= difference * static_cast<double>(more);
  });
}

// Whether each CTA of the one has no more to do than the one in its place of the other.
bool none_longer(const Share& one, const Share& other) {
  auto its = other.order.begin();
  uint64_t passed = 0;
  for (const EqualCtas& own : one.order) {
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

// Whether the SMs of both do the same as long as both have CTAs, where they ask L2 for anything.
bool in_step(const Shares& one, const Shares& other) {
  return std::ranges::equal(one, other, [](const Share& a, const Share& b) {
    if (a.work.bytes == 0 && b.work.bytes == 0) return true;
    const auto& [shorter, longer] =
        std::minmax(*a.list, *b.list, [](const CtaList& x, const CtaList& y) { return count_of(x) < count_of(y); });
    const auto [own, its] = std::ranges::mismatch(shorter, longer);
    if (own == shorter.end()) return true;
    return std::next(own) == shorter.end() && own->cta_class == its->cta_class && own->count < its->count;
  });
}

// Whether `each` does not end later than `leader` for the order of its CTAs, where that matters.
bool ends_in_order(const Shares& each, const Shares& leader) {
  return std::ranges::equal(each, leader,
                            [](const Share& own, const Share& its) { return !own.order_matters || none_longer(own, its); });
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
// `order_unknown`: the order of CTAs has not been looked at, so ends are as far apart as makes up for it.
bool ends_no_later(const Shares& each, const Shares& one, const Shares& other, double difference, bool order_unknown) {
  Means means;
  for (size_t l = 0; l < each.size(); ++l) {
    const std::array lacking = {1.0, 1 - difference, 1 - difference};
    const std::array wanted = amounts(each[l]);
    const std::array first = amounts(one[l]);
    const std::array second = amounts(other[l]);
    for (size_t a = 0; a < wanted.size(); ++a) means.keep_those_above(wanted[a] * lacking[a], first[a], second[a]);
    const double scatter = order_unknown ? std::max({each[l].scatter, one[l].scatter, other[l].scatter}) : 0;
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

// Whether some mean of two of the classes ends no earlier than `each`.
bool two_end_no_earlier(const std::vector<size_t>& classes, const Shares& each, const std::vector<Shares>& shares,
                        double difference, bool order_unknown) {
  return std::ranges::any_of(classes, [&](size_t one) {
    return std::ranges::any_of(
        classes, [&](size_t other) { return ends_no_later(each, shares[one], shares[other], difference, order_unknown); });
  });
}

// A launch by itself is as long as its last SM. Where CTAs are of several lengths, SMs end far apart, and a class that surely ends
// before another need not be simulated, whatever it has less to do.
bool off_critical_path(const std::vector<size_t>& others, const Shares& each, const std::vector<Shares>& shares,
                       double difference) {
  const bool by_itself = each.size() == 1 && each.front().order_matters && each.front().averages_out;
  return by_itself && two_end_no_earlier(others, each, shares, difference, true);
}

// A class off the critical path is represented by a class whose instruction count differs by at most this share. assumed: 182
// random launches of FlashAttention-2 with a mask had the cycles of their exact runs, resident warp-cycles within 1.4 %.
constexpr double kOffCriticalPathDifference = 0.02;

// SMs that have CTAs in another order ask L2 and DRAM at other times; represented by one class they would all ask at once. Of such
// classes at least so many are simulated. measured: with one left, five of 3,000 random programs on two or three SMs were 2 to 12 %
// off; nine launches of attention with a mask, at an error of 5 %, were 3.0 % off in the mean and 8.3 % at most with eight, 0.9 and
// 2.0 % with sixteen, 0.7 and 2.2 % with thirty-two, in 1, 2 and 4 times the time.
constexpr size_t kFewestOutOfStep = 16;

// The classes that have to be simulated, in their order: where none is left out, a bounded run is an exact one. Whether one is
// needed is asked of those with least first.
std::vector<size_t> representatives_of(const std::vector<Shares>& shares, double difference) {
  std::vector<size_t> left(shares.size());
  std::iota(left.begin(), left.end(), size_t{0});
  std::ranges::stable_sort(left, std::ranges::greater{}, [&](size_t c) { return instructions(shares[c]); });
  std::vector<size_t> off_path;
  for (size_t at = left.size(); at-- > 1;) {
    const Shares& each = shares[left[at]];
    std::vector<size_t> others;
    std::ranges::copy_if(left, std::back_inserter(others), [&](size_t c) { return c != left[at]; });
    std::vector<size_t> near;
    std::ranges::copy_if(others, std::back_inserter(near), [&](size_t c) {
      return within_difference(shares[c], each, difference) && ends_in_order(each, shares[c]);
    });
    const bool represented = two_end_no_earlier(near, each, shares, difference, false);
    if (!represented && !off_critical_path(others, each, shares, difference)) continue;
    const auto in_step_with = [&](size_t other) { return in_step(shares[other], each); };
    if (left.size() <= kFewestOutOfStep && std::ranges::none_of(represented ? near : others, in_step_with)) continue;
    if (!represented) off_path.push_back(left[at]);
    left = std::move(others);
  }
  for (const size_t c : off_path) {
    const auto near = [&](size_t each) { return within_difference(shares[each], shares[c], kOffCriticalPathDifference); };
    if (std::ranges::none_of(left, near)) left.push_back(c);
  }
  std::ranges::sort(left);
  return left;
}

}  // namespace

uint64_t instructions_of(const std::vector<SmClass>& classes, const std::vector<KernelImage>& images) {
  std::vector<WorkTable> tables(images.begin(), images.end());
  uint64_t sum = 0;
  for (const SmClass& sm_class : classes) {
    for (size_t l = 0; l < images.size(); ++l) {
      for (const traces::CtaRun& run : sm_class.ctas[l]) sum += (tables[l].of_cta(run.cta_class) * run.count).instructions;
    }
  }
  return sum;
}

std::vector<RepresentativeClass> choose_representatives(std::vector<SmClass> classes, const std::vector<KernelImage>& images,
                                                        double difference) {
  const std::vector<RepresentativeClass::Less> nothing(images.size());
  std::vector<RepresentativeClass> chosen;
  if (difference == 0) {  // no class represents another, not even where both have the same in another order
    for (SmClass& each : classes) chosen.push_back({std::move(each), nothing});
    return chosen;
  }
  const std::vector<Shares> shares = shares_of(classes, images, difference);
  const std::vector<size_t> representatives = representatives_of(shares, difference);
  for (const size_t each : representatives) chosen.push_back({classes[each], nothing});
  for (size_t c = 0; c < classes.size(); ++c) {
    if (std::ranges::find(representatives, c) != representatives.end()) continue;
    const auto by = std::ranges::min_element(representatives, {}, [&](size_t each) { return distance(shares[each], shares[c]); });
    RepresentativeClass& into = chosen[static_cast<size_t>(by - representatives.begin())];
    into.sm_class.sms += classes[c].sms;
    into.represents_others = true;
    for (size_t l = 0; l < images.size(); ++l) {
      into.less[l].work = into.less[l].work + (shares[*by][l].work - shares[c][l].work) * classes[c].sms;
      into.less[l].ctas += (shares[*by][l].ctas - shares[c][l].ctas) * classes[c].sms;
    }
  }
  return chosen;
}

}  // namespace warpfold::sim
