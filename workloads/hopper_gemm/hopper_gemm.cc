#include "workloads/hopper_gemm/hopper_gemm.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "workloads/common/raster_reuse.h"
#include "workloads/hopper_gemm/plan.h"
#include "workloads/hopper_gemm/roles.h"

namespace warpfold::workloads {
namespace {

std::string describe(const HopperPlan& plan) {
  std::ostringstream text;
  text << "hopper_gemm m=" << plan.m << " n=" << plan.n << " k=" << plan.k << " " << configs::ElementType_Name(plan.type) << "->"
       << configs::ElementType_Name(plan.output_type) << " tile=" << plan.tile_m << "x" << plan.tile_n << "x" << plan.tile_k
       << " stages=" << plan.stages << (plan.pingpong ? " pingpong" : " cooperative") << (plan.persistent ? " persistent" : "")
       << " cluster=" << plan.cluster_m << "x" << plan.cluster_n << (plan.along_m ? " along_m" : " along_n")
       << " swizzle=" << plan.swizzle;
  return text.str();
}

RasterTraffic traffic(const HopperPlan& plan, const configs::Gpu& gpu) {
  Raster raster;
  raster.clusters_m = plan.clusters_m;
  raster.clusters_n = plan.clusters_n;
  raster.cluster_m = plan.cluster_m;
  raster.cluster_n = plan.cluster_n;
  raster.along_m = plan.along_m;
  raster.band_clusters = std::max(1U, plan.swizzle / (plan.along_m ? plan.cluster_n : plan.cluster_m));
  raster.concurrent_clusters = plan.concurrent_ctas / plan.cluster_ctas();
  raster.a_panel_bytes = plan.k_blocks * plan.a_stage_bytes();
  raster.b_panel_bytes = plan.k_blocks * plan.b_stage_bytes();
  raster.l2_bytes = gpu.l2().bytes();
  return raster_traffic(raster);
}

// Each of the `receivers` CTAs of a multicast counts the tile among its bytes, L2 and DRAM read it once.
traces::MemoryStream read_stream(const std::string& name, const OperandTraffic& bytes, uint32_t receivers) {
  const uint64_t received = bytes.requested * receivers;
  const uint64_t divisor = std::gcd(bytes.dram, received);
  return {name, false, bytes.dram / divisor, received / divisor};
}

void add_synchronisation(traces::Kernel& kernel, const HopperPlan& plan) {
  const uint32_t groups_a_stage = plan.pingpong ? 1 : 2;  // consumer warpgroups that read one stage
  kernel.rings = {{"full", plan.stages, 1, false}, {"empty", plan.stages, 4 * groups_a_stage, true}};
  const auto second = plan.pingpong ? static_cast<uint32_t>(plan.k_blocks) : 0;  // the second warpgroup starts at the second tile
  kernel.cursors = {{"producer", plan.stages, 0},
                    {"read0", plan.stages, 0},
                    {"read1", plan.stages, second},
                    {"release0", plan.stages, 0},
                    {"release1", plan.stages, second}};
  if (!plan.pingpong) return;
  // CUTLASS's ordered sequence: warpgroup 0 goes first, each one's four warps let the other one go.
  for (const char* name : {"main_order", "epilogue_order"}) {
    kernel.rings.push_back({std::string(name) + "0", 1, 4, true});
    kernel.rings.push_back({std::string(name) + "1", 1, 4, false});
    kernel.cursors.push_back({name, 1, 0});
  }
}

void add_grid(traces::Kernel& kernel, const HopperPlan& plan) {
  if (plan.persistent) {
    kernel.parameters = {"tiles"};
    if (plan.pingpong) kernel.parameters = {"tiles", "tiles0", "tiles1"};
  }
  for (const TileShare& share : plan.shares) {
    traces::CtaClass cta_class{"tiles" + std::to_string(share.tiles_per_cta), {}};
    if (plan.persistent) cta_class.values = {share.tiles_per_cta};
    if (plan.pingpong) cta_class.values = {share.tiles_per_cta, (share.tiles_per_cta + 1) / 2, share.tiles_per_cta / 2};
    kernel.grid.push_back({static_cast<uint32_t>(kernel.cta_classes.size()), share.ctas});
    kernel.cta_classes.push_back(std::move(cta_class));
  }
}

}  // namespace

Expected<traces::Kernel> make_hopper_gemm(const configs::HopperGemm& gemm, const configs::Gpu& gpu) {
  const auto plan = plan_hopper_gemm(gemm, gpu);
  if (!plan) return std::unexpected(plan.error());
  const auto architecture = isa::Architecture::find(gpu.architecture());
  if (!architecture) return std::unexpected(architecture.error());
  traces::Kernel kernel;
  kernel.name = "hopper_gemm";
  kernel.architecture = gpu.architecture();
  kernel.source = describe(*plan);
  kernel.cluster_ctas = plan->cluster_ctas();
  kernel.registers_per_thread = plan->registers_per_thread;
  kernel.shared_memory_bytes = plan->shared_memory_bytes;
  kernel.flops = 2 * plan->m * plan->n * plan->k;
  const RasterTraffic bytes = traffic(*plan, gpu);
  kernel.streams = {read_stream("A", bytes.a, plan->cluster_n), read_stream("B", bytes.b, plan->cluster_m), {"C", true, 1, 1}};
  add_synchronisation(kernel, *plan);
  add_grid(kernel, *plan);
  kernel.roles = {{"producer", 1, producer_body(**architecture, *plan)},
                  {"producer_idle", 3, producer_idle_body(**architecture, *plan)},
                  {"consumer0", 4, consumer_body(**architecture, *plan, 0)},
                  {"consumer1", 4, consumer_body(**architecture, *plan, 1)}};
  return kernel;
}

}  // namespace warpfold::workloads
