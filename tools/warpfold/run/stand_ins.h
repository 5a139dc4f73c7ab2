#pragma once

#include <cstdint>
#include <vector>

#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "tools/validation/comparison.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/validation_points.h"

namespace warpfold::cli {

// A launch of which only a measurement is known.
struct OpaqueLaunch {
  uint64_t ctas = 0;
  uint32_t threads_per_cta = 0;
  uint32_t registers_per_thread = 0;
  uint32_t shared_memory_bytes = 0;
  double us = 0;
};

// A kernel, alone, that takes as long as a launch: an `opaque` of its grid and room.
struct StandIn {
  validation::Run run;
  double us = 0;  // of the simulation
};

// Simulates each launch with the demand until its time is met as nearly as whole amounts of work allow: from an estimate by the
// GPU's rates in proportion, then by the secant. A failure, of one launch: no amount takes so short a time, or its CTA does not
// fit.
Outcome<std::vector<Outcome<StandIn>>> stand_ins(const std::vector<OpaqueLaunch>& launches, configs::OpaqueDemand demand,
                                                 const configs::Gpu& gpu, ValidationPoints& points);

}  // namespace warpfold::cli
