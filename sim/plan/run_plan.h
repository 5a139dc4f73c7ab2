#pragma once

#include <cstdint>
#include <vector>

#include "sim/plan/epochs.h"

namespace warpfold::sim {

// How launches are run, as data. A leaf is one simulation.
//
//   SM_PARTITION of {qkv, rng}, then attention, which waits for both:
//     sequence {0, 1, 2}
//       side by side {0, 1}
//         sequence {0}: leaf {0}
//         sequence {1}: leaf {1}
//       leaf {2}
struct RunPlan {
  enum class Kind : uint8_t {
    kLeaf,
    kSequence,    // parts are epochs: each begins when the one before has left an idle GPU
    kSideBySide,  // parts are independent groups, each a sequence
  };
  Kind kind = Kind::kLeaf;
  Epoch launches{};  // of the whole run, by index
  std::vector<RunPlan> parts{};
};

class RunPlanner {
 public:
  RunPlanner(const Spec& spec, const std::vector<Launch>& launches, bool serialise)
      : spec_(spec), launches_(launches), serialise_(serialise) {}

  // Of all launches.
  RunPlan plan() const;

  // A run finds out where it leaves an idle GPU. Epoch `e` of the sequence is narrowed to the launches that `ran`, by their places
  // in it; the others are the next epoch.
  void split_epoch(RunPlan& sequence, size_t e, const std::vector<size_t>& ran) const;
  // Epoch `e` does not leave an idle GPU: it and all behind it are one.
  void join_epochs(RunPlan& sequence, size_t e) const;

 private:
  RunPlan sequence(const Epoch& launches) const;
  RunPlan epoch(Epoch launches) const;

  const Spec& spec_;
  const std::vector<Launch>& launches_;
  bool serialise_;
};

}  // namespace warpfold::sim
