#include "workloads/philox/plan.h"

#include <string>

namespace warpfold::workloads {

uint64_t philox_batches(const configs::Philox& philox) { return philox.batch() == 0 ? 1 : philox.batch(); }

Expected<PhiloxPlan> plan_philox(const configs::Philox& philox) {
  const uint32_t rounds = philox.rounds() != 0 ? philox.rounds() : 7;  // FlashAttention's
  const uint32_t bits = philox.threshold_bits() != 0 ? philox.threshold_bits() : 8;
  const uint32_t threads = philox.threads_per_cta() != 0 ? philox.threads_per_cta() : 128;
  if (rounds != 3 && rounds != 5 && rounds != 7 && rounds != 10) {
    return fail("philox: rounds " + std::to_string(rounds) + " was not recorded; expected 3, 5, 7 or 10");
  }
  if (bits != 8 && bits != 16 && bits != 32) {
    return fail("philox: threshold_bits " + std::to_string(bits) + " was not recorded; expected 8, 16 or 32");
  }
  if (threads % PhiloxPlan::kWarpThreads != 0 || threads > 1024) {
    return fail("philox: threads_per_cta " + std::to_string(threads) + " must be a multiple of 32 up to 1024");
  }
  const uint64_t elements = philox_batches(philox) * philox.heads() * philox.queries() * philox.keys();
  if (elements == 0) return fail("philox: heads, queries and keys must be at least 1");
  const uint64_t cta_elements = uint64_t{threads} * PhiloxPlan::kElementsPerPass;
  return PhiloxPlan{rounds, bits, threads / PhiloxPlan::kWarpThreads, (elements + cta_elements - 1) / cta_elements, bits / 4};
}

}  // namespace warpfold::workloads
