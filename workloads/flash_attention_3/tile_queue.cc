// The tile queue of FlashAttention-3's persistent causal CTAs (hopper/tile_scheduler.hpp, DynamicPersistentTileScheduler, from July
// 14th 2024 on). One thread of the producer adds to a counter in memory as soon as it has requested a tile's last keys. It writes
// the number to shared memory after requesting the last V, and the consumers read it at the end of their tile. With 8-bit elements
// all four warps of the producer take part. assumed, since it was not counted: the code, which follows the source and is short
// beside the tiles.
#include "workloads/flash_attention_3/roles.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention3Plan;

isa::Effect all_at(int16_t barrier, const Plan& plan) {
  const uint32_t producers = plan.transposes() ? Plan::kGroupThreads : 32;
  return {.barrier = barrier, .count = static_cast<uint16_t>(Plan::kGroupThreads * plan.consumers() + producers)};
}

}  // namespace

void add_tile_draw(Code& code, const Plan& plan) {
  if (!plan.queued()) return;
  code.add("@!P1 ATOMG.E.ADD.STRONG.GPU PT, R1, desc[UR4][R16.64], R11", {.bytes = 32, .stream = AttentionStreams::kTileQueue});
}

void add_tile_notice(Code& code, const Plan& plan) {
  if (!plan.queued()) return;
  code.add("BAR.SYNC.DEFER_BLOCKING 0x6", all_at(AttentionBarriers::kTileNumberEmpty, plan));
  code.add("@!P1 VIADD R2, R1, 0x84").add("@!P1 STS [R14], R2");
  code.add("BAR.ARV 0x7", all_at(AttentionBarriers::kTileNumberFull, plan));
  code.add("SHFL.IDX PT, R10, R2, RZ, 0x1f");
}

void add_tile_number(Code& code, const Plan& plan) {
  if (!plan.queued()) return;
  code.add("BAR.SYNC.DEFER_BLOCKING 0x7", all_at(AttentionBarriers::kTileNumberFull, plan));
  code.add("LDS R2, [UR39+0x20]");
  add_tile_number_free(code, plan);
}

void add_tile_number_free(Code& code, const Plan& plan) {
  if (!plan.queued()) return;
  code.add("BAR.ARV 0x6", all_at(AttentionBarriers::kTileNumberEmpty, plan));
}

void add_tiles(std::vector<traces::Node>& body, const Plan& plan, uint32_t length, std::vector<traces::Node> tile) {
  if (plan.specialized) {
    body.push_back(traces::Loop{{.parameter = AttentionParameters::tiles(length)}, std::move(tile)});
  } else {
    body.insert(body.end(), tile.begin(), tile.end());
  }
}

}  // namespace warpfold::workloads
