#include "workloads/hopper_gemm/candidates.h"

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>

#include "workloads/common/gemm_offers.h"
#include "workloads/common/whole_numbers.h"
#include "workloads/hopper_gemm/plan.h"

namespace warpfold::workloads {
namespace {

using configs::GemmOffer;
using configs::HopperGemm;

// The shape that a library's rules see: contiguous groups are one matrix with all their rows.
struct Shape {
  uint64_t m;
  uint64_t n;
  uint64_t groups;

  explicit Shape(const HopperGemm& gemm) : m(gemm.m()), n(gemm.n()), groups(std::max<uint64_t>(gemm.grouped().groups(), 1)) {
    if (gemm.grouped().layout() != configs::CONTIGUOUS) return;
    m *= groups;
    groups = 1;
  }
};

bool offers(const GemmOffer& offer, const configs::GemmLibrary& library, const HopperGemm& gemm, const Shape& shape) {
  const bool common = !library.common().has_type() || library.common().type() == gemm.type();
  return common && !offer.has_blackwell() && !offer.has_ampere() && is_for(offer, {shape.m, shape.n, shape.groups}, gemm.type());
}

// DeepGEMM's condition for multicast (is_tma_multicast_legal): the tiles must divide evenly into clusters whose CTAs share an
// operand.
bool tiles_evenly(const HopperGemm& kernel, const configs::GemmLibrary& library, const Shape& shape) {
  if (kernel.cluster_m() * kernel.cluster_n() == 1) return true;
  if (shape.m < library.multicast_from_m() || shape.groups > 1) return false;
  const bool along_m = kernel.cluster_m() == 1 || shape.m % (uint64_t{kernel.tile_m()} * kernel.cluster_m()) == 0;
  const bool along_n = kernel.cluster_n() == 1 || shape.n % (uint64_t{kernel.tile_n()} * kernel.cluster_n()) == 0;
  return along_m && along_n;
}

// Adds the kernels of one offer that fit the GPU, each with the first stage count that fits.
void add_offer(const GemmOffer& offer, const HopperGemm& gemm, const configs::GemmLibrary& library, const configs::Gpu& gpu,
               std::vector<HopperGemm>& all) {
  HopperGemm common = library.common();
  common.MergeFrom(offer.common());
  HopperGemm stated = gemm;
  stated.clear_tile();
  stated.clear_library();
  for (HopperGemm& kernel : combinations(offer, common)) {
    kernel.MergeFrom(stated);
    if (library.multicast_from_m() > 0 && !tiles_evenly(kernel, library, Shape(gemm))) continue;
    const auto fits = [&](const HopperGemm& each) { return plan_hopper_gemm(each, gpu).has_value(); };
    for (HopperGemm& fitting : with_fitting_stages(offer, kernel, fits)) all.push_back(std::move(fitting));
  }
}

struct Waves {
  uint64_t tiles;
  uint64_t waves;
  uint64_t last;  // tiles of the last wave

  Waves(const HopperGemm& kernel, const Shape& shape, uint64_t sms)
      : tiles(ceil_div(shape.m, kernel.tile_m()) * ceil_div(shape.n, kernel.tile_n()) * shape.groups),
        waves(ceil_div(tiles, sms)),
        last(tiles % sms == 0 ? sms : tiles % sms) {}
};

// Picks a kernel by DeepGEMM's rule (get_best_configs). Between clusters with equal tiles the first wins.
HopperGemm by_waves(const std::vector<HopperGemm>& kernels, const configs::GemmLibrary& library, const Shape& shape, uint64_t sms) {
  const bool narrow = library.selection() == configs::FEWEST_WAVES_NARROW;
  const auto rank = [&](const HopperGemm& kernel) {
    const Waves waves(kernel, shape, sms);
    const int64_t width = kernel.tile_n();
    return std::tuple(waves.waves, -static_cast<int64_t>(waves.last), narrow ? width : -width);
  };
  HopperGemm best = *std::ranges::min_element(kernels, std::less<>(), rank);
  if (library.raster_by_cluster()) best.set_rasterisation(best.cluster_m() > 1 ? configs::ALONG_N : configs::ALONG_M);
  if (library.idle_sms() > 0) {
    const Waves waves(best, shape, sms);
    const uint64_t cluster = uint64_t{best.cluster_m()} * best.cluster_n();
    const uint64_t least = std::max<uint64_t>(ceil_div(waves.tiles, waves.waves), sms - library.idle_sms());
    best.set_grid_ctas(static_cast<uint32_t>(ceil_div(least, cluster) * cluster));
  }
  return best;
}

}  // namespace

Expected<std::vector<HopperGemm>> gemm_candidates(const HopperGemm& gemm, const configs::GemmLibrary& library,
                                                  const configs::Gpu& gpu) {
  const Shape shape(gemm);
  std::vector<HopperGemm> kernels;
  for (const GemmOffer& offer : library.offer()) {
    if (offers(offer, library, gemm, shape)) add_offer(offer, gemm, library, gpu, kernels);
  }
  drop_repeated(kernels);
  if (kernels.empty()) {
    return fail("hopper_gemm: " + library.name() + " has no kernel for " + std::to_string(shape.m) + " x " +
                std::to_string(shape.n) + " of type " + configs::ElementType_Name(gemm.type()) +
                " that this GPU can run; state tile_m and tile_n, or another library");
  }
  if (library.selection() == configs::FASTEST) return kernels;
  return std::vector{by_waves(kernels, library, shape, gpu.sm_count())};
}

}  // namespace warpfold::workloads
