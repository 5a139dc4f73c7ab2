#include "workloads/blackwell_gemm/blackwell_gemm.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "workloads/blackwell_gemm/plan.h"
#include "workloads/blackwell_gemm/roles.h"
#include "workloads/common/program.h"
#include "workloads/common/raster_reuse.h"

namespace warpfold::workloads {
namespace {

std::string describe(const BlackwellPlan& plan) {
  std::ostringstream text;
  text << "blackwell_gemm m=" << plan.m << " n=" << plan.n << " k=" << plan.k << " " << configs::ElementType_Name(plan.type) << "->"
       << configs::ElementType_Name(plan.output_type) << " tile=" << plan.tile_m << "x" << plan.tile_n << "x" << plan.tile_k
       << " cta_group=" << plan.cta_group << " stages=" << plan.stages << " accumulators=" << plan.accumulators
       << (plan.persistent ? " persistent" : "") << " cluster=" << plan.cluster_m << "x" << plan.cluster_n
       << (plan.along_m ? " along_m" : " along_n") << " swizzle=" << plan.swizzle;
  if (plan.scaled_elements > 0) text << " scales=" << plan.scaled_elements;
  if (plan.swapped) text << " swapped";
  if (plan.parts > 1) text << " split_k=" << plan.parts;
  return text.str();
}

Expected<RasterTraffic> traffic(const BlackwellPlan& plan, const configs::Gpu& gpu) {
  Raster raster;
  raster.clusters_m = plan.clusters_m;
  raster.clusters_n = plan.clusters_n;
  raster.cluster_m = plan.cluster_m;
  raster.cluster_n = plan.cluster_n;
  raster.along_m = plan.along_m;
  raster.band_clusters = std::max(1U, plan.swizzle / (plan.along_m ? plan.cluster_n : plan.cluster_m));
  raster.concurrent_clusters = std::max<uint64_t>(1, plan.concurrent_ctas / plan.cluster_ctas() / plan.parts);
  raster.a_panel_bytes = plan.parts * plan.k_blocks * plan.a_load_bytes();
  raster.b_panel_bytes = plan.parts * plan.k_blocks * plan.b_load_bytes() * plan.cta_group;
  raster.l2_bytes = gpu.l2().bytes();
  return raster_traffic(raster);
}

Expected<void> add_streams(traces::Kernel& kernel, const BlackwellPlan& plan, const configs::Gpu& gpu) {
  const auto bytes = traffic(plan, gpu);
  if (!bytes) return fail("blackwell_gemm: " + bytes.error().message);
  const uint64_t a = plan.m * plan.k * plan.element_bits / 8;
  const uint64_t b = plan.n * plan.k * plan.element_bits / 8;
  kernel.streams = {read_stream("A", bytes->a, plan.a_receivers(), a),
                    read_stream("B", bytes->b, plan.b_receivers(), b),
                    {"C", true, 1, 1, plan.m * plan.n * plan.output_bytes * plan.parts}};
  return {};
}

// The bulk loads and commits of a pair signal only the CTA's own barriers, because both CTAs advance in step.
void add_synchronisation(traces::Kernel& kernel, const BlackwellPlan& plan) {
  kernel.rings = {{"full", plan.stages, 1, false},
                  {"empty", plan.stages, 1, true},
                  {"sums", plan.accumulators, 1, false},
                  {"free", plan.accumulators, BlackwellPlan::kEpilogueWarps, true}};
  if (plan.cluster_ctas() > 1) kernel.rings.push_back({"start", 1, BlackwellPlan::kWarps, false});
  kernel.cursors = {
      {"load", plan.stages, 0}, {"use", plan.stages, 0}, {"tile", plan.accumulators, 0}, {"out", plan.accumulators, 0}};
}

void add_grid(traces::Kernel& kernel, const BlackwellPlan& plan) {
  if (plan.persistent) kernel.parameters = {"tiles"};
  for (const TileShare& share : plan.shares) {
    traces::CtaClass cta_class{"tiles" + std::to_string(share.tiles_per_cta), {}};
    if (plan.persistent) cta_class.values = {share.tiles_per_cta};
    kernel.grid.push_back({static_cast<uint32_t>(kernel.cta_classes.size()), share.ctas});
    kernel.cta_classes.push_back(std::move(cta_class));
  }
}

void add_roles(traces::Kernel& kernel, const isa::Architecture& architecture, const BlackwellPlan& plan) {
  constexpr uint32_t kIdle = BlackwellPlan::kWarps - BlackwellPlan::kEpilogueWarps - 2;
  kernel.roles = {{"load", 1, load_body(architecture, plan)},
                  {"multiply", 1, multiply_body(architecture, plan)},
                  {"idle", kIdle, idle_body(architecture, plan)},
                  {"epilogue", BlackwellPlan::kEpilogueWarps, epilogue_body(architecture, plan)}};
}

}  // namespace

Expected<traces::Kernel> make_blackwell_gemm(const configs::BlackwellGemm& gemm, const configs::Gpu& gpu) {
  const auto plan = plan_blackwell_gemm(gemm, gpu);
  if (!plan) return std::unexpected(plan.error());
  const auto architecture = isa::Architecture::find(gpu.architecture());
  if (!architecture) return std::unexpected(architecture.error());
  traces::Kernel kernel;
  kernel.name = "blackwell_gemm";
  kernel.architecture = gpu.architecture();
  kernel.source = describe(*plan);
  kernel.cluster_ctas = plan->cluster_ctas();
  kernel.registers_per_thread = BlackwellPlan::kRegisters;
  kernel.shared_memory_bytes = plan->shared_memory_bytes;
  kernel.tensor_memory_columns = plan->tensor_memory_columns();
  kernel.flops = 2 * plan->m * plan->n * plan->k;
  if (auto added = add_streams(kernel, *plan, gpu); !added) return std::unexpected(added.error());
  add_synchronisation(kernel, *plan);
  add_grid(kernel, *plan);
  add_roles(kernel, **architecture, *plan);
  return kernel;
}

}  // namespace warpfold::workloads
