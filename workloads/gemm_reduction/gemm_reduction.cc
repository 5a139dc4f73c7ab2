#include "workloads/gemm_reduction/gemm_reduction.h"

#include <algorithm>
#include <string>

#include "configs/architecture.h"
#include "workloads/common/program.h"

namespace warpfold::workloads {
namespace {

constexpr uint32_t kWarpThreads = 32;
constexpr uint32_t kValues = 4;     // per thread: one 16-byte load of each part
constexpr uint32_t kPartBytes = 4;  // FP32
// assumed: 512 threads, from the template arguments <32, 16, ...> in profiles.
constexpr uint32_t kWarps = 16;
constexpr uint32_t kFirstPart = 12;  // registers below: index and addresses
// Parts whose loads are in flight together. assumed: as many as fit in 64 registers beside the addresses.
constexpr uint32_t kPartsAhead = 8;

void add_parts(Code& code, uint32_t parts) {
  for (uint32_t first = 0; first < parts; first += kPartsAhead) {
    const uint32_t count = std::min(kPartsAhead, parts - first);
    for (uint32_t part = 0; part < count; ++part) {
      code.add(line({"LDG.E.128 ", general(kFirstPart + kValues * part), ", [R4.64+", immediate(uint64_t{first + part} * 16), "]"}),
               {.bytes = kValues * kPartBytes * kWarpThreads, .stream = 0});
    }
    for (uint32_t part = 0; part < count; ++part) {
      for (uint32_t i = 0; i < kValues; ++i) {
        const std::string sum = general(8 + i);
        const bool starts = first + part == 0;
        code.add(line({"FADD ", sum, ", ", starts ? "RZ" : sum, ", ", general(kFirstPart + kValues * part + i)}));
      }
    }
  }
}

configs::ElementType result_of(const configs::GemmReduction& reduction) {
  return reduction.has_output_type() ? reduction.output_type() : configs::BF16;
}

// Bytes of the result per thread.
std::string_view stride_of(configs::ElementType type) {
  return type == configs::FP32 ? "0x10" : type == configs::FP8 ? "0x4" : "0x8";
}

// Stores a thread's four sums in the result's type.
void add_store(Code& code, configs::ElementType type) {
  const auto bytes = [](uint32_t of_value) { return isa::Effect{.bytes = kValues * of_value * kWarpThreads, .stream = 1}; };
  switch (type) {
    case configs::FP32:
      code.add("STG.E.128 [R6.64], R8", bytes(4));
      return;
    case configs::FP8:
      code.add("F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C R8, R9, R8, RZ");
      code.add("F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C R8, R11, R10, R8");
      code.add("STG.E [R6.64], R8", bytes(1));
      return;
    default: {
      const std::string_view pack = type == configs::FP16 ? "F2FP.F16.F32.PACK_AB " : "F2FP.BF16.F32.PACK_AB ";
      code.add(line({pack, "R8, R9, R8"})).add(line({pack, "R9, R11, R10"}));
      code.add("STG.E.64 [R6.64], R8", bytes(2));
    }
  }
}

traces::Block body_of(const isa::Architecture& architecture, const configs::GemmReduction& reduction) {
  Code code(architecture);
  code.add("S2R R0, SR_CTAID.X").add("S2R R3, SR_TID.X").add("ULDC.64 UR4, c[0x0][0x210]").add("IMAD R0, R0, 0x200, R3");
  code.add("IMAD.MOV.U32 R4, RZ, RZ, UR4").add("IMAD.MOV.U32 R5, RZ, RZ, UR5").add("IMAD.WIDE.U32 R4, R0, 0x10, R4");
  code.add("IMAD.MOV.U32 R6, RZ, RZ, UR4")
      .add("IMAD.MOV.U32 R7, RZ, RZ, UR5")
      .add(line({"IMAD.WIDE.U32 R6, R0, ", stride_of(result_of(reduction)), ", R6"}));
  add_parts(code, reduction.parts());
  add_store(code, result_of(reduction));
  code.add("EXIT");
  return block_of(code);
}

}  // namespace

Expected<traces::Kernel> make_gemm_reduction(const configs::GemmReduction& reduction, const configs::Gpu& gpu) {
  const auto architecture = isa::Architecture::find(gpu.architecture());
  if (!architecture) return std::unexpected(architecture.error());
  const configs::ProductFamily family = configs::product_family(gpu.architecture());
  const bool packs = family == configs::ProductFamily::kWgmma || family == configs::ProductFamily::kTcgen05;
  if (!packs && result_of(reduction) != configs::FP32)
    return fail("gemm_reduction to 16 or 8 bits needs a GPU of architecture sm_90 or sm_100, as hopper_gemm and blackwell_gemm do");
  const uint64_t values = reduction.m() * reduction.n();
  const bool in_l2 = values * kPartBytes * reduction.parts() <= gpu.l2().bytes() / 2;
  traces::Kernel kernel;
  kernel.name = "gemm_reduction";
  kernel.architecture = (*architecture)->name();
  kernel.source = line({"gemm_reduction m=", std::to_string(reduction.m()), " n=", std::to_string(reduction.n()),
                        " parts=", std::to_string(reduction.parts())});
  kernel.streams = {{"parts", false, in_l2 ? 0U : 1U, 1, values * kPartBytes * reduction.parts()}, {"C", true, 1, 1}};
  kernel.flops = values * (reduction.parts() - 1);
  std::vector<traces::Node> body{body_of(**architecture, reduction)};
  connect(**architecture, body);
  kernel.roles = {{"adders", kWarps, std::move(body)}};
  kernel.registers_per_thread = registers_named(kernel.roles);
  kernel.cta_classes = {{"all", {}}};
  const uint64_t cta_values = uint64_t{kWarps} * kWarpThreads * kValues;
  kernel.grid = {{0, (values + cta_values - 1) / cta_values}};
  return kernel;
}

}  // namespace warpfold::workloads
