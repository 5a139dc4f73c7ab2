// The epilogue warp stores O by TMA from shared memory, where the correction warps have put it.
#include "workloads/flash_attention_4/roles.h"

namespace warpfold::workloads::attention4 {

std::vector<traces::Node> epilogue_body(const isa::Architecture& architecture, const FlashAttention4Plan& plan) {
  Code entry(architecture);
  add_entry(entry, plan.other_registers);
  Code code(architecture);
  for (int tile = 0; tile < 2; ++tile) {
    add_wait(code, Rings::output_full(tile), Cursors::kTile, tile == 1 ? 1 : 0);
    for (uint32_t box = 0; box < plan.boxes(); ++box) {
      code.add("UIADD3 UR8, UR8, 0x400, URZ");
      code.add("UTMASTG.4D [UR8], [UR4]", {.bytes = plan.query_bytes() / plan.boxes(), .stream = Streams::kOutput});
    }
  }
  code.add("UTMACMDFLUSH");
  for (int tile = 0; tile < 2; ++tile) add_arrival(code, Rings::output_empty(tile));
  return role_body(plan, entry, {block_of(code)});
}

}  // namespace warpfold::workloads::attention4
