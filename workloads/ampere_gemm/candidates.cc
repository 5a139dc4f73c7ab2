#include "workloads/ampere_gemm/candidates.h"

#include <cstdint>
#include <string>
#include <utility>

#include "workloads/ampere_gemm/plan.h"
#include "workloads/ampere_gemm/simt_gemm.h"
#include "workloads/common/gemm_offers.h"

namespace warpfold::workloads {

using configs::AmpereGemm;

Expected<std::vector<AmpereGemm>> ampere_candidates(const AmpereGemm& gemm, const configs::GemmLibrary& library,
                                                    const configs::Gpu& gpu) {
  AmpereGemm stated = gemm;
  stated.clear_tile();
  stated.clear_library();
  const configs::ElementType type = gemm.has_type() ? gemm.type() : configs::FP16;
  const auto fits = [&](const AmpereGemm& each) {
    if (type == configs::FP32) return make_simt_gemm(each, gpu).has_value();
    const auto plan = plan_ampere_gemm(each);
    return plan && plan->tile.stages * plan->stage_bytes() <= gpu.sm().shared_memory().bytes_per_cta_max();
  };
  std::vector<AmpereGemm> kernels;
  for (const configs::GemmOffer& offer : library.offer()) {
    if (!offer.has_ampere() || !is_for(offer, {gemm.m(), gemm.n()}, type)) continue;
    std::vector<AmpereGemm> offered{offer.ampere()};
    multiply(offered, offer.tile_m(), [](AmpereGemm& kernel, uint32_t value) { kernel.set_tile_m(value); });
    multiply(offered, offer.tile_n(), [](AmpereGemm& kernel, uint32_t value) { kernel.set_tile_n(value); });
    multiply(offered, offer.tile_k(), [](AmpereGemm& kernel, uint32_t value) { kernel.set_tile_k(value); });
    multiply(offered, offer.swizzle(), [](AmpereGemm& kernel, uint32_t value) { kernel.set_swizzle(value); });
    multiply(offered, offer.stages(), [](AmpereGemm& kernel, uint32_t value) { kernel.set_stages(value); });
    for (AmpereGemm& kernel : offered) {
      kernel.MergeFrom(stated);
      if (fits(kernel)) kernels.push_back(std::move(kernel));
    }
  }
  drop_repeated(kernels);
  if (!kernels.empty()) return kernels;
  return fail("ampere_gemm: " + library.name() + " has no kernel for " + std::to_string(gemm.m()) + " x " +
              std::to_string(gemm.n()) + " of type " + configs::ElementType_Name(type) +
              " that this GPU can run; state tile_m and tile_n, or another library");
}

}  // namespace warpfold::workloads
