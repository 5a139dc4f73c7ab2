#include "workloads/blackwell_gemm/candidates.h"

#include <string>
#include <utility>

#include "workloads/blackwell_gemm/plan.h"
#include "workloads/common/gemm_offers.h"

namespace warpfold::workloads {

using configs::BlackwellGemm;

Expected<std::vector<BlackwellGemm>> blackwell_candidates(const BlackwellGemm& gemm, const configs::GemmLibrary& library,
                                                          const configs::Gpu& gpu) {
  BlackwellGemm stated = gemm;
  stated.clear_tile();
  stated.clear_library();
  const auto fits = [&](const BlackwellGemm& each) { return plan_blackwell_gemm(each, gpu).has_value(); };
  std::vector<BlackwellGemm> kernels;
  for (const configs::GemmOffer& offer : library.offer()) {
    if (!offer.has_blackwell() || !is_for(offer, {gemm.m(), gemm.n()}, gemm.type())) continue;
    BlackwellGemm common = library.blackwell();
    common.MergeFrom(offer.blackwell());
    for (BlackwellGemm& kernel : combinations(offer, common)) {
      kernel.MergeFrom(stated);
      for (BlackwellGemm& fitting : with_fitting_stages(offer, kernel, fits)) kernels.push_back(std::move(fitting));
    }
  }
  drop_repeated(kernels);
  if (!kernels.empty()) return kernels;
  return fail("blackwell_gemm: " + library.name() + " has no kernel for " + std::to_string(gemm.m()) + " x " +
              std::to_string(gemm.n()) + " of type " + configs::ElementType_Name(gemm.type()) + " that this GPU can run");
}

}  // namespace warpfold::workloads
