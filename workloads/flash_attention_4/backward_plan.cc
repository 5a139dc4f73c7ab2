#include "workloads/flash_attention_4/backward_plan.h"

#include <algorithm>
#include <optional>
#include <string>

#include "configs/architecture.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention4BackwardPlan;

constexpr uint32_t kBarrierBytes = 1024;  // mbarriers, followed by tensors aligned to 1024 bytes

std::optional<std::string> mistake(const configs::FlashAttention4& attention) {
  const configs::AttentionShape& shape = attention.shape();
  if (attention.has_emulated_exponential_share() || attention.has_rescale_share() || attention.has_longest_first() ||
      attention.has_maximum_of_load())
    return "emulated_exponential_share, rescale_share, longest_first and maximum_of_load belong to the forward pass";
  const bool pairs = shape.head_dim() == 128;
  if (attention.two_ctas() && !pairs) return "two_ctas of the backward pass is a kernel of head_dim 128";
  if (attention.own_columns() && pairs)
    return "own_columns takes tensor memory that head_dim 128 has not left; expected head_dim 64";
  if (shape.causal() && shape.keys() != 0 && shape.keys() < shape.queries()) {
    return "causal with " + std::to_string(shape.keys()) + " keys for " + std::to_string(shape.queries()) +
           " queries leaves queries without keys";
  }
  return std::nullopt;
}

// setmaxnreg and the widths of dQ's additions (flash_bwd_sm100.py, __init__ and _setup_attributes).
void fill_in(Plan& plan) {
  if (plan.pair) {
    plan.reduce_registers = 136;
    plan.other_registers = 104;
    plan.added_columns = plan.deterministic ? 16 : 8;
    plan.added_stages = plan.deterministic ? 2 : 4;
  } else if (plan.causal() && !plan.deterministic) {
    plan.reduce_registers = 136;
    plan.compute_registers = 144;
  }
}

}  // namespace

// With a pair, shared memory holds Q and dO twice, as right operands in both orientations, and K as a left and as a right operand.
// At head_dim 128 this gives 232448 bytes for one CTA and 231424 for a pair, as the library's source states.
uint32_t Plan::shared_memory_bytes() const {
  uint32_t bytes = kBarrierBytes + 2 * tile_bytes() + score_bytes();  // K and V, dS
  bytes += pair ? 4 * operand_bytes() + 2 * operand_bytes() + score_bytes() / 2 : (query_stages() + 1) * tile_bytes();
  bytes += (query_stages() + 1) * kRowBytes + added_stages * addition_bytes();
  return (bytes + 1023) / 1024 * 1024;
}

uint64_t Plan::key_blocks() const {
  const uint64_t keys = uint64_t{kTile} * group();
  return (tiles.keys() + keys - 1) / keys * group();
}

uint64_t Plan::query_blocks(uint64_t key_block) const {
  if (!causal()) return query_tiles();
  const uint64_t offset = tiles.keys() - tiles.queries();
  const uint64_t key = key_block / group() * group() * kTile;
  return query_tiles() - std::min(query_tiles() - 1, (key > offset ? key - offset : 0) / kTile);
}

Expected<Plan> plan_flash_attention_4_backward(const configs::FlashAttention4& attention, const configs::Gpu& gpu) {
  if (configs::product_family(gpu.architecture()) != configs::ProductFamily::kTcgen05)
    return fail("flash_attention_4 needs a GPU of architecture sm_100 or sm_103, this one is " + gpu.architecture());
  if (const auto wrong = mistake(attention)) return fail("flash_attention_4: " + *wrong);
  const auto architecture = isa::Architecture::find(gpu.architecture());
  if (!architecture) return std::unexpected(architecture.error());
  const configs::AttentionShape& shape = attention.shape();
  Plan plan{.architecture = *architecture, .tiles = AttentionTiles(shape, Plan::kTile, Plan::kTile), .type = shape.type()};
  plan.pair = attention.has_two_ctas() ? attention.two_ctas() : shape.head_dim() == 128;
  plan.deterministic = attention.deterministic();
  plan.own_columns = attention.own_columns();
  fill_in(plan);
  return plan;
}

}  // namespace warpfold::workloads
