#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/engine/time.h"

namespace warpfold::sim {

// The way of a sub-core's loads back to its register file. A load takes the first free cycles that end when its last
// byte has arrived or later. So a load that hits in L1 does not wait for one that comes later from DRAM.
//
//   taken [600, 608)   arrives at 100 with 8 cycles: [92, 100)   then one at 604: [608, 616), 12 cycles late
class ReturnPath {
 public:
  struct Return {
    Cycle end = 0;
    int waited_for = 0;  // launch of the load for which it waits; its own launch if it does not wait
  };

  // `margin`: no load takes cycles further back than that.
  Return take(Cycle now, Cycle margin, Cycle arrival, Cycle cycles, int launch) {
    forget(now, margin);
    Return result{arrival, launch};
    auto next = std::ranges::lower_bound(taken_, arrival - std::min(arrival, cycles), std::ranges::less_equal{}, &Span::to);
    for (; next != taken_.end() && next->from < result.end; ++next) result = {next->to + cycles, next->launch};
    insert(next, {result.end - std::min(result.end, cycles), result.end, launch});
    return result;
  }

  void visit(StateVisitor& visitor, Cycle margin) {
    // The binding lists all fields.
    [[maybe_unused]] const auto& [taken] = *this;
    if (visitor.recording()) forget(visitor.now(), margin);
    visitor.value("returns", taken_.size());
    for (Span& each : taken_) {
      [[maybe_unused]] const auto& [from, to, launch] = each;
      visitor.value("return_launch", static_cast<uint64_t>(each.launch));
      visitor.time("return_from", each.from, margin);
      visitor.time("return_to", each.to, margin);
    }
  }

  bool operator==(const ReturnPath&) const = default;

 private:
  struct Span {
    Cycle from;
    Cycle to;
    int launch;
    bool operator==(const Span&) const = default;
  };

  void forget(Cycle now, Cycle margin) {
    taken_.erase(taken_.begin(), std::ranges::find_if(taken_, [&](const Span& each) { return each.to + margin > now; }));
  }
  void insert(std::vector<Span>::iterator before, const Span& span) {
    const bool joins_last =
        before != taken_.begin() && std::prev(before)->to == span.from && std::prev(before)->launch == span.launch;
    const bool joins_next = before != taken_.end() && before->from == span.to && before->launch == span.launch;
    if (joins_last && joins_next) {
      std::prev(before)->to = before->to;
      taken_.erase(before);
    } else if (joins_last) {
      std::prev(before)->to = span.to;
    } else if (joins_next) {
      before->from = span.from;
    } else {
      taken_.insert(before, span);
    }
  }

  std::vector<Span> taken_;  // in order of time
};

}  // namespace warpfold::sim
