#include "workloads/ampere_gemm/plan.h"

#include <string>

namespace warpfold::workloads {

Expected<AmpereGemmPlan> plan_ampere_gemm(const configs::AmpereGemm& gemm) {
  AmpereGemmPlan plan{gemm.m(),
                      gemm.n(),
                      gemm.k(),
                      gemm.has_type() ? gemm.type() : configs::FP16,
                      gemm.tile_k() != 0 ? gemm.tile_k() : 32,
                      gemm.stages() != 0 ? gemm.stages() : 3,
                      gemm.rasterisation() == configs::ALONG_M,
                      gemm.swizzle() != 0 ? gemm.swizzle() : 8};
  if (plan.m == 0 || plan.n == 0 || plan.k == 0) return fail("ampere_gemm: m, n and k must be at least 1");
  if (plan.type == configs::FP8) return fail("ampere_gemm: type FP8 has no mma.sync before sm_89; expected BF16 or FP16");
  const bool recorded = (plan.tile_k == 32 && (plan.stages == 3 || plan.stages == 4)) || (plan.tile_k == 64 && plan.stages == 3);
  if (!recorded) {
    return fail("ampere_gemm: tile_k " + std::to_string(plan.tile_k) + " with " + std::to_string(plan.stages) +
                " stages was not recorded; expected tile_k 32 with 3 or 4 stages, or tile_k 64 with 3");
  }
  if (plan.k_tiles() < plan.stages) {
    return fail("ampere_gemm: k " + std::to_string(plan.k) + " is shorter than the ring of " + std::to_string(plan.stages) + " x " +
                std::to_string(plan.tile_k));
  }
  return plan;
}

}  // namespace warpfold::workloads
