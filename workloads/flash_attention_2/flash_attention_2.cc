#include "workloads/flash_attention_2/flash_attention_2.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "workloads/common/attention_combine.h"
#include "workloads/common/gradient_streams.h"
#include "workloads/common/occupancy.h"
#include "workloads/flash_attention_2/head_dim_64.h"
#include "workloads/flash_attention_2/plan.h"

namespace warpfold::workloads {
namespace {

// Cuts each tile's key blocks into equal parts (the last may be shorter). Parts without keys are omitted.
std::vector<QueryTile> parts_of(const FlashAttention2Plan& plan) {
  std::vector<QueryTile> parts;
  for (const QueryTile& tile : plan.tiles.query_tiles()) {
    const uint64_t blocks = tile.full_blocks + tile.masked_blocks;
    const uint64_t part = std::max<uint64_t>(1, (blocks + plan.splits - 1) / plan.splits);
    for (uint64_t begin = 0; begin < blocks; begin += part) {
      const uint64_t end = std::min(blocks, begin + part);
      const uint64_t masked = end - std::min(end, std::max(begin, tile.full_blocks));
      parts.push_back({end - begin - masked, masked});
    }
  }
  return parts;
}

// Adds the tiles of one head after another, in the order of the library's grid (tiles, batch, heads). The tile index runs fastest
// and upwards: short query tiles of a causal head come first and, in the backward pass, long key blocks.
void add_grid(std::span<const QueryTile> tiles, uint64_t heads, traces::Kernel& kernel, uint64_t before_loop = 0) {
  kernel.parameters = {"blocks", "masked_blocks"};
  std::vector<traces::CtaRun> head;
  for (const QueryTile& tile : tiles) {
    const uint64_t blocks = tile.full_blocks + tile.masked_blocks;
    const uint64_t outside = std::min(blocks, before_loop);
    const std::vector<uint64_t> values = {blocks - outside,
                                          before_loop == 0 ? std::max<uint64_t>(1, tile.masked_blocks) : outside - 1};
    const auto same = std::ranges::find(kernel.cta_classes, values, &traces::CtaClass::values);
    const auto index = static_cast<uint32_t>(same - kernel.cta_classes.begin());
    if (same == kernel.cta_classes.end()) {
      kernel.cta_classes.push_back({"blocks_" + std::to_string(values[0]) + "_masked_" + std::to_string(values[1]), values});
    }
    if (!head.empty() && head.back().cta_class == index)
      ++head.back().count;
    else
      head.push_back({index, 1});
  }
  if (head.size() == 1) {
    kernel.grid = {{head.front().cta_class, head.front().count * heads}};
    return;
  }
  for (uint64_t i = 0; i < heads; ++i) kernel.grid.insert(kernel.grid.end(), head.begin(), head.end());
}

traces::Kernel kernel_of(const std::string& pass, const FlashAttention2Plan& plan, const configs::Gpu& gpu) {
  traces::Kernel kernel;
  kernel.name = "flash_attention_2";
  kernel.architecture = gpu.architecture();
  kernel.source = "flash_attention_2 " + pass + describe(plan.shape) + " tile=" + std::to_string(plan.tile_queries) + "x" +
                  std::to_string(plan.tile_keys) + " warps=" + std::to_string(plan.warps);
  if (plan.tiles.rows_of_query() > 1) kernel.source += " pack_gqa";
  if (plan.splits > 1) kernel.source += " splits=" + std::to_string(plan.splits);
  if (plan.page_keys > 0) kernel.source += " page_keys=" + std::to_string(plan.page_keys);
  if (plan.key_warps > 1) kernel.source += " warps_share_keys";
  return kernel;
}

// CTAs that run at a time.
Expected<uint64_t> concurrent_ctas(const traces::Kernel& kernel, const configs::Gpu& gpu) {
  const uint32_t resident = ctas_per_sm(gpu, {kernel.warps_per_cta(), kernel.registers_per_thread, kernel.shared_memory_bytes});
  if (resident == 0) {
    return fail("flash_attention_2: a CTA of " + std::to_string(kernel.shared_memory_bytes) +
                " bytes of shared memory does not fit " + gpu.name());
  }
  return std::min(uint64_t{resident} * gpu.sm_count(), kernel.ctas());
}

// A stream of rows: its tiles request whole rows of tiles, of which DRAM delivers the existing ones.
traces::MemoryStream row_stream(const std::string& name, bool write, const FlashAttention2Plan& plan) {
  const uint64_t asked = plan.tiles.query_tiles().size() * plan.rows();
  const uint64_t divisor = std::gcd(plan.tiles.queries(), asked);
  return {name, write, plan.tiles.queries() / divisor, asked / divisor};
}

Expected<traces::Kernel> make_combine(const configs::FlashAttention2& attention, const FlashAttention2Plan& plan,
                                      const configs::Gpu& gpu) {
  if (plan.splits < 2 && (!attention.has_splits() || attention.splits() != 0)) {
    return fail("flash_attention_2: combine adds up the parts of splits, of which there is one; expected splits: 0 or more than 1");
  }
  return make_attention_combine({.rows = plan.tiles.batch() * plan.tiles.heads() * plan.tiles.queries(),
                                 .parts = plan.tiles.parts(plan.splits),
                                 .head_dim = plan.head_dim(),
                                 .fp16 = !plan.bf16(),
                                 .warps = 4},
                                *plan.architecture, gpu);
}

Expected<traces::Kernel> make_forward(const configs::FlashAttention2& attention, const configs::Gpu& gpu) {
  const auto plan = plan_flash_attention_2_forward(attention, gpu);
  if (!plan) return std::unexpected(plan.error());
  if (attention.combine()) return make_combine(attention, *plan, gpu);
  traces::Kernel kernel = kernel_of("", *plan, gpu);
  kernel.flops = plan->tiles.forward_flops();
  kernel.shared_memory_bytes = (plan->tile_queries + 2 * plan->tile_keys) * plan->head_dim() * 2;
  kernel.roles = {{"mma", plan->warps, flash_attention_2_forward_body(*plan)}};
  kernel.registers_per_thread = registers_named(kernel.roles);
  add_grid(plan->splits > 1 ? parts_of(*plan) : plan->tiles.query_tiles(), plan->tiles.heads() * plan->tiles.batch(), kernel,
           has_counted_parts(*plan) ? blocks_before_loop(*plan) : 0);
  const auto concurrent = concurrent_ctas(kernel, gpu);
  if (!concurrent) return std::unexpected(concurrent.error());
  const KeyReaders readers{.concurrent = *concurrent,
                           .l2_bytes = gpu.l2().bytes(),
                           .order = plan->splits > 1 ? KeyReaders::Order::kHeadByHead : KeyReaders::Order::kBatchByBatch,
                           .splits = plan->splits};
  const traces::MemoryStream keys = plan->tiles.key_stream("K", readers);
  traces::MemoryStream values = keys;
  values.name = "V";
  kernel.streams = {row_stream("Q", false, *plan), keys, values, row_stream("O", true, *plan)};
  if (plan->shape.dropout() == configs::STORED_BITS) kernel.streams.push_back({"bits", false, 1, 1});
  return kernel;
}

Expected<traces::Kernel> make_backward(const configs::AttentionShape& shape, const configs::Gpu& gpu) {
  const auto plan = plan_flash_attention_2_backward(shape, gpu);
  if (!plan) return std::unexpected(plan.error());
  traces::Kernel kernel = kernel_of("backward ", plan->common, gpu);
  kernel.flops = plan->common.tiles.forward_flops() / 2 * 5;  // five products instead of two
  kernel.shared_memory_bytes = plan->shared_memory_bytes();
  kernel.roles = {{"mma", plan->common.warps, flash_attention_2_backward_body(*plan)}};
  kernel.registers_per_thread = registers_named(kernel.roles);
  std::vector<QueryTile> key_blocks;
  for (uint64_t i = 0; i < plan->key_blocks(); ++i) key_blocks.push_back(plan->query_blocks(i));
  add_grid(key_blocks, plan->common.tiles.heads() * plan->common.tiles.batch(), kernel);
  const auto concurrent = concurrent_ctas(kernel, gpu);
  if (!concurrent) return std::unexpected(concurrent.error());
  kernel.streams = gradient_streams(plan->common.tiles, plan->common.tile_queries, key_blocks, *concurrent, gpu.l2().bytes());
  return kernel;
}

// The prepare and the convert kernel, before and after the backward pass: one CTA per tile of queries.
Expected<traces::Kernel> make_gradient_kernel(const configs::AttentionShape& shape, const configs::Gpu& gpu, bool prepares) {
  const auto plan = plan_flash_attention_2_backward(shape, gpu);
  if (!plan) return std::unexpected(plan.error());
  traces::Kernel kernel = kernel_of(prepares ? "prepare " : "convert ", plan->common, gpu);
  kernel.shared_memory_bytes = prepares ? 0 : plan->common.tile_queries * plan->common.head_dim() * 2;
  kernel.roles = {
      {"elements", plan->common.warps, prepares ? flash_attention_2_prepare_body(*plan) : flash_attention_2_convert_body(*plan)}};
  kernel.registers_per_thread = registers_named(kernel.roles);
  kernel.cta_classes = {{"tile", {}}};
  const uint64_t tiles = (plan->common.tiles.queries() + plan->common.tile_queries - 1) / plan->common.tile_queries;
  kernel.grid = {{0, tiles * plan->common.tiles.heads() * plan->common.tiles.batch()}};
  if (prepares) {
    kernel.streams = {{"O", false, 1, 1}, {"dO", false, 1, 1}, {"dQ_sums", true, 1, 1}, {"rows", true, 1, 1}};
  } else {
    kernel.streams = {{"dQ_sums", false, 1, 1}, {"dQ", true, 1, 1}};
  }
  return kernel;
}

}  // namespace

Expected<traces::Kernel> make_flash_attention_2(const configs::FlashAttention2& attention, const configs::Gpu& gpu) {
  const bool decodes = attention.has_splits() || attention.has_page_keys() || attention.has_pack_gqa() || attention.combine() ||
                       attention.warps_share_keys();
  if (decodes && attention.pass() != configs::FORWARD) {
    return fail("flash_attention_2: splits, page_keys, pack_gqa, combine and warps_share_keys belong to the forward pass");
  }
  switch (attention.pass()) {
    case configs::BACKWARD:
      return make_backward(attention.shape(), gpu);
    case configs::BACKWARD_PREPARE:
      return make_gradient_kernel(attention.shape(), gpu, true);
    case configs::BACKWARD_CONVERT:
      return make_gradient_kernel(attention.shape(), gpu, false);
    default:
      return make_forward(attention, gpu);
  }
}

}  // namespace warpfold::workloads
