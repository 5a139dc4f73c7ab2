#pragma once

#include <vector>

#include "sim/plan/epochs.h"

namespace warpfold::sim {

// How launches are run, as data: epochs, each one simulation, which begins when the one before has left an idle GPU.
//
//   stream 0: qkv, attention; stream 1: rng; attention after rng    {qkv, rng}, {attention}
struct RunPlan {
  std::vector<Epoch> epochs{};
};

class RunPlanner {
 public:
  RunPlanner(const Spec& spec, const std::vector<Launch>& launches, bool serialise)
      : spec_(spec), launches_(launches), serialise_(serialise) {}

  // Of all launches.
  RunPlan plan() const;

 private:
  const Spec& spec_;
  const std::vector<Launch>& launches_;
  bool serialise_;
};

// A run finds out where it leaves an idle GPU. Epoch `e` is narrowed to the launches that `ran`, by their places in it; the others
// are the next epoch.
void split_epoch(RunPlan& plan, size_t e, const std::vector<size_t>& ran);
// Epoch `e` does not leave an idle GPU: it and all behind it are one.
void join_epochs(RunPlan& plan, size_t e);

}  // namespace warpfold::sim
