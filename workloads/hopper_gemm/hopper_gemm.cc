#include "workloads/hopper_gemm/hopper_gemm.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>
#include <utility>

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
  if (plan.swapped) text << " swapped";
  if (plan.split()) text << " split_k=" << plan.parts << (plan.parallel_parts ? " parallel" : " serial");
  if (plan.stream_k) text << " stream_k";
  if (plan.grouped)
    text << " groups=" << plan.group_rows.size() << (plan.batched ? " batched" : plan.masked ? " masked" : " contiguous");
  if (plan.is_fused()) text << " fused { " << plan.fused.ShortDebugString() << "}";
  return text.str();
}

Expected<RasterTraffic> traffic_of_group(const HopperPlan& plan, const configs::Gpu& gpu, uint64_t rows) {
  const auto clusters = [](uint64_t extent, uint32_t tile, uint32_t cluster) {
    const uint64_t unit = uint64_t{tile} * cluster;
    return (extent + unit - 1) / unit;
  };
  Raster raster;
  raster.clusters_m = plan.swapped ? plan.clusters_m : clusters(rows, plan.tile_m, plan.cluster_m);
  raster.clusters_n = plan.swapped ? clusters(rows, plan.tile_n, plan.cluster_n) : plan.clusters_n;
  raster.cluster_m = plan.cluster_m;
  raster.cluster_n = plan.cluster_n;
  raster.along_m = plan.along_m;
  raster.band_clusters = std::max(1U, plan.swizzle / (plan.along_m ? plan.cluster_n : plan.cluster_m));
  raster.concurrent_clusters = std::max<uint64_t>(1, plan.concurrent_ctas / plan.cluster_ctas() / plan.parts);
  raster.a_panel_bytes = plan.parts * plan.k_blocks * plan.a_load_bytes();
  raster.b_panel_bytes = plan.parts * plan.k_blocks * plan.b_load_bytes();
  raster.l2_bytes = gpu.l2().bytes();
  return raster_traffic(raster);
}

// Each group has its own matrices. A wave that spans two groups is counted in both.
Expected<RasterTraffic> traffic(const HopperPlan& plan, const configs::Gpu& gpu) {
  std::map<uint64_t, uint64_t> groups;  // groups by their number of rows
  for (const uint64_t rows : plan.group_rows) groups[rows] += rows > 0 ? 1 : 0;
  RasterTraffic all;
  for (const auto& [rows, count] : groups) {
    if (count == 0) continue;
    const auto one = traffic_of_group(plan, gpu, rows);
    if (!one) return one;
    for (const auto operand : {&RasterTraffic::a, &RasterTraffic::b}) {
      (all.*operand).requested += count * ((*one).*operand).requested;
      (all.*operand).dram += count * ((*one).*operand).dram;
    }
  }
  return all;
}

struct Matrices {
  uint64_t a, b, c;  // bytes
};

// Bytes of all groups together, each of which has its own matrices. With swap_operands the names change: A is then the operand that
// has the result's columns.
Matrices matrices_of(const HopperPlan& plan, uint64_t rows, uint64_t columns) {
  const auto groups = static_cast<uint64_t>(std::ranges::count_if(plan.group_rows, [](uint64_t of_group) { return of_group > 0; }));
  Matrices bytes{rows * plan.k * plan.element_bytes, groups * columns * plan.k * plan.element_bytes,
                 rows * columns / plan.sum_columns() * plan.output_bytes * (plan.parallel_parts ? plan.parts : 1)};
  if (plan.swapped) std::swap(bytes.a, bytes.b);
  return bytes;
}

void add_synchronisation(traces::Kernel& kernel, const HopperPlan& plan) {
  const uint32_t groups_a_stage = plan.pingpong ? 1 : plan.consumers;  // consumer warpgroups that read one stage
  kernel.rings = {{"full", plan.stages, 1, false}, {"empty", plan.stages, 4 * groups_a_stage, true}};
  const auto second = plan.pingpong ? static_cast<uint32_t>(plan.k_blocks) : 0;  // the second warpgroup starts at the second tile
  kernel.cursors = {{"producer", plan.stages, 0},
                    {"read0", plan.stages, 0},
                    {"read1", plan.stages, second},
                    {"release0", plan.stages, 0},
                    {"release1", plan.stages, second}};
  // CUTLASS's ordered sequence: warpgroup 0 goes first, then the four warps of each warpgroup release the other warpgroup.
  for (const char* name : {"main_order", "epilogue_order"}) {
    if (!plan.pingpong) break;
    kernel.rings.push_back({std::string(name) + "0", 1, 4, true});
    kernel.rings.push_back({std::string(name) + "1", 1, 4, false});
    kernel.cursors.push_back({name, 1, 0});
  }
  for (uint32_t group = 0; plan.fused.residual() && group < plan.consumers; ++group) {
    const std::string number = std::to_string(group);
    kernel.rings.push_back({"residual" + number, ResidualRings::kDepth, 1, false});
    kernel.rings.push_back({"residual_free" + number, ResidualRings::kDepth, 4, true});
  }
  if (plan.fused.residual()) kernel.cursors.push_back({"residual", ResidualRings::kDepth, 0});
}

// Vectors come from DRAM once; every tile of the same rows or columns reads them again from L2. Scales of the result go to DRAM
// like the result itself.
void add_fusion_streams(traces::Kernel& kernel, const HopperPlan& plan) {
  if (!plan.is_fused()) return;
  const uint64_t again = std::max<uint64_t>(1, std::min(plan.clusters_m * plan.cluster_m, plan.clusters_n * plan.cluster_n));
  kernel.streams.push_back({"vectors", false, 1, again});
  kernel.streams.push_back({"residual", false, 1, 1});
  kernel.streams.push_back({"scales", true, 1, 1});
}

// Of the producer warpgroup, one warp loads A and B, one warp per consumer warpgroup loads a residual, and the other warps exit.
void add_roles(traces::Kernel& kernel, const isa::Architecture& architecture, const HopperPlan& plan) {
  const uint32_t residual_warps = plan.fused.residual() ? plan.consumers : 0;
  kernel.roles = {{"producer", 1, producer_body(architecture, plan)},
                  {"producer_idle", 3 - residual_warps, producer_idle_body(architecture, plan)}};
  for (uint32_t group = 0; group < residual_warps; ++group)
    kernel.roles.push_back({"residual" + std::to_string(group), 1, residual_body(architecture, plan, static_cast<int>(group))});
  for (uint32_t group = 0; group < plan.consumers; ++group)
    kernel.roles.push_back({"consumer" + std::to_string(group), 4, consumer_body(architecture, plan, static_cast<int>(group))});
}

// Split k: all CTAs of one part precede those of the next part, since parts are the grid's last dimension.
void add_parts(traces::Kernel& kernel, const HopperPlan& plan) {
  if (plan.parallel_parts) {
    kernel.cta_classes = {{"part", {}}};
    kernel.grid = {{0, plan.tiles() * plan.parts}};
    return;
  }
  kernel.parameters = {"turns", "adds", "stores", "ends"};
  for (uint32_t part = 0; part < plan.parts; ++part) {
    const uint64_t last = part + 1 == plan.parts ? 1 : 0;
    kernel.cta_classes.push_back(
        {"part" + std::to_string(part), {uint64_t{part} * plan.turn_polls, part > 0 ? 1U : 0U, 1 - last, last}});
    kernel.grid.push_back({part, plan.tiles()});
  }
}

void add_grid(traces::Kernel& kernel, const HopperPlan& plan) {
  if (plan.split()) return add_parts(kernel, plan);
  if (plan.persistent) {
    kernel.parameters = {"tiles"};
    if (plan.pingpong) kernel.parameters = {"tiles", "tiles0", "tiles1"};
    if (plan.stream_k) kernel.parameters = {"tiles", "ended", "begun", "has_ended", "has_begun", "ended_rest", "begun_rest"};
  }
  for (const TileShare& share : plan.shares) {
    traces::CtaClass cta_class{"tiles" + std::to_string(share.tiles_per_cta), {}};
    if (plan.persistent) cta_class.values = {share.tiles_per_cta};
    if (plan.pingpong) cta_class.values = {share.tiles_per_cta, (share.tiles_per_cta + 1) / 2, share.tiles_per_cta / 2};
    if (plan.stream_k) {
      const auto rest = [](uint64_t blocks) { return blocks > 0 ? blocks - 1 : 0; };
      cta_class.name += "_" + std::to_string(share.ended) + "_" + std::to_string(share.begun);
      cta_class.values = {share.tiles_per_cta,       share.ended,       share.begun,      share.ended > 0 ? 1U : 0U,
                          share.begun > 0 ? 1U : 0U, rest(share.ended), rest(share.begun)};
    }
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
  const uint64_t rows = std::accumulate(plan->group_rows.begin(), plan->group_rows.end(), uint64_t{0});
  kernel.flops = 2 * rows * gemm.n() * plan->k;
  const auto bytes = traffic(*plan, gpu);
  if (!bytes) return fail("hopper_gemm: " + bytes.error().message);
  const Matrices matrices = matrices_of(*plan, rows, gemm.n());
  kernel.streams = {read_stream("A", bytes->a, plan->cluster_n, matrices.a),
                    read_stream("B", bytes->b, plan->cluster_m, matrices.b),
                    {"C", true, 1, 1, matrices.c}};
  // Sums that one part writes are read by the next part out of L2.
  if (plan->split() || plan->stream_k || plan->is_fused())
    kernel.streams.insert(kernel.streams.end(), {{"parts_written", true, 0, 1}, {"parts_read", false, 0, 1}});
  add_fusion_streams(kernel, *plan);
  add_synchronisation(kernel, *plan);
  add_grid(kernel, *plan);
  add_roles(kernel, **architecture, *plan);
  return kernel;
}

}  // namespace warpfold::workloads
