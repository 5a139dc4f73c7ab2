#pragma once

#include <vector>

#include "sim/plan/epochs.h"

namespace warpfold::sim {

// A plan for running launches: a list of epochs. Each epoch is one simulation, which begins when the epoch before has
// left the GPU idle.
//
//   stream 0: qkv, attention; stream 1: rng; attention after rng    {qkv, rng}, {attention}
struct RunPlan {
  std::vector<Epoch> epochs{};
};

class RunPlanner {
 public:
  RunPlanner(const Spec& spec, const std::vector<Launch>& launches, bool serialise)
      : spec_(spec), launches_(launches), serialise_(serialise) {}

  // Returns a plan for all launches.
  RunPlan plan() const;

 private:
  const Spec& spec_;
  const std::vector<Launch>& launches_;
  bool serialise_;
};

// Splits epoch `e` after a run that stopped at an idle GPU. The epoch keeps the launches in `ran`, which are positions
// in the epoch; its other launches become the next epoch.
void split_epoch(RunPlan& plan, size_t e, const std::vector<size_t>& ran);
// Joins epoch `e`, which does not leave the GPU idle, and all later epochs into one.
void join_epochs(RunPlan& plan, size_t e);

}  // namespace warpfold::sim
