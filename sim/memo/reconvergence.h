#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/account/account.h"
#include "sim/engine/state_visitor.h"
#include "sim/memo/periods.h"
#include "sim/sm/kernel_image.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// SM classes that are in equal states when a launch is released share one SM from there on, whatever they did before.

// Whether the states are equal but for the names of warps, with equal trips left, and waits that go on began in the same cycles.
bool reconverge(const Snapshot& one, const Snapshot& other);

// The CTA lists of a class that follows another one: what the leader has placed, then what the class has not.
std::vector<CtaList> continued(const std::vector<CtaList>& leader_ctas, const Sm& leader, const std::vector<CtaList>& ctas,
                               const Sm& sm);

// Orders classes: one with less left to do than another in everything comes before it.
uint64_t weight_of_what_is_left(const std::vector<CtaList>& ctas, const Sm& sm, const std::vector<KernelImage>& images);

// How the past of a class differs from its Sm's, which is its leader's since the two reconverged. Added, modulo 2^64, when the run
// has ended.
struct PastDifference {
  std::vector<uint64_t> counts;    // in the order of Snapshot::counts; empty: its Sm's past is its own
  std::optional<Account> account;  // its rows; there with counts
  struct Times {
    Cycle start = kNever;  // of a launch, where it had started
    Cycle end = kNever;    // where it had ended
  };
  std::vector<Times> launches;
  Periods periods;
  Periods sampled_periods;
  uint64_t skipped = 0;  // instructions

  // What `own` has counted in its state and `leader` has not.
  void add_counts(Sm& own, const Snapshot& own_state, Sm& leader, const Snapshot& leader_state);
};

}  // namespace warpfold::sim
