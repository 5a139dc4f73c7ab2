#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/memo/sm_class.h"
#include "sim/sampling/work.h"
#include "sim/sm/kernel_image.h"

namespace warpfold::sim {

// The work of one launch that an SM of a class does, as far as it is known before a run.
struct Share {
  Work work;
  uint64_t ctas = 0;
  double instructions = 0;  // until its last CTA ends, each going to the place of the SM that is free first: of that place
};

// SM classes of which one is simulated for all (stratified sampling).
struct Stratum {
  struct Other {
    SmClass sm_class;
    std::vector<Share> shares;
  };
  SmClass sm_class;           // the one that is simulated; `sms` counts all
  std::vector<Share> shares;  // per launch
  std::vector<Other> others{};

  // The work that the SMs of the others have less than the one that is simulated, summed over them: modulo 2^64, since they may have
  // more.
  struct Less {
    Work work;
    uint64_t ctas = 0;
  };
  std::vector<Less> less{};  // per launch
};

// Where no error is allowed, and of a short run or of few classes, each is a stratum of its own. Else classes with CTAs of the same
// launches are cut into strata: where they are furthest apart in a launch's instructions or bytes, halfway, until there are enough.
// Of each stratum the class nearest to the mean is simulated, so that L2 and DRAM are asked for what all SMs ask for. The class
// with most is a stratum of its own, since a launch ends with its last SM.
std::vector<Stratum> stratify(const std::vector<SmClass>& classes, const std::vector<KernelImage>& images, bool may_err);

// An SM of a launch: how many like it there are, what may decide when it ends, and when it did, in cycles from the launch's start.
struct LaunchEnd {
  uint64_t sms = 0;
  std::array<double, 5> features{};  // instructions and bytes, the same of all launches, and 1
  double end = 0;                    // of one that was simulated
};
LaunchEnd launch_end(uint64_t sms, const std::vector<Share>& shares, size_t launch, double end);
// By how much of the latest end, at most, the last SM may end later than the last one that was simulated: with 95 % confidence, if
// each feature takes some time and ends scatter around that as those that were simulated do.
double latest_end_uncertainty(const std::vector<LaunchEnd>& simulated, const std::vector<LaunchEnd>& others);

}  // namespace warpfold::sim
