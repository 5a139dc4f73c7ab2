// C[m,n] = A[m,k] B[k,n] with mma.sync: a ring of stages filled by cp.async, ldmatrix, m16n8k16. One 128 x 128 tile a CTA, four
// warps of 64 x 64 each.
//
// The main loop is compiled code (sass/mma_gemm_*.sass). The code round it is ours: the prologue fills all stages but one and
// loads the first fragments, the epilogue packs the 128 accumulators of a thread and stores them from registers.
#include <algorithm>
#include <numeric>
#include <sstream>

#include "workloads/occupancy.h"
#include "workloads/program.h"
#include "workloads/raster_reuse.h"
#include "workloads/recorded_loop.h"
#include "workloads/workloads.h"

namespace warpfold::workloads {
namespace {

constexpr uint32_t kTile = 128;
constexpr uint32_t kWarps = 4;
constexpr uint32_t kElementBytes = 2;
constexpr uint32_t kCopyBytes = 512;       // LDGSTS.128 of a warp
constexpr uint16_t kMatrixWavefronts = 4;  // LDSM.x4: four 8x8 matrices of 128 bytes
constexpr uint32_t kFirstAccumulator = 4;  // R4-R131 in the recordings
constexpr uint32_t kAccumulators = 128;
constexpr int16_t kStreamA = 0;
constexpr int16_t kStreamB = 1;
constexpr int16_t kStreamC = 2;

struct Plan {
  uint64_t m, n, k;
  configs::ElementType type;
  uint32_t tile_k;
  uint32_t stages;
  bool along_m;
  uint32_t swizzle;

  uint64_t tiles_m() const { return (m + kTile - 1) / kTile; }
  uint64_t tiles_n() const { return (n + kTile - 1) / kTile; }
  uint64_t k_tiles() const { return (k + tile_k - 1) / tile_k; }
  uint32_t operand_bytes() const { return kTile * tile_k * kElementBytes; }  // of A or B, one stage
  uint32_t copies() const { return operand_bytes() / kWarps / kCopyBytes; }  // a warp, of A or B, one stage
};

Expected<Plan> plan_of(const configs::AmpereGemm& gemm) {
  Plan plan{gemm.m(),
            gemm.n(),
            gemm.k(),
            gemm.has_type() ? gemm.type() : configs::FP16,
            gemm.tile_k() != 0 ? gemm.tile_k() : 32,
            gemm.stages() != 0 ? gemm.stages() : 3,
            gemm.rasterisation() == configs::ALONG_M,
            gemm.swizzle() != 0 ? gemm.swizzle() : 8};
  if (plan.m == 0 || plan.n == 0 || plan.k == 0) return fail("ampere_gemm: m, n and k must be at least 1");
  if (plan.type == configs::FP8) return fail("ampere_gemm: type FP8 has no mma.sync before sm_89; expected BF16 or FP16");
  const bool recorded = (plan.tile_k == 32 && (plan.stages == 3 || plan.stages == 4)) || (plan.tile_k == 64 && plan.stages == 3);
  if (!recorded) {
    return fail("ampere_gemm: tile_k " + std::to_string(plan.tile_k) + " with " + std::to_string(plan.stages) +
                " stages was not recorded; expected tile_k 32 with 3 or 4 stages, or tile_k 64 with 3");
  }
  if (plan.k_tiles() < plan.stages) {
    return fail("ampere_gemm: k " + std::to_string(plan.k) + " is shorter than the ring of " + std::to_string(plan.stages) + " x " +
                std::to_string(plan.tile_k));
  }
  return plan;
}

// sm_86 runs code compiled for sm_80.
std::string recording(const isa::Architecture& architecture, const Plan& plan) {
  const std::string chip = architecture.name() == "sm_90" ? "sm90" : "sm80";
  return "mma_gemm_" + chip + "_128x128x" + std::to_string(plan.tile_k) + "_s" + std::to_string(plan.stages);
}

// Says what the recorded instructions move. Copies alternate between A and B. `copies`: whether they copy; the last passes of
// the loop have nothing left to fetch, so that their copies are predicated off.
std::vector<isa::Instruction> with_effects(const isa::Architecture& architecture, std::vector<isa::Instruction> code, bool copies) {
  bool of_b = false;
  for (isa::Instruction& instruction : code) {
    isa::Effect& effect = instruction.effect;
    switch (architecture.info(instruction).behaviour) {
      case isa::Behaviour::kCopyAsync:
        if (copies) {
          effect.bytes = kCopyBytes;
          effect.stream = of_b ? kStreamB : kStreamA;
        } else {
          instruction.guard = {.present = true, .negated = true};
        }
        of_b = !of_b;
        break;
      case isa::Behaviour::kLoadMatrix:
        effect.wavefronts = kMatrixWavefronts;
        break;
      case isa::Behaviour::kBarrierSync:
        effect.barrier = 0;
        effect.count = kWarps * 32;
        break;
      default:
        break;
    }
  }
  uncount_copies(architecture, code);
  return code;
}

void add_copies(Code& code, const Plan& plan) {
  for (uint32_t i = 0; i < plan.copies(); ++i) {
    const std::string offset = immediate(i * 2048);
    code.add(line({"LDGSTS.E.BYPASS.LTC128B.128 [R212+", offset, "], [R214.64]"}), {.bytes = kCopyBytes, .stream = kStreamA});
    code.add(line({"LDGSTS.E.BYPASS.LTC128B.128 [R213+", offset, "], [R216.64]"}), {.bytes = kCopyBytes, .stream = kStreamB});
  }
  code.add("LDGDEPBAR", {.commit = true});
  code.add("IADD3 R214, P0, R214, 0x40, RZ").add("IADD3 R216, P1, R216, 0x40, RZ");
  code.add("IADD3.X R215, RZ, R215, RZ, P0, !PT").add("IADD3.X R217, RZ, R217, RZ, P1, !PT");
}

traces::Block prologue(const isa::Architecture& architecture, const Plan& plan) {
  Code code(architecture);
  code.add("S2R R0, SR_TID.X").add("S2R R2, SR_CTAID.X").add("ULDC.64 UR4, c[0x0][0x160]").add("ULDC.64 UR6, c[0x0][0x168]");
  code.add("SHF.R.U32.HI R3, RZ, 0x5, R0").add("LOP3.LUT R132, R0, 0x1f, RZ, 0xc0, !PT").add("IMAD R212, R3, 0x200, R132");
  code.add("IMAD.SHL.U32 R212, R212, 0x10, RZ").add("IADD3 R213, R212, 0x2000, RZ").add("IMAD R2, R2, 0x80, R3");
  code.add("IMAD.MOV.U32 R214, RZ, RZ, UR4").add("IMAD.MOV.U32 R215, RZ, RZ, UR5").add("IMAD.MOV.U32 R216, RZ, RZ, UR6");
  code.add("IMAD.MOV.U32 R217, RZ, RZ, UR7").add("IMAD.WIDE.U32 R214, R2, 0x10, R214").add("IMAD.WIDE.U32 R216, R2, 0x10, R216");
  for (uint32_t stage = 0; stage + 1 < plan.stages; ++stage) add_copies(code, plan);
  for (uint32_t i = 0; i < kAccumulators; i += 2) code.add(line({"CS2R ", general(kFirstAccumulator + i), ", SRZ"}));
  code.add("DEPBAR.LE.LDGSTS SB0, 0x1", {.count = static_cast<uint16_t>(plan.stages - 2)});
  code.add("BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = kWarps * 32});
  for (const uint64_t fragment : {132, 152, 156, 160, 136, 140, 144, 148}) {
    code.add(line({"LDSM.16.M88.4 ", general(fragment), ", [R212]"}), {.wavefronts = kMatrixWavefronts});
  }
  code.add("NOP");  // waits for the fragments
  return straight(code);
}

// mma.sync leaves two neighbouring columns of a row in a thread: 64 words of two elements each.
traces::Block epilogue(const isa::Architecture& architecture, const Plan& plan) {
  const bool hopper = architecture.name() == "sm_90";
  const std::string_view pack = plan.type == configs::BF16 ? (hopper ? "F2FP.BF16.F32.PACK_AB " : "F2FP.BF16.PACK_AB ")
                                                           : (hopper ? "F2FP.F16.F32.PACK_AB " : "F2FP.PACK_AB ");
  Code code(architecture);
  code.add("S2R R132, SR_TID.X").add("ULDC.64 UR4, c[0x0][0x170]").add("IMAD.MOV.U32 R134, RZ, RZ, UR4");
  code.add("IMAD.MOV.U32 R135, RZ, RZ, UR5").add("IMAD.WIDE.U32 R134, R132, 0x4, R134");
  for (uint32_t i = 0; i < kAccumulators; i += 2) {
    const std::string low = general(kFirstAccumulator + i);
    code.add(line({pack, low, ", ", general(kFirstAccumulator + i + 1), ", ", low}));
  }
  for (uint32_t i = 0; i < kAccumulators; i += 2) {
    code.add(line({"STG.E [R134.64+", immediate(i * 64), "], ", general(kFirstAccumulator + i)}),
             {.bytes = 4 * 32, .stream = kStreamC});
  }
  code.add("EXIT");
  return straight(code);
}

std::vector<traces::Node> body_of(const isa::Architecture& architecture, const Plan& plan) {
  const std::vector<isa::Instruction> loop = recorded_loop(architecture, recording(architecture, plan));
  const uint64_t ahead = plan.stages - 1;  // k-tiles that the prologue has fetched
  std::vector<traces::Node> body{
      prologue(architecture, plan),
      traces::Loop{{.literal = plan.k_tiles() - ahead}, {traces::Block{with_effects(architecture, loop, true)}}},
      traces::Loop{{.literal = ahead}, {traces::Block{with_effects(architecture, loop, false)}}},
      epilogue(architecture, plan),
  };
  connect(architecture, body);
  return body;
}

RasterTraffic traffic(const Plan& plan, const configs::Gpu& gpu, uint32_t resident) {
  Raster raster;
  raster.clusters_m = plan.tiles_m();
  raster.clusters_n = plan.tiles_n();
  raster.along_m = plan.along_m;
  raster.band_clusters = plan.swizzle;
  raster.concurrent_clusters = uint64_t{resident} * gpu.sm_count();
  raster.a_panel_bytes = plan.k_tiles() * plan.operand_bytes();
  raster.b_panel_bytes = raster.a_panel_bytes;
  raster.l2_bytes = gpu.l2().bytes();
  return raster_traffic(raster);
}

traces::MemoryStream read_stream(const std::string& name, const OperandTraffic& bytes) {
  const uint64_t divisor = std::gcd(bytes.dram, bytes.requested);
  return {name, false, bytes.dram / divisor, bytes.requested / divisor};
}

std::string describe(const Plan& plan) {
  std::ostringstream text;
  text << "ampere_gemm m=" << plan.m << " n=" << plan.n << " k=" << plan.k << " " << configs::ElementType_Name(plan.type)
       << " tile=128x128x" << plan.tile_k << " stages=" << plan.stages << (plan.along_m ? " along_m" : " along_n")
       << " swizzle=" << plan.swizzle;
  return text.str();
}

}  // namespace

Expected<traces::Kernel> make_ampere_gemm(const configs::AmpereGemm& gemm, const configs::Gpu& gpu) {
  const auto plan = plan_of(gemm);
  if (!plan) return std::unexpected(plan.error());
  const auto found = isa::Architecture::find(gpu.architecture());
  if (!found) return std::unexpected(found.error());
  traces::Kernel kernel;
  kernel.name = "ampere_gemm";
  kernel.architecture = gpu.architecture();
  kernel.source = describe(*plan);
  kernel.flops = 2 * plan->m * plan->n * plan->k;
  kernel.shared_memory_bytes = plan->stages * 2 * plan->operand_bytes();
  kernel.roles = {{"mma", kWarps, body_of(**found, *plan)}};
  kernel.registers_per_thread = registers_named(kernel.roles);
  kernel.cta_classes = {{"tile", {}}};
  kernel.grid = {{0, plan->tiles_m() * plan->tiles_n()}};
  const uint32_t resident = ctas_per_sm(gpu, {kWarps, kernel.registers_per_thread, kernel.shared_memory_bytes});
  if (resident == 0) {
    return fail("ampere_gemm: a CTA of " + std::to_string(kernel.shared_memory_bytes) + " bytes of shared memory does not fit " +
                gpu.name());
  }
  const RasterTraffic bytes = traffic(*plan, gpu, resident);
  kernel.streams = {read_stream("A", bytes.a), read_stream("B", bytes.b), {"C", true, 1, 1}};
  return kernel;
}

}  // namespace warpfold::workloads
