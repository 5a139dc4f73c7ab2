#pragma once

#include <cstdint>
#include <vector>

#include "sim/sm/sm_launch.h"

namespace warpfold::sim {

// SMs that receive the same CTA classes of every launch in the same order begin in equal states and get equal answers: one SM is
// simulated for all of them.
struct SmClass {
  uint64_t sms = 0;
  std::vector<CtaList> ctas;        // [launch]: what each of these SMs runs, in order
  std::vector<uint32_t> indices{};  // of the SMs
  bool sampled = false;             // each SM has CTAs of its own, and the one that is simulated runs some of all (sm_sample.h)
};

}  // namespace warpfold::sim
