#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "traces/import/access_pattern.h"
#include "traces/import/explore.h"
#include "traces/import/moving_window.h"

namespace warpfold::sass {

// Samples the lines of a launch's accesses: one line in `every`, of the accesses that CTAs below `ctas` make on `sms`
// of `all_sms` SMs, evenly spaced among the SMs with CTAs. CTA c runs on SM c mod all_sms.
class FollowedLines {
 public:
  struct Choice {
    uint64_t every = 1;
    uint64_t ctas = 1;
    uint32_t sms = 1;
    uint32_t all_sms = 1;
    uint64_t most_touches = 1;  // per pattern
  };
  using Visit = std::function<void(uint64_t cta, uint64_t step, const access::LineTouch& touched)>;

  FollowedLines(const LaunchFacts& launch, const Choice& choice) : launch_(launch), choice_(choice) {}

  // Visits every execution of the pattern, in the CTAs of `box`, that touches a sampled line, in no order. Returns
  // false if there were more than most_touches, for example because a sampled line is touched very often.
  bool for_each(const AccessPattern& pattern, const CtaBox& box, const Visit& visit);
  uint64_t searches() const { return searches_; }

 private:
  using Dimension = AccessPattern::Dimension;
  struct Place {
    uint64_t address;
    uint64_t cta;
    uint64_t step;
  };

  // Visits a row of a box: `x` is the first cluster whose CTA runs on a sampled SM, `stride` the distance to the next
  // one.
  void for_each_on_sms(uint64_t row, uint64_t end, const std::function<void(uint64_t x, uint64_t stride)>& visit) const;
  void in_row(const AccessPattern& pattern, const Place& first, const Dimension& ctas, const Visit& visit);
  void along(std::span<const Dimension> dimensions, const Place& at, uint64_t bytes, const Visit& visit);
  void search(const Place& at, uint64_t bytes, const Visit& visit);
  void touch(const Place& at, uint64_t bytes, const Visit& visit);
  bool may_go_on() const { return touches_ <= choice_.most_touches; }
  const MovingWindow& window(int64_t stride);

  const LaunchFacts& launch_;
  Choice choice_;
  std::map<int64_t, MovingWindow> windows_;  // by stride
  std::vector<Dimension> dimensions_;        // dimensions of the row, except the longest
  Dimension longest_;
  const MovingWindow* along_longest_ = nullptr;
  uint64_t searches_ = 0;
  uint64_t touches_ = 0;  // touches of the current pattern
};

}  // namespace warpfold::sass
