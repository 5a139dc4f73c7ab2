#include "workloads/flash_attention_4/roles.h"

namespace warpfold::workloads::attention4 {

void add_wait(Code& code, int16_t ring, int16_t cursor, uint32_t advance) {
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR6], R3", {.barrier = ring, .cursor = cursor, .advance = advance});
  code.add("@!P0 BRA `(.L_wait)");
}

void add_arrival(Code& code, int16_t ring) { code.add("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR6], RZ", {.barrier = ring}); }

void add_entry(Code& code, uint32_t registers) {
  using Plan = FlashAttention4Plan;
  code.add("S2R R0, SR_TID.X").add("S2UR UR4, SR_CTAID.X").add("UMOV UR6, 0x400").add("MOV R3, RZ").add("MOV R2, RZ");
  code.add("BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = Plan::kThreads});
  const bool more = registers > Plan::kRegistersPerThread;
  code.add(line({more ? "USETMAXREG.TRY_ALLOC.CTAPOOL " : "USETMAXREG.DEALLOC.CTAPOOL ", immediate(registers)}),
           {.count = static_cast<uint16_t>(registers)});
}

std::vector<traces::Node> role_body(const FlashAttention4Plan& plan, const Code& entry, std::vector<traces::Node> tile) {
  const isa::Architecture& architecture = entry.architecture();
  std::vector<traces::Node> body{block_of(entry)};
  if (plan.persistent) {
    tile.push_back(block_of(Code(architecture).add("VIADD R2, R2, 0x94").add("@P1 BRA `(.L_tile)")));
    body.push_back(traces::Loop{{.parameter = Parameters::kTiles}, std::move(tile)});
  } else {
    body.insert(body.end(), tile.begin(), tile.end());
  }
  body.push_back(block_of(Code(architecture).add("EXIT")));
  connect(architecture, body);
  return body;
}

std::vector<traces::Node> spare_body(const isa::Architecture& architecture, const FlashAttention4Plan& plan) {
  Code entry(architecture);
  add_entry(entry, plan.other_registers);
  return {block_of(entry.add("EXIT"))};
}

}  // namespace warpfold::workloads::attention4
