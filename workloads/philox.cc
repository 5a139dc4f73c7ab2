// Philox4x32 keep-bits: a kernel that draws random words, compares them with a threshold and stores one bit an element.
//
// Its loop is compiled code (sass/philox_*.sass): one pass of a thread makes 32 keep bits, one 32-bit store, from as many Philox
// calls as the threshold needs random bits (8 bits: 16 elements a call, 16 bits: 8, 32 bits: 4). The few instructions in front
// of the loop, which number the thread and derive the round keys, are ours.
#include <algorithm>
#include <sstream>

#include "workloads/occupancy.h"
#include "workloads/program.h"
#include "workloads/recorded_loop.h"
#include "workloads/workloads.h"

namespace warpfold::workloads {
namespace {

constexpr uint32_t kElementsPerPass = 32;  // of a thread: the bits of one stored word
constexpr uint32_t kWarpThreads = 32;
constexpr uint32_t kStoreBytes = 4 * kWarpThreads;  // STG.E of a warp

struct Plan {
  uint32_t rounds;
  uint32_t threshold_bits;
  uint32_t warps;           // of a CTA
  uint64_t cta_passes;      // passes of all CTAs together; a ragged end is computed whole
  uint64_t calls_per_pass;  // of a thread
};

uint64_t or_one(uint64_t value) { return value == 0 ? 1 : value; }

Expected<Plan> plan_of(const configs::Philox& philox) {
  const uint32_t rounds = philox.rounds() != 0 ? philox.rounds() : 7;  // what FlashAttention uses
  const uint32_t bits = philox.threshold_bits() != 0 ? philox.threshold_bits() : 8;
  const uint32_t threads = philox.threads_per_cta() != 0 ? philox.threads_per_cta() : 128;
  if (rounds != 3 && rounds != 5 && rounds != 7 && rounds != 10) {
    return fail("philox: rounds " + std::to_string(rounds) + " was not recorded; expected 3, 5, 7 or 10");
  }
  if (bits != 8 && bits != 16 && bits != 32) {
    return fail("philox: threshold_bits " + std::to_string(bits) + " was not recorded; expected 8, 16 or 32");
  }
  if (threads % kWarpThreads != 0 || threads > 1024) {
    return fail("philox: threads_per_cta " + std::to_string(threads) + " must be a multiple of 32 up to 1024");
  }
  const uint64_t elements = or_one(philox.batch()) * philox.heads() * philox.queries() * philox.keys();
  if (elements == 0) return fail("philox: heads, queries and keys must be at least 1");
  const uint64_t cta_elements = uint64_t{threads} * kElementsPerPass;
  return Plan{rounds, bits, threads / kWarpThreads, (elements + cta_elements - 1) / cta_elements, bits / 4};
}

// sm_86 runs code compiled for sm_80.
std::string recording(const isa::Architecture& architecture, const Plan& plan) {
  const std::string chip = architecture.name() == "sm_90" ? "sm90" : "sm80";
  return "philox_" + chip + "_r" + std::to_string(plan.rounds) + "_u" + std::to_string(plan.threshold_bits);
}

// Thread number, output address, and the round keys: two additions a round, in uniform registers as the compiled loop wants them.
traces::Block prologue(const isa::Architecture& architecture, uint32_t rounds) {
  Code code(architecture);
  code.add("S2R R3, SR_CTAID.X").add("S2R R0, SR_TID.X").add("ULDC.64 UR4, c[0x0][0x210]").add("ULDC UR6, c[0x0][0x218]");
  code.add("ULDC UR7, c[0x0][0x21c]").add("IMAD R0, R3, 0x80, R0").add("IMAD.SHL.U32 R2, R0, 0x4, RZ");
  code.add("IMAD.MOV.U32 R4, RZ, RZ, UR4").add("IMAD.MOV.U32 R5, RZ, RZ, UR5").add("IMAD.WIDE.U32 R4, R0, 0x4, R4");
  for (uint32_t round = 1; round < rounds; ++round) {
    code.add("UIADD3 UR6, UR6, -0x61c88647, URZ").add("UIADD3 UR7, UR7, -0x4498517b, URZ");
  }
  return straight(code);
}

traces::Loop mask_loop(const isa::Architecture& architecture, const std::string& name) {
  std::vector<isa::Instruction> code = recorded_loop(architecture, name);
  for (isa::Instruction& instruction : code) {
    if (architecture.info(instruction).behaviour != isa::Behaviour::kStoreGlobal) continue;
    instruction.effect.bytes = kStoreBytes;
    instruction.effect.stream = 0;
  }
  return {{.parameter = 0}, {traces::Block{std::move(code)}}};
}

// `ctas` CTAs share the passes as evenly as they can: the first ones may have one more.
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
  // A CTA that never fits still has a grid: the machine says what it lacks.
  return std::min(plan.cta_passes, std::max(uint64_t{resident}, uint64_t{1}) * gpu.sm_count());
}

std::string describe(const configs::Philox& philox, const Plan& plan) {
  std::ostringstream text;
  text << "philox batch=" << or_one(philox.batch()) << " heads=" << philox.heads() << " queries=" << philox.queries()
       << " keys=" << philox.keys() << " rounds=" << plan.rounds << " threshold_bits=" << plan.threshold_bits
       << " calls_per_thread=" << philox.calls_per_thread();
  return text.str();
}

}  // namespace

Expected<traces::Kernel> make_philox(const configs::Philox& philox, const configs::Gpu& gpu) {
  const auto plan = plan_of(philox);
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
                                 straight(Code(architecture).add("EXIT"))};
  connect(architecture, body);
  kernel.roles = {{"rng", plan->warps, std::move(body)}};
  kernel.registers_per_thread = registers_named(kernel.roles);
  add_grid(kernel, plan->cta_passes, ctas_of(philox, gpu, *plan, kernel.registers_per_thread));
  return kernel;
}

}  // namespace warpfold::workloads
