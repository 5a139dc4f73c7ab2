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
  configs::OpaqueDemand demand = configs::DRAM;
};

// A kernel, alone, that takes as long as a measured launch: an `opaque` kernel with the launch's grid and footprint.
struct StandIn {
  validation::Run run;
  double us = 0;  // simulated
};

// Fits the amount of work of each stand-in until its simulated time meets the launch's, as nearly as whole amounts allow. Starts
// from an estimate by the GPU's rates, scales it in proportion, then uses the secant method. A launch fails if no amount takes so
// short a time, or if its CTA does not fit.
Outcome<std::vector<Outcome<StandIn>>> stand_ins(const std::vector<OpaqueLaunch>& launches, const configs::Gpu& gpu,
                                                 ValidationPoints& points);

}  // namespace warpfold::cli
