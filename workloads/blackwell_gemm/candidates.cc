#include "workloads/blackwell_gemm/candidates.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "workloads/blackwell_gemm/plan.h"
#include "workloads/common/gemm_offers.h"
#include "workloads/common/whole_numbers.h"

namespace warpfold::workloads {

using configs::BlackwellGemm;

namespace {

// Picks a kernel by DeepGEMM's rule (csrc/jit_kernels/heuristics/sm100.hpp @54e2261, compare). Pairs are taken only if the number
// of tiles along the rows is even.
std::vector<BlackwellGemm> by_waves(const std::vector<BlackwellGemm>& kernels, uint64_t sms) {
  const auto rows = [](const BlackwellGemm& kernel) { return kernel.swap_operands() ? kernel.n() : kernel.m(); };
  const auto columns = [](const BlackwellGemm& kernel) { return kernel.swap_operands() ? kernel.m() : kernel.n(); };
  const auto even = [&](const BlackwellGemm& kernel) {
    return kernel.cta_group() == 1 || ceil_div(rows(kernel), kernel.tile_m()) % 2 == 0;
  };
  const auto rank = [&](const BlackwellGemm& kernel) {
    // With few rows, only 32 or 64 of a tile's rows count, although 128 are multiplied.
    const uint64_t height = kernel.swap_operands() || rows(kernel) > 64 ? kernel.tile_m() : rows(kernel) > 32 ? 64 : 32;
    const uint64_t tiles = ceil_div(rows(kernel), kernel.tile_m()) * ceil_div(columns(kernel), kernel.tile_n());
    const uint64_t waves = ceil_div(tiles, sms);
    const auto last = static_cast<int64_t>(tiles % sms == 0 ? sms : tiles % sms);
    return std::tuple(!even(kernel), waves > 1, -static_cast<int64_t>(kernel.cta_group()), waves, -last, height + kernel.tile_n(),
                      height * kernel.tile_n());
  };
  return {*std::ranges::min_element(kernels, std::less<>(), rank)};
}

}  // namespace

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
  if (!kernels.empty()) return library.selection() == configs::FEWEST_WAVES_PAIRED ? by_waves(kernels, gpu.sm_count()) : kernels;
  return fail("blackwell_gemm: " + library.name() + " has no kernel for " + std::to_string(gemm.m()) + " x " +
              std::to_string(gemm.n()) + " of type " + configs::ElementType_Name(gemm.type()) +
              " that this GPU can run; state tile_m and tile_n, or another library");
}

}  // namespace warpfold::workloads
