#include "traces/import/launch_reuse.h"

#include <algorithm>
#include <cmath>

#include "traces/import/followed_lines.h"

namespace warpfold::sass {
namespace {

using access::Kind;
using access::SiteReuse;

constexpr uint64_t kFewestWaves = 2;
constexpr uint64_t kMostOfPattern = uint64_t{1} << 21;  // touches; more than the patterns of a launch are expected to have together
constexpr uint64_t kMostEvery = uint64_t{1} << 24;      // products in MovingWindow overflow 64 bits beyond it

bool is_prime(uint64_t value) {
  for (uint64_t divisor = 2; divisor * divisor <= value; ++divisor) {
    if (value % divisor == 0) return false;
  }
  return value > 1;
}

uint64_t divided(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

// Returns the site of the analysis for an array and kind, in the first or second half of the waves.
uint32_t site_of(int16_t array, Kind kind, bool second) {
  return static_cast<uint32_t>((static_cast<size_t>(array) * kKinds + static_cast<size_t>(kind)) * 2 + (second ? 1 : 0));
}

struct Counted {
  double requests = 0;
  double l1_requests = 0;
  double sectors = 0;
  double l1_sectors = 0;
  double dram_sectors = 0;

  void add(const SiteReuse& site, double weight) {
    requests += weight * static_cast<double>(site.requests);
    l1_requests += weight * static_cast<double>(site.l1_requests);
    sectors += weight * static_cast<double>(site.sectors);
    l1_sectors += weight * static_cast<double>(site.l1_sectors);
    dram_sectors += weight * static_cast<double>(site.dram_sectors);
  }
};

class Study {
 public:
  Study(const Exploration& found, const LaunchFacts& launch, const access::CacheSpec& caches, const ReuseBudget& budget)
      : found_(found), launch_(launch), caches_(caches), budget_(budget) {
    caches_.sms = std::max(caches_.sms, 1U);
    caches_.ctas_per_sm = std::max(caches_.ctas_per_sm, 1U);
    followed_.assign(launch.arrays.size() * kKinds, true);
    for (const AccessPattern& pattern : found.accesses) {
      if (pattern.array >= 0 && !pattern.linear) followed_[index_of(pattern)] = false;
    }
  }

  LaunchReuse study(bool with_l2) {
    LaunchReuse reuse;
    reuse.arrays.resize(launch_.arrays.size());
    for (size_t i = 0; i < followed_.size(); ++i) reuse.arrays[i / kKinds][i % kKinds].linear = followed_[i];
    const auto looks_into_l1 = [](const AccessPattern& pattern) { return pattern.kind != Kind::kLoadPastL1; };
    const bool may_hit = std::ranges::find(found_.accesses, Kind::kLoad, &AccessPattern::kind) != found_.accesses.end();
    if (caches_.l1_bytes > 0 && may_hit) follow_l1(looks_into_l1, reuse);
    if (with_l2) {
      follow_l2(reuse);
    } else {
      reuse.l2.why = Followed::Why::kFits;
    }
    return reuse;
  }

 private:
  static size_t index_of(const AccessPattern& pattern) {
    return static_cast<size_t>(pattern.array) * kKinds + static_cast<size_t>(pattern.kind);
  }

  bool is_followed(const AccessPattern& pattern) const { return pattern.array >= 0 && followed_[index_of(pattern)]; }

  // Line touches and searches of the patterns in all CTAs.
  struct Size {
    double lines = 0;
    double searches = 0;
  };

  template <typename Which>
  Size size_of(const Which& which) const {
    Size size;
    for (const AccessPattern& pattern : found_.accesses) {
      if (!is_followed(pattern) || !which(pattern)) continue;
      const CtaBox& box = found_.boxes[pattern.box];
      double lines = 0;
      for (const AccessPattern::Run& run : pattern.runs) lines += static_cast<double>(divided(run.bytes, access::kLineBytes));
      double executions = static_cast<double>(box.ctas());
      uint64_t longest = box.extent[0];
      for (const AccessPattern::Dimension& dimension : pattern.dimensions) {
        executions *= static_cast<double>(dimension.count);
        longest = std::max(longest, dimension.count);
      }
      size.lines += lines * executions;
      size.searches += static_cast<double>(pattern.runs.size()) * executions / static_cast<double>(longest);
    }
    return size;
  }

  uint64_t wave() const { return uint64_t{caches_.sms} * caches_.ctas_per_sm; }
  uint64_t all_waves() const { return divided(launch_.ctas(), wave()); }

  Followed all_of_it() const {
    return {.why = Followed::Why::kFollowed,
            .every = 1,
            .sms = caches_.sms,
            .of_sms = caches_.sms,
            .waves = all_waves(),
            .of_waves = all_waves()};
  }

  // Returns a prime of which no stride is a multiple, because all passes of such a stride would hit sampled lines, or
  // none.
  uint64_t every_for(double lines, uint64_t most) const {
    auto every = static_cast<uint64_t>(std::min(std::ceil(lines / static_cast<double>(most)), static_cast<double>(kMostEvery)));
    if (every <= 1) return 1;
    while (!is_prime(every) || in_step(every)) ++every;
    return every;
  }

  bool in_step(uint64_t every) const {
    const auto period = static_cast<int64_t>(every * access::kLineBytes);
    return std::ranges::any_of(found_.accesses, [period](const AccessPattern& pattern) {
      const auto hits = [period](int64_t bytes) { return bytes != 0 && bytes % period == 0; };
      return std::ranges::any_of(pattern.slope, hits) ||
             std::ranges::any_of(pattern.dimensions, hits, &AccessPattern::Dimension::bytes);
    });
  }

  template <typename Which>
  void follow_l1(const Which& which, LaunchReuse& reuse) {
    const Size size = size_of(which);
    if (size.lines == 0) return;
    const auto most = static_cast<double>(budget_.l1_lines);
    Followed followed = all_of_it();
    const auto busy = static_cast<double>(std::min<uint64_t>(caches_.sms, launch_.ctas()));
    if (size.lines > most) followed.sms = static_cast<uint32_t>(std::max(most / size.lines * busy, 1.0));
    const double share = std::min(1.0, static_cast<double>(followed.sms) / busy);
    double lines = size.lines * share;
    cut_waves(std::max(lines / most, size.searches * share / static_cast<double>(budget_.searches)), followed);
    const double waves = static_cast<double>(followed.waves) / static_cast<double>(followed.of_waves);
    if (size.searches * share * waves > most_searches()) {
      reuse.l1.why = Followed::Why::kTooMuch;
      return;
    }
    lines *= waves;
    followed.every = every_for(lines, budget_.l1_lines);
    access::CacheSpec caches = caches_;
    caches.l1_bytes /= followed.every;
    caches.l2_bytes = 0;
    const std::vector<Counted> counted = follow(which, caches, followed);
    for_each_followed(counted, reuse, [](const Counted& all, ArrayReuse& array) {
      array.in_l1 = true;
      array.requests = all.l1_requests / all.requests;
      array.l1_sectors = all.l1_sectors / all.sectors;
    });
    reuse.l1 = followed;
  }

  void follow_l2(LaunchReuse& reuse) {
    const auto which = [](const AccessPattern&) { return true; };
    const Size size = size_of(which);
    if (size.lines == 0) return;
    Followed followed = all_of_it();
    cut_waves(size.searches / static_cast<double>(budget_.searches), followed);
    const double waves = static_cast<double>(followed.waves) / static_cast<double>(followed.of_waves);
    if (size.searches * waves > most_searches()) {
      reuse.l2.why = Followed::Why::kTooMuch;
      return;
    }
    followed.every = every_for(size.lines * waves, budget_.l2_lines);
    access::CacheSpec caches = caches_;
    caches.l1_bytes = 0;
    caches.l2_bytes /= followed.every;
    const std::vector<Counted> counted = follow(which, caches, followed);
    for_each_followed(counted, reuse, [](const Counted& all, ArrayReuse& array) {
      array.in_l2 = true;
      array.dram_sectors = all.dram_sectors / all.sectors;
    });
    reuse.l2 = followed;
  }

  double most_searches() const { return 8 * static_cast<double>(budget_.searches); }

  // Reduces the waves by the factor `excess`.
  static void cut_waves(double excess, Followed& followed) {
    if (excess <= 1) return;
    const auto affordable = static_cast<uint64_t>(static_cast<double>(followed.of_waves) / excess);
    followed.waves = std::min(followed.of_waves, std::max(kFewestWaves, affordable));
  }

  template <typename Which>
  std::vector<Counted> follow(const Which& which, const access::CacheSpec& caches, Followed& followed) const {
    access::ReuseAnalysis analysis(caches);
    const uint64_t ctas = std::min(launch_.ctas(), followed.waves * wave());
    const bool all = followed.waves == followed.of_waves;
    const uint64_t first = all ? followed.waves : followed.waves / 2;  // waves that are counted once
    FollowedLines lines(
        launch_,
        {.every = followed.every, .ctas = ctas, .sms = followed.sms, .all_sms = caches.sms, .most_touches = kMostOfPattern});
    std::vector<bool> lost(launch_.arrays.size() * kKinds);
    for (const AccessPattern& pattern : found_.accesses) {
      if (!is_followed(pattern) || !which(pattern)) continue;
      const bool whole =
          lines.for_each(pattern, found_.boxes[pattern.box], [&](uint64_t cta, uint64_t step, const access::LineTouch& touched) {
            ++followed.touches;
            const bool second = cta / wave() >= first;
            analysis.add(cta, pattern.warp, step, site_of(pattern.array, pattern.kind, second), pattern.kind,
                         std::span(&touched, 1));
          });
      if (!whole) lost[index_of(pattern)] = true;
    }
    followed.searches = lines.searches();
    std::vector<SiteReuse> sites = analysis.result();
    sites.resize(launch_.arrays.size() * kKinds * 2);
    const double later = all ? 0 : static_cast<double>(followed.of_waves - first) / static_cast<double>(followed.waves - first);
    std::vector<Counted> counted(launch_.arrays.size() * kKinds);
    for (size_t i = 0; i < counted.size(); ++i) {
      if (lost[i]) continue;
      counted[i].add(sites[2 * i], 1);
      counted[i].add(sites[2 * i + 1], later);
    }
    return counted;
  }

  template <typename Use>
  static void for_each_followed(const std::vector<Counted>& counted, LaunchReuse& reuse, const Use& use) {
    for (size_t i = 0; i < counted.size(); ++i) {
      if (counted[i].sectors > 0) use(counted[i], reuse.arrays[i / kKinds][i % kKinds]);
    }
  }

  const Exploration& found_;
  const LaunchFacts& launch_;
  access::CacheSpec caches_;
  const ReuseBudget& budget_;
  std::vector<bool> followed_;  // by array and kind
};

}  // namespace

LaunchReuse launch_reuse(const Exploration& found, const LaunchFacts& launch, const access::CacheSpec& caches, bool with_l2,
                         const ReuseBudget& budget) {
  return Study(found, launch, caches, budget).study(with_l2);
}

}  // namespace warpfold::sass
