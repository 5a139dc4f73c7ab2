#include "workloads/flash_attention_3/flash_attention_3.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "workloads/common/attention_combine.h"
#include "workloads/common/cta_runs.h"
#include "workloads/common/longest_first.h"
#include "workloads/flash_attention_3/backward.h"
#include "workloads/flash_attention_3/roles.h"
#include "workloads/flash_attention_3/tiles.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention3Plan;

std::string describe(const configs::AttentionShape& shape, const Plan& plan) {
  std::ostringstream text;
  text << "flash_attention_3 " << workloads::describe(shape) << " tile=" << plan.tile_queries << "x" << plan.tile_keys
       << " stages=" << plan.stages << " cluster=" << plan.cluster << (plan.specialized ? " persistent" : "")
       << (plan.longest_first ? " longest_first" : "") << (plan.pingpong ? " pingpong" : "") << (plan.overlap ? " overlap" : "")
       << (plan.specialized ? "" : " consumers_load") << (plan.packed() ? " pack_gqa" : "");
  if (plan.splits > 1) text << " splits=" << plan.splits;
  if (plan.page_keys > 0) text << " page_keys=" << plan.page_keys << (plan.copies ? " copied" : "");
  return text.str();
}

void add_synchronisation(traces::Kernel& kernel, const Plan& plan) {
  const uint32_t warps = 4 * plan.consumers();
  const uint32_t value_arrivals = plan.transposes() ? 4 : plan.loaders();
  kernel.rings = {{"query", 1, plan.loaders(), false},       {"key_full", plan.stages, plan.loaders(), false},
                  {"key_empty", plan.stages, warps, true},   {"value_full", plan.stages, value_arrivals, false},
                  {"value_empty", plan.stages, warps, true}, {"output", 1, 4, false}};
  kernel.cursors = {{"key_load", plan.stages, 0},
                    {"value_load", plan.stages, 0},
                    {"key", plan.stages, 0},
                    {"value", plan.stages, 0},
                    {"tile", 1, 0},
                    {"output", 1, 0}};
  if (!plan.transposes()) return;
  kernel.rings.push_back({"raw_full", plan.stages, 1, false});
  kernel.rings.push_back({"raw_empty", plan.stages, 4, true});
  kernel.cursors.push_back({"transposed", plan.stages, 0});
}

// The last tile also requests rows after the last query, which TMA does not move.
traces::MemoryStream row_stream(const std::string& name, bool write, const Plan& plan) {
  const uint64_t asked = plan.tiles.query_tiles().size() * plan.rows();
  const uint64_t divisor = std::gcd(plan.tiles.queries(), asked);
  return {name, write, plan.tiles.queries() / divisor, asked / divisor};
}

// Parameters of tiles of equal length. The first block, on the diagonal, is separate. The library masks a fixed number of blocks
// after it, whether or not the diagonal cuts them.
std::vector<uint64_t> parameters_of(const Plan& plan, const TilesOfLength& each) {
  const uint64_t more = each.blocks - 1;
  const uint64_t queries = (plan.tile_queries + plan.tiles.rows_of_query() - 1) / plan.tiles.rows_of_query();
  const uint64_t masked = std::min<uint64_t>(more, (queries + plan.tile_keys - 1) / plan.tile_keys);
  return {each.tiles, masked, more - masked, more};
}

// Adds one CTA for each part of a tile's keys: the library's scheduler without persistence. Parts are equal up to whole blocks.
// Parts without keys are omitted, since their CTAs end at once. Only the part at the diagonal is masked.
void add_parts(traces::Kernel& kernel, const Plan& plan) {
  kernel.parameters = {"tiles", "masked", "full", "more"};
  const auto heads = plan.tiles.batch() * plan.tiles.heads();
  std::vector<traces::CtaRun> head;
  for (const QueryTile& tile : plan.tiles.query_tiles()) {
    const uint64_t blocks = tile.full_blocks + tile.masked_blocks;
    const uint64_t part = (blocks + plan.splits - 1) / plan.splits;
    for (uint64_t begin = 0; begin < blocks; begin += part) {
      const uint64_t size = std::min(part, blocks - begin);
      std::vector<uint64_t> values = parameters_of(plan, {size, 1});
      if (!plan.tiles.causal() || begin + size < blocks) values = {1, 0, size - 1, size - 1};
      add_cta_run(kernel, "blocks" + std::to_string(size) + "_masked" + std::to_string(values[1]), values, 1);
    }
  }
  std::swap(head, kernel.grid);
  for (uint64_t i = 0; i < heads; ++i) {
    for (const traces::CtaRun& run : head) {
      if (!kernel.grid.empty() && kernel.grid.back().cta_class == run.cta_class)
        kernel.grid.back().count += run.count;
      else
        kernel.grid.push_back(run);
    }
  }
}

// Assigns tiles of equal length to as many CTAs as there are SMs: the library's static persistent scheduler.
void add_equal_tiles(traces::Kernel& kernel, const Plan& plan, const configs::Gpu& gpu) {
  const uint64_t tiles = plan.tiles.batch() * plan.tiles.heads() * plan.tiles.query_tiles().size();
  if (!plan.specialized) return add_cta_run(kernel, "tile", {}, tiles);
  const uint64_t running = std::min<uint64_t>(tiles, gpu.sm_count() / plan.cluster * plan.cluster);
  kernel.parameters = {"tiles"};
  add_cta_run(kernel, "tiles" + std::to_string(tiles / running + 1), {tiles / running + 1}, tiles % running);
  add_cta_run(kernel, "tiles" + std::to_string(tiles / running), {tiles / running}, running - tiles % running);
}

// Adds persistent CTAs that draw causal tiles from the library's queue. The work of a tile is the number of instructions of a
// consumer warp.
void add_causal_tiles(traces::Kernel& kernel, const isa::Architecture& architecture, Plan& plan, const configs::Gpu& gpu) {
  const traces::Role consumer{"consumer", 4, attention_consumer_body(architecture, plan, 0)};
  const auto work = [&](uint64_t blocks) {
    return issued_instructions(kernel, consumer, {"tile", parameters_of(plan, {blocks, 1})});
  };
  const uint64_t tiles = plan.tiles.batch() * plan.tiles.heads() * plan.tiles.query_tiles().size();
  const auto queue = plan.longest_first ? longest_first(plan.tiles, heads_of_section(plan.tiles)) : head_after_head(plan.tiles);
  const auto drawn = draw_tiles(queue, std::min<uint64_t>(tiles, gpu.sm_count()), work);
  for (const CtaTiles& each : drawn) plan.lengths = std::max(plan.lengths, static_cast<uint32_t>(each.lengths.size()));
  for (uint32_t length = 0; length < plan.lengths; ++length) {
    for (const std::string_view name : {"tiles", "masked", "full", "more"})
      kernel.parameters.push_back(std::string(name) + std::to_string(length));
  }
  for (const auto& [ctas, lengths] : drawn) {
    std::vector<uint64_t> values;
    std::string name = "blocks";
    for (const TilesOfLength& each : lengths) {
      std::ranges::copy(parameters_of(plan, each), std::back_inserter(values));
      name.append("_").append(std::to_string(each.blocks)).append("x").append(std::to_string(each.tiles));
    }
    values.resize(kernel.parameters.size(), 0);
    add_cta_run(kernel, name, values, ctas);
  }
}

}  // namespace

Expected<traces::Kernel> make_flash_attention_3(const configs::FlashAttention3& attention, const configs::Gpu& gpu) {
  if (attention.pass() != configs::FORWARD) return make_flash_attention_3_backward(attention, gpu);
  auto plan = plan_flash_attention_3(attention, gpu);
  if (!plan) return std::unexpected(plan.error());
  const auto architecture = isa::Architecture::find(gpu.architecture());
  if (!architecture) return std::unexpected(architecture.error());
  if (attention.combine()) {
    if (plan->splits < 2 && attention.splits() != 0) {
      return fail(
          "flash_attention_3: combine adds up the parts of splits, of which there is one; expected splits: 0 or more than 1");
    }
    return make_attention_combine({.rows = plan->tiles.batch() * plan->tiles.heads() * plan->tiles.queries(),
                                   .parts = plan->tiles.parts(plan->splits),
                                   .head_dim = plan->head_dim(),
                                   .fp16 = plan->type == configs::FP16},
                                  **architecture, gpu);
  }
  traces::Kernel kernel;
  kernel.name = "flash_attention_3";
  kernel.architecture = gpu.architecture();
  kernel.source = describe(attention.shape(), *plan);
  kernel.cluster_ctas = plan->cluster;
  kernel.registers_per_thread = plan->registers_per_thread;
  kernel.shared_memory_bytes = plan->shared_memory_bytes;
  kernel.flops = plan->tiles.forward_flops();
  KeyReaders readers{.concurrent = gpu.sm_count(), .l2_bytes = gpu.l2().bytes()};
  if (plan->longest_first) readers.order = KeyReaders::Order::kLongestFirst;
  if (plan->longest_first) readers.section = heads_of_section(plan->tiles);
  readers.splits = plan->splits;
  const traces::MemoryStream keys = plan->tiles.key_stream("K", readers);
  traces::MemoryStream values = keys;
  values.name = "V";
  kernel.streams = {row_stream("Q", false, *plan), keys, values, row_stream("O", true, *plan), row_stream("LSE", true, *plan)};
  if (plan->queued()) kernel.streams.push_back({"tile_queue", false, 0, 1});
  if (plan->copies) kernel.streams.push_back({"page_table", false, 1, plan->tiles.kv_heads()});
  if (plan->dropout == configs::STORED_BITS) kernel.streams.push_back({"mask", false, 1, 1});
  add_synchronisation(kernel, *plan);
  if (plan->splits > 1) {
    add_parts(kernel, *plan);
  } else if (plan->tiles.causal()) {
    add_causal_tiles(kernel, **architecture, *plan, gpu);
  } else {
    add_equal_tiles(kernel, *plan, gpu);
  }
  if (plan->copies) {
    kernel.roles = {{"producer", 4, attention_copier_body(**architecture, *plan)}};
  } else if (plan->specialized) {
    kernel.roles = {{"producer", 1, attention_producer_body(**architecture, *plan)},
                    {plan->transposes() ? "transposer" : "producer_idle", 3, attention_helper_body(**architecture, *plan)}};
  }
  for (uint32_t group = 0; group < plan->consumers(); ++group) {
    kernel.roles.push_back(
        {"consumer" + std::to_string(group), 4, attention_consumer_body(**architecture, *plan, static_cast<int>(group))});
  }
  return kernel;
}

}  // namespace warpfold::workloads
