#include "workloads/flash_attention_3/backward.h"

#include <algorithm>
#include <string>

#include "workloads/common/gradient_rows.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention3BackwardPlan;

traces::Kernel kernel_of(const std::string& pass, const configs::AttentionShape& shape, const Plan& plan) {
  traces::Kernel kernel;
  kernel.name = "flash_attention_3";
  kernel.architecture = "sm_90";
  kernel.source = "flash_attention_3 " + pass + " " + describe(shape) + " tile=" + std::to_string(plan.tile_queries) + "x" +
                  std::to_string(Plan::kTileKeys);
  return kernel;
}

void add_synchronisation(traces::Kernel& kernel) {
  kernel.rings = {{"keys", 1, 1, false},
                  {"query_full", Plan::kStages, 1, false},
                  {"query_empty", Plan::kStages, Plan::kConsumerWarps, true},
                  {"gradient_full", Plan::kStages, 1, false},
                  {"gradient_empty", Plan::kStages, Plan::kConsumerWarps, true}};
  kernel.cursors = {{"query_load", Plan::kStages, 0},
                    {"gradient_load", Plan::kStages, 0},
                    {"query", Plan::kStages, 0},
                    {"gradient", Plan::kStages, 0}};
}

// One head's blocks of keys after another's, in the order of the library's grid (blocks, heads, batch). In a causal head, blocks
// that meet most queries come first.
void add_grid(traces::Kernel& kernel, const Plan& plan, const std::vector<QueryTile>& key_blocks) {
  kernel.parameters = {"blocks", "more", "masked", "full"};
  std::vector<traces::CtaRun> head;
  for (const QueryTile& each : key_blocks) {
    const uint64_t blocks = each.full_blocks + each.masked_blocks;
    const std::vector<uint64_t> values{blocks, blocks - 1, each.masked_blocks, each.full_blocks};
    const auto known = std::ranges::find(kernel.cta_classes, values, &traces::CtaClass::values);
    const auto index = static_cast<uint32_t>(known - kernel.cta_classes.begin());
    if (known == kernel.cta_classes.end()) kernel.cta_classes.push_back({"blocks" + std::to_string(blocks), values});
    if (!head.empty() && head.back().cta_class == index)
      ++head.back().count;
    else
      head.push_back({index, 1});
  }
  const uint64_t heads = plan.tiles.heads() * plan.tiles.batch();
  if (head.size() == 1) {
    kernel.grid = {{head.front().cta_class, head.front().count * heads}};
    return;
  }
  for (uint64_t i = 0; i < heads; ++i) kernel.grid.insert(kernel.grid.end(), head.begin(), head.end());
}

traces::Kernel make_pass(const configs::AttentionShape& shape, const Plan& plan, const configs::Gpu& gpu) {
  traces::Kernel kernel = kernel_of("backward", shape, plan);
  kernel.registers_per_thread = Plan::kRegistersPerThread;
  kernel.shared_memory_bytes = plan.shared_memory_bytes();
  kernel.flops = plan.tiles.forward_flops() / 2 * 5;  // five products instead of two
  std::vector<QueryTile> key_blocks;
  for (uint64_t i = 0; i < plan.key_blocks(); ++i) key_blocks.push_back(plan.query_blocks(i));
  add_grid(kernel, plan, key_blocks);
  kernel.streams = gradient_streams(plan.tiles, plan.tile_queries, key_blocks, std::min<uint64_t>(gpu.sm_count(), kernel.ctas()),
                                    gpu.l2().bytes());
  add_synchronisation(kernel);
  kernel.roles = {{"producer", 1, backward_producer_body(plan)},
                  {"writer", 1, backward_writer_body(plan)},
                  {"producer_idle", 2, backward_idle_body(plan)},
                  {"consumer0", 4, backward_consumer_body(plan, 0)},
                  {"consumer1", 4, backward_consumer_body(plan, 1)}};
  return kernel;
}

// The kernels before and after the backward pass.
traces::Kernel make_rows_kernel(const configs::AttentionShape& shape, const Plan& plan, bool prepares) {
  traces::Kernel kernel = kernel_of(prepares ? "prepare" : "convert", shape, plan);
  const GradientRows rows{plan.architecture, plan.type, plan.tile_queries, plan.head_dim()};
  const uint64_t tiles = plan.query_tiles() * plan.tiles.heads() * plan.tiles.batch();
  if (prepares) {
    add_gradient_preparation(kernel, rows, tiles);
  } else {
    add_gradient_conversion(kernel, rows, tiles);
  }
  return kernel;
}

}  // namespace

Expected<traces::Kernel> make_flash_attention_3_backward(const configs::FlashAttention3& attention, const configs::Gpu& gpu) {
  const auto plan = plan_flash_attention_3_backward(attention, gpu);
  if (!plan) return std::unexpected(plan.error());
  if (attention.pass() == configs::BACKWARD) return make_pass(attention.shape(), *plan, gpu);
  return make_rows_kernel(attention.shape(), *plan, attention.pass() == configs::BACKWARD_PREPARE);
}

}  // namespace warpfold::workloads
