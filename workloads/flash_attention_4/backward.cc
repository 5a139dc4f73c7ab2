#include "workloads/flash_attention_4/backward.h"

#include <algorithm>
#include <string>

#include "workloads/common/cta_runs.h"
#include "workloads/common/gradient_rows.h"
#include "workloads/flash_attention_4/roles.h"

namespace warpfold::workloads {

namespace attention4 {

void add_backward_entry(Code& code, uint32_t registers) {
  add_entry(code, registers);
  code.add("MOV R1, RZ").add("ULDC UR36, c[0x0][0x520]").add("UMOV UR37, UR36");
}

}  // namespace attention4

namespace {

using Plan = FlashAttention4BackwardPlan;
using namespace attention4;

traces::Kernel kernel_of(const std::string& pass, const configs::AttentionShape& shape, const Plan& plan) {
  traces::Kernel kernel;
  kernel.name = "flash_attention_4";
  kernel.architecture = plan.architecture->name();
  kernel.source = "flash_attention_4 " + pass + " " + describe(shape) + " tile=128x128";
  return kernel;
}

void add_synchronisation(traces::Kernel& kernel, const Plan& plan) {
  kernel.rings = {{"query_full", plan.query_stages(), 1, false},
                  {"query_empty", plan.query_stages(), 1, true},
                  {"log_sum_full", plan.query_stages(), 1, false},
                  {"log_sum_empty", plan.query_stages(), Plan::kComputeWarps, true},
                  {"gradient_full", 1, 1, false},
                  {"gradient_empty", 1, 1, true},
                  {"row_dot_full", 1, 1, false},
                  {"row_dot_empty", 1, Plan::kComputeWarps, true},
                  {"scores", 1, 1, false},
                  {"probabilities", 1, Plan::kComputeWarps, false},
                  {"probability_gradient", 1, 1, false},
                  {"score_gradient", 1, Plan::kComputeWarps, false},
                  {"score_gradient_empty", 1, 1, true},
                  {"query_gradient", 1, 1, false},
                  {"query_gradient_empty", 1, Plan::kReduceWarps, true},
                  {"value_gradient", 1, 1, false},
                  {"key_gradient", 1, 1, false},
                  {"turned_query_full", 1, 1, false},
                  {"turned_query_empty", 1, 1, true},
                  {"turned_keys", 1, 1, false},
                  {"stored_score_gradient", 1, Plan::kComputeWarps, false},
                  {"exchange", 1, 1, false},
                  {"exchanged", 1, 1, false},
                  {"scores_read", 1, Plan::kComputeWarps, true},
                  {"probabilities_read", 1, 1, true}};
  kernel.cursors = {{"query", plan.query_stages(), 0}, {"query_release", plan.query_stages(), 0}, {"this", 1, 0}, {"next", 1, 0}};
}

// The two CTAs of a pair together request dQ once.
void add_streams(traces::Kernel& kernel, const Plan& plan, const std::vector<QueryTile>& key_blocks, const configs::Gpu& gpu) {
  const uint64_t concurrent = std::min<uint64_t>(gpu.sm_count(), kernel.ctas());
  kernel.streams = gradient_streams(plan.tiles, Plan::kTile, key_blocks, concurrent, gpu.l2().bytes());
  std::vector<QueryTile> groups;
  for (uint64_t i = 0; i < key_blocks.size(); i += plan.group()) groups.push_back(key_blocks[i]);
  kernel.streams[kStreamQueryGradient] =
      gradient_streams(plan.tiles, Plan::kTile, groups, concurrent / plan.group(), gpu.l2().bytes())[kStreamQueryGradient];
  kernel.streams.push_back({"counters", false, 0, 1});
}

// One head's blocks of keys after another's (SingleTileScheduler). In a causal head, blocks that meet most queries come first.
traces::Kernel make_pass(const configs::AttentionShape& shape, const Plan& plan, const configs::Gpu& gpu) {
  traces::Kernel kernel = kernel_of("backward", shape, plan);
  kernel.source += std::string(plan.pair ? " two_ctas" : "") + (plan.deterministic ? " deterministic" : "") +
                   (plan.own_columns ? " own_columns" : "");
  kernel.cluster_ctas = plan.group();
  kernel.registers_per_thread = Plan::kRegistersPerThread;
  kernel.shared_memory_bytes = plan.shared_memory_bytes();
  kernel.tensor_memory_columns = Plan::kTensorMemoryColumns;
  kernel.flops = plan.tiles.forward_flops() / 2 * 5;  // five products instead of two
  kernel.parameters = {"blocks", "more"};
  std::vector<QueryTile> key_blocks;
  for (uint64_t i = 0; i < plan.key_blocks(); ++i) key_blocks.push_back({plan.query_blocks(i), 0});
  for (uint64_t head = 0; head < plan.tiles.heads() * plan.tiles.batch(); ++head) {
    for (const QueryTile& each : key_blocks) {
      const uint64_t blocks = each.full_blocks;
      add_cta_run(kernel, "blocks" + std::to_string(blocks), {blocks, blocks - 1}, 1);
    }
  }
  add_streams(kernel, plan, key_blocks, gpu);
  add_synchronisation(kernel, plan);
  kernel.roles = {{"reduce0", 1, backward_reduce_body(plan, true)},
                  {"reduce", 3, backward_reduce_body(plan, false)},
                  {"compute0", 1, backward_compute_body(plan, {0, true})},
                  {"compute", 3, backward_compute_body(plan, {0, false})},
                  {"compute1", 1, backward_compute_body(plan, {1, true})},
                  {"compute2", 3, backward_compute_body(plan, {1, false})},
                  {"multiply", 1, backward_multiply_body(plan)},
                  {"load", 1, backward_load_body(plan)},
                  {"relay", 1, backward_relay_body(plan)},
                  {"spare", 1, backward_spare_body(plan)}};
  return kernel;
}

// The kernels before and after the pass. If heads share keys, dK and dV are converted too: as tiles of equal size in one launch
// here, in three launches in the library.
traces::Kernel make_rows_kernel(const configs::AttentionShape& shape, const Plan& plan, bool prepares) {
  traces::Kernel kernel = kernel_of(prepares ? "prepare" : "convert", shape, plan);
  const GradientRows rows{plan.architecture, plan.type, Plan::kTile, plan.head_dim()};
  uint64_t tiles = plan.query_tiles() * plan.tiles.heads() * plan.tiles.batch();
  if (prepares) {
    add_gradient_preparation(kernel, rows, tiles);
    return kernel;
  }
  if (plan.shares_keys()) tiles += 2 * plan.key_blocks() * plan.tiles.kv_heads() * plan.tiles.batch();
  add_gradient_conversion(kernel, rows, tiles);
  return kernel;
}

}  // namespace

Expected<traces::Kernel> make_flash_attention_4_backward(const configs::FlashAttention4& attention, const configs::Gpu& gpu) {
  const auto plan = plan_flash_attention_4_backward(attention, gpu);
  if (!plan) return std::unexpected(plan.error());
  if (attention.pass() == configs::BACKWARD) return make_pass(attention.shape(), *plan, gpu);
  return make_rows_kernel(attention.shape(), *plan, attention.pass() == configs::BACKWARD_PREPARE);
}

}  // namespace warpfold::workloads
