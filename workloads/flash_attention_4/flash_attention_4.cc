#include "workloads/flash_attention_4/flash_attention_4.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "workloads/common/cta_runs.h"
#include "workloads/common/longest_first.h"
#include "workloads/flash_attention_4/backward.h"
#include "workloads/flash_attention_4/roles.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention4Plan;

constexpr uint64_t kSectionBytes = 50ULL << 20;  // keys and values of the heads whose tiles are sorted together (tile_scheduler.py)

std::string describe(const configs::AttentionShape& shape, const Plan& plan) {
  std::ostringstream text;
  text << "flash_attention_4 " << workloads::describe(shape) << " tile=256x128 stages=" << plan.stages
       << (plan.pair ? " two_ctas" : "") << (plan.persistent ? " persistent" : "") << (plan.longest_first ? " longest_first" : "")
       << (plan.tiles.rows_of_query() > 1 ? " pack_gqa" : "") << " emulated_pairs=" << plan.emulated_pairs
       << " rescale_share=" << plan.rescale_share << (plan.maximum_of_load ? " maximum_of_load" : "");
  return text.str();
}

void add_synchronisation(traces::Kernel& kernel, const Plan& plan) {
  constexpr uint32_t kWarps = 4;  // warps of a softmax or correction warpgroup
  kernel.rings = {{"block_full", plan.stages, 1, false}, {"block_empty", plan.stages, 1, true}};
  const auto add = [&kernel](const std::string& name, uint32_t arrivals, bool free) {
    for (uint32_t tile = 0; tile < Plan::kTiles; ++tile) kernel.rings.push_back({name + std::to_string(tile), 1, arrivals, free});
  };
  add("query_full", 1, false);
  add("query_empty", 1, true);
  add("scores", 1, false);
  add("probabilities", 2 * kWarps, false);
  add("last_quarter", kWarps, false);
  add("statistics_free", kWarps, true);
  add("sums", 1, false);
  add("output_full", kWarps, false);
  add("output_empty", 1, true);
  kernel.cursors = {{"load", plan.stages, 0}, {"use", plan.stages, 0}, {"release", plan.stages, 0},
                    {"tile", 1, 0},           {"block", 1, 0},         {"statistics", 1, 0}};
}

// The last tile also requests rows after the last query, which TMA does not move.
traces::MemoryStream row_stream(const std::string& name, bool write, const Plan& plan, uint64_t row_bytes) {
  const AttentionTiles& tiles = plan.tiles;
  const uint64_t asked = tiles.query_tiles().size() * Plan::kTiles * Plan::kTileRows;
  const uint64_t divisor = std::gcd(tiles.queries(), asked);
  return {name, write, tiles.queries() / divisor, asked / divisor, tiles.batch() * tiles.heads() * tiles.queries() * row_bytes};
}

void add_streams(traces::Kernel& kernel, const Plan& plan, const configs::AttentionShape& shape, const configs::Gpu& gpu) {
  KeyReaders readers{.concurrent = gpu.sm_count() / (plan.pair ? 2 : 1), .l2_bytes = gpu.l2().bytes()};
  if (plan.longest_first) {
    readers.order = KeyReaders::Order::kLongestFirst;
    readers.section = heads_within(plan.tiles, kSectionBytes);
  }
  // A pair reads each block of keys once, for the queries of both CTAs.
  const AttentionTiles reading(shape, Plan::kTiles * Plan::kTileRows * (plan.pair ? 2 : 1), Plan::kTileKeys,
                               plan.tiles.rows_of_query() > 1);
  const uint64_t row_bytes = plan.head_dim() * Plan::kElementBytes;
  kernel.streams = {row_stream("Q", false, plan, row_bytes), reading.key_stream("K", readers), reading.key_stream("V", readers),
                    row_stream("O", true, plan, row_bytes), row_stream("LSE", true, plan, 4)};
  if (plan.dropout == configs::STORED_BITS) kernel.streams.push_back({"mask", false, 1, 1});
}

std::vector<uint64_t> parameters_of(const Plan& plan, const QueryTile& tile, uint64_t tiles) {
  const uint64_t more = tile.full_blocks + tile.masked_blocks - 1;
  const uint64_t masked = plan.tiles.causal() && tile.masked_blocks > 0 ? tile.masked_blocks - 1 : 0;
  const auto rescaled = static_cast<uint64_t>(std::llround(plan.rescale_share * static_cast<double>(more)));
  const uint64_t unscaled = rescaled == 0 ? 0 : more / rescaled - 1;
  return {tiles, more, masked, more - masked, rescaled, unscaled, more - rescaled * (unscaled + 1)};
}

// Assigns tiles of equal length to as many CTAs (or pairs) as there are SMs for: the library's StaticPersistentTileScheduler.
void add_equal_tiles(traces::Kernel& kernel, const Plan& plan, const configs::Gpu& gpu) {
  const uint64_t group = plan.pair ? 2 : 1;
  const uint64_t heads = plan.tiles.batch() * plan.tiles.heads();
  const uint64_t tiles = heads * ((plan.tiles.query_tiles().size() + group - 1) / group);
  const uint64_t running = std::min<uint64_t>(tiles, gpu.sm_count() / group);
  const QueryTile& tile = plan.tiles.query_tiles().front();
  const auto add = [&](uint64_t each, uint64_t groups) {
    add_cta_run(kernel, "tiles" + std::to_string(each), parameters_of(plan, tile, each), groups * group);
  };
  add(tiles / running + 1, tiles % running);
  add(tiles / running, running - tiles % running);
}

// One CTA per causal tile (SingleTileLPTScheduler).
void add_causal_tiles(traces::Kernel& kernel, const Plan& plan) {
  const std::vector<QueryTile>& of_head = plan.tiles.query_tiles();
  const auto add = [&](const QueryTile& tile, uint64_t ctas) {
    add_cta_run(kernel, "blocks" + std::to_string(tile.full_blocks + tile.masked_blocks), parameters_of(plan, tile, 1), ctas);
  };
  const uint64_t heads = plan.tiles.batch() * plan.tiles.heads();
  const uint64_t section = plan.longest_first ? heads_within(plan.tiles, kSectionBytes) : 1;
  for (uint64_t first = 0; first < heads; first += section) {
    const uint64_t sharing = std::min(section, heads - first);
    for (size_t i = 0; i < of_head.size(); ++i) add(of_head[plan.longest_first ? of_head.size() - 1 - i : i], sharing);
  }
}

}  // namespace

Expected<traces::Kernel> make_flash_attention_4(const configs::FlashAttention4& attention, const configs::Gpu& gpu) {
  if (attention.pass() != configs::FORWARD) return make_flash_attention_4_backward(attention, gpu);
  if (attention.has_deterministic() || attention.has_own_columns())
    return fail("flash_attention_4: deterministic and own_columns belong to the backward pass");
  const auto plan = plan_flash_attention_4(attention, gpu);
  if (!plan) return std::unexpected(plan.error());
  const auto architecture = isa::Architecture::find(gpu.architecture());
  if (!architecture) return std::unexpected(architecture.error());
  traces::Kernel kernel;
  kernel.name = "flash_attention_4";
  kernel.architecture = gpu.architecture();
  kernel.source = describe(attention.shape(), *plan);
  kernel.cluster_ctas = plan->pair ? 2 : 1;
  kernel.registers_per_thread = Plan::kRegistersPerThread;
  kernel.shared_memory_bytes = plan->shared_memory_bytes;
  kernel.tensor_memory_columns = Plan::kTensorMemoryColumns;
  kernel.flops = plan->tiles.forward_flops();
  kernel.parameters = {"tiles", "more", "masked", "full", "rescaled", "unscaled", "rest"};
  add_streams(kernel, *plan, attention.shape(), gpu);
  add_synchronisation(kernel, *plan);
  if (plan->tiles.causal()) {
    add_causal_tiles(kernel, *plan);
  } else {
    add_equal_tiles(kernel, *plan, gpu);
  }
  kernel.roles = {{"softmax0", 4, attention4::softmax_body(**architecture, *plan, 0)},
                  {"softmax1", 4, attention4::softmax_body(**architecture, *plan, 1)},
                  {"correction", 4, attention4::correction_body(**architecture, *plan)},
                  {"multiply", 1, attention4::multiply_body(**architecture, *plan)},
                  {"epilogue", 1, attention4::epilogue_body(**architecture, *plan)},
                  {"load", 1, attention4::load_body(**architecture, *plan)},
                  {"spare", 1, attention4::spare_body(**architecture, *plan)}};
  return kernel;
}

}  // namespace warpfold::workloads
