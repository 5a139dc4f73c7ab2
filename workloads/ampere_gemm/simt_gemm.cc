#include "workloads/ampere_gemm/simt_gemm.h"

#include <cmath>
#include <sstream>

#include "workloads/ampere_gemm/simt_plan.h"
#include "workloads/ampere_gemm/simt_warp.h"
#include "workloads/common/occupancy.h"
#include "workloads/common/program.h"
#include "workloads/common/raster_reuse.h"

namespace warpfold::workloads {
namespace {

using Plan = SimtGemmPlan;

uint64_t panel_bytes(uint32_t tile, uint64_t k, double filled) {
  return static_cast<uint64_t>(std::llround(static_cast<double>(k * tile * Plan::kWordBytes) * filled));
}

// Traffic of one product and one part of k; all products and parts have equal traffic.
Expected<RasterTraffic> traffic(const Plan& plan, const configs::Gpu& gpu, uint32_t resident) {
  Raster raster;
  raster.clusters_m = plan.tiles_m();
  raster.clusters_n = plan.tiles_n();
  raster.along_m = plan.along_m;
  raster.band_clusters = plan.swizzle;
  raster.concurrent_clusters = uint64_t{resident} * gpu.sm_count();
  raster.a_panel_bytes = panel_bytes(plan.tile_m, plan.part_k(), plan.filled_m());
  raster.b_panel_bytes = panel_bytes(plan.tile_n, plan.part_k(), plan.filled_n());
  raster.a_repeats = plan.a_repeats;
  raster.b_repeats = plan.b_repeats;
  raster.l2_bytes = gpu.l2().bytes();
  return raster_traffic(raster);
}

std::string describe(const Plan& plan) {
  std::ostringstream text;
  text << "ampere_gemm m=" << plan.m << " n=" << plan.n << " k=" << plan.k << " FP32 tile=" << plan.tile_m << "x" << plan.tile_n
       << "x" << plan.tile_k() << " threads=" << plan.threads << " stages=" << plan.stages;
  if (plan.slices > 1) text << " k_slices=" << plan.slices;
  if (plan.parts > 1) text << " split_k=" << plan.parts;
  if (plan.products > 1) text << " groups=" << plan.products;
  if (plan.a_repeats > 1) text << " a_repeats=" << plan.a_repeats;
  if (plan.b_repeats > 1) text << " b_repeats=" << plan.b_repeats;
  text << (plan.along_m ? " along_m" : " along_n") << " swizzle=" << plan.swizzle;
  return text.str();
}

}  // namespace

Expected<traces::Kernel> make_simt_gemm(const configs::AmpereGemm& gemm, const configs::Gpu& gpu) {
  const auto found = isa::Architecture::find(gpu.architecture());
  if (!found) return std::unexpected(found.error());
  const auto plan = plan_simt_gemm(gemm, (*found)->resolve("LDGSTS").has_value());
  if (!plan) return std::unexpected(plan.error());
  traces::Kernel kernel;
  kernel.name = "ampere_gemm";
  kernel.architecture = gpu.architecture();
  kernel.source = describe(*plan);
  kernel.flops = 2 * plan->m * plan->n * plan->k * plan->products;
  kernel.shared_memory_bytes = plan->shared_bytes();
  kernel.roles = {{"ffma", plan->warps(), simt_warp_body(**found, *plan)}};
  kernel.registers_per_thread = registers_named(kernel.roles);
  kernel.cta_classes = {{"tile", {}}};
  kernel.grid = {{0, plan->ctas()}};
  const uint32_t resident = ctas_per_sm(gpu, {plan->warps(), kernel.registers_per_thread, kernel.shared_memory_bytes});
  if (resident == 0) {
    return fail("ampere_gemm: a CTA of " + std::to_string(plan->threads) + " threads with " +
                std::to_string(kernel.registers_per_thread) + " registers each and " + std::to_string(kernel.shared_memory_bytes) +
                " bytes of shared memory does not fit " + gpu.name());
  }
  const auto bytes = traffic(*plan, gpu, resident);
  if (!bytes) return fail("ampere_gemm: " + bytes.error().message);
  const uint64_t word = Plan::kWordBytes * plan->products;
  kernel.streams = {read_stream("A", bytes->a, 1, word * plan->m * plan->k / plan->a_repeats),
                    read_stream("B", bytes->b, 1, word * plan->n * plan->k / plan->b_repeats),
                    {"C", true, 1, 1, word * plan->m * plan->n * plan->parts}};
  return kernel;
}

}  // namespace warpfold::workloads
