// The load warp of the backward pass. With one CTA, a block of Q serves S and dK, and a block of dO serves dP and dV. With a pair,
// each is loaded once per product, since the two products need different halves.
//
//   one CTA   K Q0, log-sum-exp | V dO0, dot | Q1, log-sum-exp | dO1, dot | ...
//   a pair    K Q0, log-sum-exp | V dO0 dO0, dot | K | Q0, Q1, log-sum-exp | dO1 dO1, dot | Q1, Q2 ... | Q last
#include "workloads/flash_attention_4/backward.h"
#include "workloads/flash_attention_4/roles.h"

namespace warpfold::workloads::attention4 {
namespace {

using Plan = FlashAttention4BackwardPlan;
using At = BackwardCursors;

struct Part {
  int16_t stream;
  uint32_t bytes;
};

// Waits for room, announces the bytes to the barrier, and issues the loads. If `steps`, the last load advances the cursor.
void add_load(Code& code, const Plan& plan, int16_t full, int16_t cursor, bool steps, const std::vector<Part>& parts) {
  add_wait(code, static_cast<int16_t>(full + 1), cursor, 0);
  uint32_t bytes = 0;
  for (const Part& part : parts) bytes += part.bytes;
  code.add("SYNCS.ARRIVE.TRANS64 RZ, [UR6], R3", {.barrier = full, .cursor = cursor, .tx_bytes = bytes});
  for (size_t i = 0; i < parts.size(); ++i) {
    const uint32_t boxes = parts[i].bytes == Plan::kRowBytes ? 1 : plan.boxes();
    for (uint32_t box = 0; box < boxes; ++box) {
      const bool last = i + 1 == parts.size() && box + 1 == boxes;
      code.add(line({"UIADD3 UR8, UR8, ", immediate(parts[i].bytes / boxes), ", URZ"}));
      code.add("UTMALDG.4D [UR8], [UR4]", {.bytes = parts[i].bytes / boxes,
                                           .stream = parts[i].stream,
                                           .barrier = full,
                                           .cursor = cursor,
                                           .advance = steps && last ? 1U : 0U});
    }
  }
}

void add_queries(Code& code, const Plan& plan, bool first) {
  std::vector<Part> parts{{kStreamQueries, plan.operand_bytes()}};
  if (first) parts.insert(parts.begin(), {kStreamKeys, plan.tile_bytes()});
  add_load(code, plan, BackwardRings::kQueryFull, At::kQuery, false, parts);
  add_load(code, plan, BackwardRings::kLogSumFull, At::kQuery, true, {{kStreamRows, Plan::kRowBytes}});
}

void add_turned_queries(Code& code, const Plan& plan) {
  add_load(code, plan, BackwardRings::kTransposedQueryFull, At::kThis, true, {{kStreamQueries, plan.operand_bytes()}});
}

void add_gradients(Code& code, const Plan& plan, bool first) {
  std::vector<Part> parts(plan.group(), {kStreamOutputGradient, plan.operand_bytes()});
  if (first) parts.insert(parts.begin(), {kStreamValues, plan.tile_bytes()});
  add_load(code, plan, BackwardRings::kGradientFull, At::kNext, false, parts);
  add_load(code, plan, BackwardRings::kRowDotFull, At::kNext, true, {{kStreamRows, Plan::kRowBytes}});
}

}  // namespace

std::vector<traces::Node> backward_load_body(const Plan& plan) {
  Code entry(*plan.architecture);
  for (int16_t ring = 0; ring < BackwardRings::kCount; ++ring) entry.add("SYNCS.EXCH.64 URZ, [UR6], UR4");
  add_backward_entry(entry, plan.other_registers);
  add_queries(entry, plan, true);
  add_gradients(entry, plan, true);
  if (plan.pair) {
    entry.add("SYNCS.ARRIVE.TRANS64 RZ, [UR6], R3", {.barrier = BackwardRings::kTurnedKeys, .tx_bytes = plan.tile_bytes()});
    for (uint32_t box = 0; box < plan.boxes(); ++box) {
      entry.add("UTMALDG.4D [UR8], [UR4]",
                {.bytes = plan.tile_bytes() / plan.boxes(), .stream = kStreamKeys, .barrier = BackwardRings::kTurnedKeys});
    }
  }
  Code more(*plan.architecture);
  if (plan.pair) add_turned_queries(more, plan);
  add_queries(more, plan, false);
  add_gradients(more, plan, false);
  more.add("VIADD R2, R2, -0x1").add("ISETP.GT.AND P1, PT, R2, RZ, PT").add("@P1 BRA `(.L_block)");
  Code last(*plan.architecture);
  if (plan.pair) add_turned_queries(last, plan);
  std::vector<traces::Node> body{block_of(entry), loop_of(more, {.parameter = BackwardParameters::kMore}),
                                 block_of(last.add("EXIT"))};
  connect(*plan.architecture, body);
  return body;
}

}  // namespace warpfold::workloads::attention4
