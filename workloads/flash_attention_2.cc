// softmax(Q K^T) V with mma.sync, as FlashAttention-2 does it. A CTA holds a tile of queries and goes through the keys.
#include <algorithm>

#include "workloads/flash_attention_2_plan.h"
#include "workloads/occupancy.h"
#include "workloads/workloads.h"

namespace warpfold::workloads {
namespace {

// Query tiles of one head after another, as the library's grid (query tiles, batch, heads) is launched: the tile index runs fastest
// and upwards, so that the short tiles of a causal head come first.
void add_grid(const FlashAttention2Plan& plan, traces::Kernel& kernel) {
  kernel.parameters = {"key_blocks", "masked_blocks"};
  std::vector<traces::CtaRun> head;
  for (const QueryTile& tile : plan.tiles.query_tiles()) {
    const std::vector<uint64_t> values = {tile.full_blocks + tile.masked_blocks, std::max<uint64_t>(1, tile.masked_blocks)};
    const auto same = std::ranges::find(kernel.cta_classes, values, &traces::CtaClass::values);
    const auto index = static_cast<uint32_t>(same - kernel.cta_classes.begin());
    if (same == kernel.cta_classes.end()) kernel.cta_classes.push_back({"key_blocks_" + std::to_string(values[0]), values});
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

Expected<traces::Kernel> make_forward(const configs::AttentionShape& shape, const configs::Gpu& gpu) {
  const auto plan = plan_flash_attention_2_forward(shape, gpu);
  if (!plan) return std::unexpected(plan.error());
  traces::Kernel kernel;
  kernel.name = "flash_attention_2";
  kernel.architecture = gpu.architecture();
  kernel.source = "flash_attention_2 " + describe(plan->shape) + " tile=" + std::to_string(plan->tile_queries) + "x" +
                  std::to_string(plan->tile_keys) + " warps=" + std::to_string(plan->warps);
  kernel.flops = plan->tiles.forward_flops();
  kernel.shared_memory_bytes = (plan->tile_queries + 2 * plan->tile_keys) * plan->head_dim() * 2;
  kernel.roles = {{"mma", plan->warps, flash_attention_2_forward_body(*plan)}};
  kernel.registers_per_thread = registers_named(kernel.roles);
  add_grid(*plan, kernel);
  const uint32_t resident = ctas_per_sm(gpu, {plan->warps, kernel.registers_per_thread, kernel.shared_memory_bytes});
  if (resident == 0) {
    return fail("flash_attention_2: a CTA of " + std::to_string(kernel.shared_memory_bytes) +
                " bytes of shared memory does not fit " + gpu.name());
  }
  const uint64_t concurrent = std::min<uint64_t>(uint64_t{resident} * gpu.sm_count(), plan->ctas());
  kernel.streams = {{"Q", false, 1, 1},
                    plan->tiles.key_stream("K", concurrent, gpu.l2().bytes()),
                    plan->tiles.key_stream("V", concurrent, gpu.l2().bytes()),
                    {"O", true, 1, 1}};
  if (plan->shape.dropout() == configs::STORED_BITS) kernel.streams.push_back({"bits", false, 1, 1});
  return kernel;
}

}  // namespace

Expected<traces::Kernel> make_flash_attention_2(const configs::FlashAttention2& attention, const configs::Gpu& gpu) {
  return make_forward(attention.shape(), gpu);
}

}  // namespace warpfold::workloads
