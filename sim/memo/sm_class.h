#pragma once

#include <cstdint>
#include <vector>

#include "sim/sm/sm_launch.h"

namespace warpfold::sim {

// SMs that receive the same CTA classes of every launch in the same order. They begin in equal states and get equal
// answers to the program's questions, so one SM is simulated for all of them.
struct SmClass {
  uint64_t sms = 0;                 // number of SMs
  std::vector<CtaList> ctas;        // [launch]: CTAs that each of these SMs runs, in order
  std::vector<uint32_t> indices{};  // indices of the SMs on the chip
  // The class is part of a sample of SMs: its SMs get different CTAs, and the simulated one runs some of them
  // (sim/sampling/sm_sample.h).
  bool sampled = false;
};

}  // namespace warpfold::sim
