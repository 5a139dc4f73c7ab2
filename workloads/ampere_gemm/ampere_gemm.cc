#include "workloads/ampere_gemm/ampere_gemm.h"

#include <cmath>
#include <sstream>

#include "workloads/ampere_gemm/mma_warp.h"
#include "workloads/ampere_gemm/plan.h"
#include "workloads/ampere_gemm/simt_gemm.h"
#include "workloads/common/occupancy.h"
#include "workloads/common/program.h"
#include "workloads/common/raster_reuse.h"

namespace warpfold::workloads {
namespace {

using Plan = AmpereGemmPlan;

uint64_t panel_bytes(uint64_t bytes, double filled) {
  return static_cast<uint64_t>(std::llround(static_cast<double>(bytes) * filled));
}

// Traffic of one product; all products have equal traffic.
Expected<RasterTraffic> traffic(const Plan& plan, const configs::Gpu& gpu, uint32_t resident) {
  Raster raster;
  raster.clusters_m = plan.tiles_m();
  raster.clusters_n = plan.tiles_n();
  raster.along_m = plan.along_m;
  raster.band_clusters = plan.swizzle;
  raster.concurrent_clusters = uint64_t{resident} * gpu.sm_count();
  raster.a_panel_bytes = panel_bytes(plan.k_tiles() * plan.a_bytes(), plan.filled_m());
  raster.b_panel_bytes = panel_bytes(plan.k_tiles() * plan.b_bytes(), plan.filled_n());
  raster.a_repeats = plan.a_repeats;
  raster.b_repeats = plan.b_repeats;
  raster.l2_bytes = gpu.l2().bytes();
  return raster_traffic(raster);
}

std::string describe(const Plan& plan) {
  std::ostringstream text;
  text << "ampere_gemm m=" << plan.m << " n=" << plan.n << " k=" << plan.k << " " << configs::ElementType_Name(plan.type)
       << " tile=" << plan.tile.m << "x" << plan.tile.n << "x" << plan.tile_k() << " stages=" << plan.tile.stages
       << (plan.along_m ? " along_m" : " along_n") << " swizzle=" << plan.swizzle;
  if (plan.accesses() > 1) text << " copy_bytes=" << plan.thread_bytes;
  if (plan.products > 1) text << " groups=" << plan.products;
  if (plan.a_repeats > 1) text << " a_repeats=" << plan.a_repeats;
  if (plan.b_repeats > 1) text << " b_repeats=" << plan.b_repeats;
  return text.str();
}

}  // namespace

Expected<traces::Kernel> make_ampere_gemm(const configs::AmpereGemm& gemm, const configs::Gpu& gpu) {
  if (gemm.type() == configs::FP32) return make_simt_gemm(gemm, gpu);
  const auto plan = plan_ampere_gemm(gemm);
  if (!plan) return std::unexpected(plan.error());
  const auto found = isa::Architecture::find(gpu.architecture());
  if (!found) return std::unexpected(found.error());
  if (!(*found)->resolve("LDGSTS") || !(*found)->resolve("HMMA.16816.F32")) {
    return fail("ampere_gemm needs a GPU of architecture sm_80 or later, this one is " + gpu.architecture());
  }
  if (!(*found)->resolve(mma_name(plan->type)))
    return fail("ampere_gemm: type " + configs::ElementType_Name(plan->type) + " has no mma.sync on " + gpu.architecture());
  traces::Kernel kernel;
  kernel.name = "ampere_gemm";
  kernel.architecture = gpu.architecture();
  kernel.source = describe(*plan);
  kernel.flops = 2 * plan->m * plan->n * plan->k * plan->products;
  kernel.shared_memory_bytes = plan->tile.stages * plan->stage_bytes();
  kernel.roles = {{"mma", plan->tile.warps, mma_warp_body(**found, *plan)}};
  kernel.registers_per_thread = registers_named(kernel.roles);
  kernel.cta_classes = {{"tile", {}}};
  kernel.grid = {{0, plan->tiles_m() * plan->tiles_n() * plan->products}};
  const uint32_t resident = ctas_per_sm(gpu, {plan->tile.warps, kernel.registers_per_thread, kernel.shared_memory_bytes});
  if (resident == 0) {
    return fail("ampere_gemm: a CTA of " + std::to_string(kernel.shared_memory_bytes) + " bytes of shared memory does not fit " +
                gpu.name());
  }
  const auto bytes = traffic(*plan, gpu, resident);
  if (!bytes) return fail("ampere_gemm: " + bytes.error().message);
  const uint64_t element = plan->operand_bytes() * plan->products;
  kernel.streams = {read_stream("A", bytes->a, 1, element * plan->m * plan->k / plan->a_repeats),
                    read_stream("B", bytes->b, 1, element * plan->n * plan->k / plan->b_repeats),
                    {"C", true, 1, 1, plan->result_bytes() * plan->products * plan->m * plan->n}};
  return kernel;
}

}  // namespace warpfold::workloads
