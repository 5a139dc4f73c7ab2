#pragma once

#include <cstdint>

#include "configs/diagnostic.h"
#include "configs/scenario.pb.h"

namespace warpfold::workloads {

// A Philox kernel with every default filled in. Defaults are FlashAttention's: 7 rounds and a threshold of 8 bits, in CTAs of 128
// threads. Recorded (sass/philox_*.sass): 3, 5, 7 or 10 rounds; thresholds of 8, 16 or 32 bits.
struct PhiloxPlan {
  uint32_t rounds;
  uint32_t threshold_bits;
  uint32_t warps;           // per CTA
  uint64_t cta_passes;      // passes of all CTAs together; a partial last pass counts as a whole one
  uint64_t calls_per_pass;  // per thread

  static constexpr uint32_t kElementsPerPass = 32;  // per thread: the bits of one stored word
  static constexpr uint32_t kWarpThreads = 32;
};

// Fails if the mask is empty, a CTA does not consist of whole warps, or the loop was not recorded.
Expected<PhiloxPlan> plan_philox(const configs::Philox& philox);

uint64_t philox_batches(const configs::Philox& philox);  // 1 if not stated

}  // namespace warpfold::workloads
