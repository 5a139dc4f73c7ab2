#include "workloads/philox/philox.h"

#include <algorithm>
#include <sstream>

#include "workloads/common/occupancy.h"
#include "workloads/common/program.h"
#include "workloads/common/recorded_loop.h"
#include "workloads/philox/plan.h"

namespace warpfold {

std::span<const EmbeddedFile> philox_recordings();  // generated from sass/

namespace workloads {
namespace {

using Plan = PhiloxPlan;

constexpr uint32_t kStoreBytes = 4 * Plan::kWarpThreads;  // STG.E of a warp

// sm_86 runs code compiled for sm_80.
std::string recording(const isa::Architecture& architecture, const Plan& plan) {
  const std::string chip = architecture.name() == "sm_90" ? "sm90" : "sm80";
  return "philox_" + chip + "_r" + std::to_string(plan.rounds) + "_u" + std::to_string(plan.threshold_bits);
}

// Thread number, output address, and the round keys: two additions per round, into the uniform registers that the compiled loop
// reads.
traces::Block prologue(const isa::Architecture& architecture, uint32_t rounds) {
  Code code(architecture);
  code.add("S2R R3, SR_CTAID.X").add("S2R R0, SR_TID.X").add("ULDC.64 UR4, c[0x0][0x210]").add("ULDC UR6, c[0x0][0x218]");
  code.add("ULDC UR7, c[0x0][0x21c]").add("IMAD R0, R3, 0x80, R0").add("IMAD.SHL.U32 R2, R0, 0x4, RZ");
  code.add("IMAD.MOV.U32 R4, RZ, RZ, UR4").add("IMAD.MOV.U32 R5, RZ, RZ, UR5").add("IMAD.WIDE.U32 R4, R0, 0x4, R4");
  for (uint32_t round = 1; round < rounds; ++round) {
    code.add("UIADD3 UR6, UR6, -0x61c88647, URZ").add("UIADD3 UR7, UR7, -0x4498517b, URZ");
  }
  return block_of(code);
}

traces::Loop mask_loop(const isa::Architecture& architecture, const std::string& name) {
  std::vector<isa::Instruction> code = recorded_loop(architecture, philox_recordings(), name);
  for (isa::Instruction& instruction : code) {
    if (architecture.info(instruction).behaviour != isa::Behaviour::kStoreGlobal) continue;
    instruction.effect.bytes = kStoreBytes;
    instruction.effect.stream = 0;
  }
  return {{.parameter = 0}, {traces::Block{std::move(code)}}};
}

// Divides the passes among `ctas` CTAs as evenly as possible; the first CTAs may get one more.
void add_grid(traces::Kernel& kernel, uint64_t passes, uint64_t ctas) {
  const auto add = [&kernel](uint64_t trips, uint64_t count) {
    kernel.grid.push_back({static_cast<uint32_t>(kernel.cta_classes.size()), count});
    kernel.cta_classes.push_back({"passes" + std::to_string(trips), {trips}});
  };
  if (passes % ctas != 0) add(passes / ctas + 1, passes % ctas);
  add(passes / ctas, ctas - passes % ctas);
}

uint64_t ctas_of(const configs::Philox& philox, const configs::Gpu& gpu, const Plan& plan, uint32_t registers) {
  if (philox.calls_per_thread() != 0) {
    const uint64_t passes = std::max<uint64_t>(1, philox.calls_per_thread() / plan.calls_per_pass);
    return (plan.cta_passes + passes - 1) / passes;
  }
  const uint32_t resident = philox.ctas_per_sm() != 0 ? philox.ctas_per_sm() : ctas_per_sm(gpu, {plan.warps, registers, 0});
  // A CTA that does not fit an SM still gets a grid; the simulator reports the resource that it lacks.
  return std::min(plan.cta_passes, std::max(uint64_t{resident}, uint64_t{1}) * gpu.sm_count());
}

std::string describe(const configs::Philox& philox, const Plan& plan) {
  std::ostringstream text;
  text << "philox batch=" << philox_batches(philox) << " heads=" << philox.heads() << " queries=" << philox.queries()
       << " keys=" << philox.keys() << " rounds=" << plan.rounds << " threshold_bits=" << plan.threshold_bits
       << " calls_per_thread=" << philox.calls_per_thread();
  return text.str();
}

}  // namespace

Expected<traces::Kernel> make_philox(const configs::Philox& philox, const configs::Gpu& gpu) {
  const auto plan = plan_philox(philox);
  if (!plan) return std::unexpected(plan.error());
  const auto found = isa::Architecture::find(gpu.architecture());
  if (!found) return std::unexpected(found.error());
  const isa::Architecture& architecture = **found;
  traces::Kernel kernel;
  kernel.name = "philox";
  kernel.architecture = architecture.name();
  kernel.source = describe(philox, *plan);
  kernel.streams = {{"mask", true, 1, 1}};
  kernel.parameters = {"passes"};
  std::vector<traces::Node> body{prologue(architecture, plan->rounds), mask_loop(architecture, recording(architecture, *plan)),
                                 block_of(Code(architecture).add("EXIT"))};
  connect(architecture, body);
  kernel.roles = {{"rng", plan->warps, std::move(body)}};
  kernel.registers_per_thread = registers_named(kernel.roles);
  add_grid(kernel, plan->cta_passes, ctas_of(philox, gpu, *plan, kernel.registers_per_thread));
  return kernel;
}

}  // namespace workloads
}  // namespace warpfold
