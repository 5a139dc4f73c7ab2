// Stores dV, then dK, after a CTA's last block of queries. Each of the two compute warpgroups has half of the columns. They go in
// 16 bits through shared memory to TMA. If heads share keys, they are added to memory in FP32.
#include <algorithm>

#include "workloads/flash_attention_4/backward.h"
#include "workloads/flash_attention_4/roles.h"

namespace warpfold::workloads::attention4 {
namespace {

using Plan = FlashAttention4BackwardPlan;

constexpr uint32_t kFirst = 16;  // first register

void add_meeting(Code& code, uint32_t group) {
  code.add(line({"BAR.SYNC.DEFER_BLOCKING ", immediate(3 + group), ", 0x80"}),
           {.barrier = BackwardBarriers::epilogue(group), .count = 128});
}

}  // namespace

void add_key_gradients(Code& code, const Plan& plan, ComputeWarp warp) {
  const uint32_t columns = plan.head_dim() / 2;
  const std::string_view format = plan.type == configs::FP16 ? "F2FP.F16.F32.PACK_AB " : "F2FP.BF16.F32.PACK_AB ";
  for (const bool keys : {false, true}) {
    add_wait(code, keys ? BackwardRings::kKeyGradient : BackwardRings::kValueGradient, -1, 0);
    for (uint32_t i = 0; i < columns; i += 32) code.add(line({"LDTM.x32 ", general(kFirst + i), ", tmem[UR10]"}));
    for (uint32_t i = 0; keys && i < columns; i += 2)
      code.add(line({"FMUL2.FTZ ", general(kFirst + i), ", ", general(kFirst + i), ", UR36"}));
    uint32_t registers = columns;
    if (!plan.shares_keys()) {
      for (uint32_t i = 0; i < columns; i += 2)
        code.add(line({format, general(kFirst + i / 2), ", ", general(kFirst + i + 1), ", ", general(kFirst + i)}));
      registers = columns / 2;
    }
    for (uint32_t i = 0; i < registers; i += 4) code.add(line({"STS.128 [R3+", immediate(4ULL * i), "], ", general(kFirst + i)}));
    code.add("FENCE.VIEW.ASYNC.S");
    add_meeting(code, warp.group);
    if (warp.first) {
      code.add(plan.shares_keys() ? "UTMAREDG.4D.ADD [UR8], [UR16]" : "UTMASTG.4D [UR8], [UR16]",
               {.bytes = 128 * registers * 4, .stream = keys ? kStreamKeyGradient : kStreamValueGradient});
      code.add("UTMACMDFLUSH");
    }
    add_meeting(code, warp.group);
  }
}

}  // namespace warpfold::workloads::attention4
