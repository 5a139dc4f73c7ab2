#include "workloads/flash_attention_4/plan.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "configs/architecture.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention4Plan;

// Shared memory for Q, O, K and V: flash_fwd_sm100.py (Dao-AILab/flash-attention @0251105), _setup_attributes.
constexpr uint32_t kTensorBytes = 224 * 1024;
// Scales, sums and maxima of the rows, two words for each of 256 rows, and barriers (assumed: 1 KB).
constexpr uint32_t kRowBytes = 2 * 256 * 4 + 1024;
constexpr uint32_t kMostStages = 32;

constexpr uint32_t kPairs = Plan::kTileKeys / 2;
constexpr double kDefaultRescaleShare = 0.1;  // T. Dao, announcing the paper: "avoid 90% of softmax rescaling"

// Pairs of a row's exponentials that the library emulates. Of the second and third of four fragments of 32, these are the pairs
// whose first element k has k % frequency >= frequency - 4 (softmax.py, apply_exp2_convert). Frequencies are those of
// _TUNING_CONFIG and its default.
uint32_t library_pairs(const Plan& plan, bool fast_exponentials) {
  if (fast_exponentials) return 0;
  const uint32_t frequency = plan.pair ? 10 : 16;
  uint32_t pairs = 0;
  for (uint32_t k = 0; k < Plan::kFragmentScores; k += 2) pairs += k % frequency >= frequency - 4 ? 1 : 0;
  return pairs * (Plan::kFragments - 2);
}

// setmaxnreg: _TUNING_CONFIG and its defaults. With dropout the softmax warps take the defaults: the library's values for a pair
// and for sm_103, 176, leave no room for random words.
void share_registers(Plan& plan, bool fast_exponentials) {
  if (plan.head_dim() >= 96 && plan.dropout != configs::NONE) {
    plan.softmax_registers = 192;
    plan.correction_registers = 72;
  } else if (plan.head_dim() < 96) {
    plan.softmax_registers = 200;
    plan.correction_registers = 64;
  } else if (plan.pair) {
    plan.softmax_registers = 176;
    plan.correction_registers = fast_exponentials ? 80 : 88;
  } else if (plan.tiles.causal()) {
    plan.softmax_registers = fast_exponentials ? 176 : 192;
    plan.correction_registers = fast_exponentials ? 64 : 72;
  }
  plan.other_registers = std::min(512 - 2 * plan.softmax_registers - plan.correction_registers, plan.head_dim() < 96 ? 48U : 512U);
}

Expected<void> check_keys(const Plan& plan) {
  for (const QueryTile& tile : plan.tiles.query_tiles()) {
    if (tile.full_blocks + tile.masked_blocks > 0) continue;
    return fail("flash_attention_4: causal with " + std::to_string(plan.tiles.keys()) + " keys for " +
                std::to_string(plan.tiles.queries()) + " queries leaves a tile of queries without keys");
  }
  return {};
}

}  // namespace

Expected<Plan> plan_flash_attention_4(const configs::FlashAttention4& attention, const configs::Gpu& gpu) {
  const bool fast_exponentials = gpu.architecture() == "sm_103";
  if (configs::product_family(gpu.architecture()) != configs::ProductFamily::kTcgen05)
    return fail("flash_attention_4 needs a GPU of architecture sm_100 or sm_103, this one is " + gpu.architecture());
  const configs::AttentionShape& shape = attention.shape();
  const bool packed = shape.kv_heads() != 0 && shape.kv_heads() < shape.heads();
  Plan plan{.tiles = AttentionTiles(shape, Plan::kTiles * Plan::kTileRows, Plan::kTileKeys, packed), .type = shape.type()};
  if (auto ok = check_keys(plan); !ok) return std::unexpected(ok.error());
  const bool pairs = shape.head_dim() == 128 && !shape.causal() && plan.tiles.query_tiles().size() > 1;
  plan.pair = attention.has_two_ctas() ? attention.two_ctas() : pairs;
  if (plan.pair && !pairs) {
    return fail("flash_attention_4: two_ctas is a kernel of head_dim 128 without causal mask and with more than " +
                std::to_string(Plan::kTiles * Plan::kTileRows) + " queries");
  }
  if (attention.longest_first() && !shape.causal())
    return fail("flash_attention_4: longest_first is an order of causal tiles; without causal all tiles are of one length");
  // The library's default scheduler: persistent CTAs without a causal mask, otherwise one CTA per tile.
  plan.persistent = !shape.causal();
  plan.longest_first = shape.causal() && (!attention.has_longest_first() || attention.longest_first());
  if (attention.maximum_of_load() && !fast_exponentials)
    return fail("flash_attention_4: maximum_of_load is an instruction of sm_103, this GPU is " + gpu.architecture());
  plan.maximum_of_load = attention.has_maximum_of_load() ? attention.maximum_of_load() : fast_exponentials;
  plan.dropout = shape.dropout();
  if (shape.has_philox_rounds()) plan.philox_rounds = shape.philox_rounds();
  if (shape.has_threshold_bits()) plan.threshold_bits = shape.threshold_bits();
  // With fused Philox nothing is emulated: Philox fills the pipe that emulation would use, so that any emulated share is slower
  // (docs/future_gpus.md). assumed: the kernel's author measures this.
  plan.emulated_pairs = attention.has_emulated_exponential_share()
                            ? static_cast<uint32_t>(std::lround(attention.emulated_exponential_share() * kPairs))
                        : plan.dropout == configs::FUSED_PHILOX ? 0
                                                                : library_pairs(plan, fast_exponentials);
  plan.rescale_share = attention.has_rescale_share() ? attention.rescale_share() : kDefaultRescaleShare;
  share_registers(plan, fast_exponentials);
  plan.stages = std::min(kMostStages, (kTensorBytes - 2 * Plan::kTiles * plan.query_bytes()) / plan.stage_bytes());
  plan.shared_memory_bytes = 2 * Plan::kTiles * plan.query_bytes() + plan.stages * plan.stage_bytes() + kRowBytes;
  return plan;
}

}  // namespace warpfold::workloads
