#include "workloads/ampere_gemm/simt_warp.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "isa/block_border.h"
#include "isa/control_code_assigner.h"
#include "workloads/ampere_gemm/mma_warp.h"
#include "workloads/common/program.h"
#include "workloads/common/warp_product.h"

namespace warpfold::workloads {
namespace {

using Plan = SimtGemmPlan;

constexpr uint32_t kFirstOperand = 12;  // registers below: addresses and counters
constexpr uint32_t kVector = 4;         // words of LDS.128, STS.128 and STG.128
constexpr uint32_t kWarpBytes = 32 * Plan::kWordBytes;
constexpr uint32_t kStep = Plan::kSliceDepth;

// Bytes that an instruction of a warp moves if only the share `filled` of them lies within the matrix.
uint32_t bytes_of(uint32_t bytes, double filled) { return std::max(1U, static_cast<uint32_t>(std::lround(bytes * filled))); }

class SimtWarp {
 public:
  SimtWarp(const isa::Architecture& architecture, const Plan& plan) : architecture_(architecture), plan_(plan) {}

  traces::Block prologue() const {
    Code code(architecture_);
    code.add("S2R R0, SR_TID.X").add("S2R R1, SR_CTAID.X").add("S2R R9, SR_CTAID.Y").add("ULDC.64 UR4, c[0x0][0x160]");
    code.add("SHF.R.U32.HI R10, RZ, 0x5, R0").add("LOP3.LUT R11, R0, 0x1f, RZ, 0xc0, !PT");
    code.add("IMAD R6, R10, 0x80, R11").add("IMAD R7, R11, 0x10, R10").add("IMAD R8, R0, 0x4, RZ");
    for (const uint32_t pointer : {kAFrom, kBFrom}) {
      code.add(line({"IMAD.MOV.U32 ", general(pointer), ", RZ, RZ, UR4"}));
      code.add(line({"IMAD.MOV.U32 ", general(pointer + 1), ", RZ, RZ, UR5"}));
      code.add(line({"IMAD.WIDE.U32 ", general(pointer), ", ", pointer == kAFrom ? "R1" : "R9", ", 0x4, ", general(pointer)}));
    }
    for (uint64_t ahead = 0; ahead < ahead_of_loop(); ++ahead) {
      add_lines(code, copies(true));
      if (plan_.async) code.add("LDGDEPBAR", {.commit = true});
      add_lines(code, advance_pointers());
    }
    for (uint32_t i = 0; i < plan_.sums(); i += 2) code.add(line({"CS2R ", general(sums() + i), ", SRZ"}));
    if (!plan_.async) add_lines(code, stores(true));
    add_lines(code, meet());
    add_lines(code, loads(0));
    code.add("IMAD R9, RZ, RZ, RZ").add("NOP");
    return block_of(code);
  }

  // `copying`: false in the last passes, which have nothing left to fetch, so that their copies are predicated off.
  traces::Loop loop(uint64_t trips, bool copying) const {
    Code code(architecture_);
    const Lines ahead = copies(copying);
    for (uint32_t step = 0; step < kStep; ++step) {
      if (step == kStep - 1) add_lines(code, meet());
      Lines filler = loads(step + 1);
      // This step's even share of the copies, each preceded by its address arithmetic.
      const size_t to = std::min(ahead.size(), ahead.size() * (step + 1) / (kStep - 1));
      for (size_t copy = std::min(ahead.size(), ahead.size() * step / (kStep - 1)); copy < to; ++copy) {
        append(filler, addresses_of_copy());
        filler.push_back(ahead[copy]);
      }
      if (step == kStep - 2) append(filler, plan_.async ? Lines{{"LDGDEPBAR", {.commit = true}}} : stores(copying));
      if (step == 2) append(filler, advance_pointers());
      if (step == 4) append(filler, advance_stages());
      add_lines(code, behind_each_pair(products(step), filler));
    }
    code.add("@P0 BRA 0x0");
    traces::Block block{code.instructions()};
    isa::assign_control_codes(architecture_, block.code, true);
    isa::remove_copy_counter(architecture_, block.code);
    return {{.literal = trips}, {std::move(block)}};
  }

  traces::Block epilogue() const {
    Code code(architecture_);
    const uint32_t stored = plan_.sums() / plan_.slices;
    if (plan_.slices > 1) add_slices(code, stored);
    code.add("S2R R0, SR_TID.X").add("ULDC.64 UR4, c[0x0][0x170]");
    code.add("IMAD.MOV.U32 R2, RZ, RZ, UR4").add("IMAD.MOV.U32 R3, RZ, RZ, UR5").add("IMAD.WIDE.U32 R2, R0, 0x10, R2");
    for (uint32_t i = 0; i < stored; ++i) {
      const std::string sum = general(sums() + i);
      code.add(line({"FMUL ", sum, ", ", sum, ", R4"}));  // alpha
    }
    const uint32_t bytes = bytes_of(kVector * kWarpBytes, plan_.filled_m() * plan_.filled_n());
    for (uint32_t i = 0; i < stored; i += kVector) {
      code.add(line({"STG.E.128 [R2.64+", immediate(uint64_t{i} * 128), "], ", general(sums() + i)}),
               {.bytes = bytes, .stream = AmpereGemmStreams::kC});
    }
    code.add("EXIT");
    return block_of(code);
  }

  uint64_t ahead_of_loop() const { return std::min<uint64_t>(plan_.stages - 1, plan_.k_tiles()); }

 private:
  static constexpr uint32_t kAFrom = 2, kBFrom = 4;  // register pairs

  uint32_t set() const { return plan_.thread_m + plan_.thread_n; }  // registers of one column's operands
  uint32_t a_operand(uint32_t step) const { return kFirstOperand + step % 2 * set(); }
  uint32_t b_operand(uint32_t step) const { return a_operand(step) + plan_.thread_m; }
  uint32_t sums() const { return kFirstOperand + 2 * set(); }
  uint32_t staged() const { return sums() + plan_.sums(); }  // registers of copies that pass through registers

  // Column by column, with alternating direction along the rows, so that neighbouring FFMAs share an operand. A sum lies in the
  // other register bank than its row's operand [maxas].
  Lines products(uint32_t step) const {
    Lines lines;
    for (uint32_t n = 0; n < plan_.thread_n; ++n) {
      for (uint32_t i = 0; i < plan_.thread_m; ++i) {
        const uint32_t m = n % 2 == 0 ? i : plan_.thread_m - 1 - i;
        const std::string sum = general(sums() + n * plan_.thread_m + (m ^ 1U));
        lines.push_back(
            {line({"FFMA ", sum, ", ", general(a_operand(step) + m), ", ", general(b_operand(step) + n), ", ", sum}), {}});
      }
    }
    return lines;
  }

  // Loads of one column's operands. Lanes that share rows or columns read the same words, so eight lanes per pass have no conflicts
  // (traces/access/shared_wavefronts.h).
  Lines loads(uint32_t step) const {
    Lines lines;
    const auto add = [&](uint32_t to, uint32_t words, std::string_view address, uint32_t tile) {
      for (uint32_t word = 0; word < words; word += kVector) {
        lines.push_back({line({"LDS.128 ", general(to + word), ", [", address, "+",
                               immediate((uint64_t{step % kStep} * tile + word * 8) * Plan::kWordBytes), "]"}),
                         {}});
      }
    };
    add(a_operand(step), plan_.thread_m, "R6", plan_.tile_m);
    add(b_operand(step), plan_.thread_n, "R7", plan_.tile_n);
    return lines;
  }

  // assumed: alignment of one element, so that each copy moves one word per thread [cutlass].
  Lines copies(bool copying) const {
    Lines lines;
    for (uint32_t i = 0; i < plan_.a_copies() + plan_.b_copies(); ++i) {
      const bool b = i >= plan_.a_copies();
      const double filled = (b ? plan_.filled_n() : plan_.filled_m()) * plan_.filled_k();
      const isa::Effect effect{.bytes = copying ? bytes_of(kWarpBytes, filled) : 0,
                               .stream = copying ? (b ? AmpereGemmStreams::kB : AmpereGemmStreams::kA) : int16_t{-1}};
      const std::string from = line({"[", general(b ? kBFrom : kAFrom), ".64+", immediate(uint64_t{i} * 32), "]"});
      const std::string_view guard = copying ? "" : "@!PT ";
      lines.push_back({plan_.async ? line({guard, "LDGSTS.E [R8+", immediate(uint64_t{i} * 512), "], ", from})
                                   : line({guard, "LDG.E ", general(staged() + i), ", ", from}),
                       effect});
    }
    return lines;
  }
  // Without cp.async: stores of the copied words from registers to shared memory.
  Lines stores(bool copying) const {
    Lines lines;
    for (uint32_t i = 0; i < plan_.a_copies() + plan_.b_copies(); ++i) {
      lines.push_back({line({copying ? "" : "@!PT ", "STS [R8+", immediate(uint64_t{i} * 512), "], ", general(staged() + i)}), {}});
    }
    return lines;
  }

  // Address arithmetic of a copy: the row's place in the matrix and in the stage, and the test that it lies within the matrix. It
  // takes seven instructions per copy. For a kernel of this shape, nvcc 13.0 generates 67 integer instructions for 8 copies of a
  // thread and 116 for 16, including the loop's own (sm_90). The 67 are 35 LEA, 19 IADD3, 10 IMAD and 3 ISETP. The kernel sm80_xmma
  // 64 x 64 of cuBLAS executes 1.403 instructions per FFMA (376,480,768 of 2048^3, Nsight Compute, nideyongbao/CUDA_GEMM). This
  // leaves 7.1 for a copy after LDS, LDGSTS and the loop's own instructions.
  static Lines addresses_of_copy() {
    return {{"IMAD R1, R9, R10, R11", {}},           {"LEA R0, R9, R10, 0x2", {}}, {"IADD3 R1, R10, R11, RZ", {}},
            {"LEA R0, R11, R10, 0x2", {}},           {"LEA R1, R9, R11, 0x2", {}}, {"IADD3 R0, R9, R11, RZ", {}},
            {"ISETP.LT.AND P4, PT, R9, R11, PT", {}}};
  }
  static Lines advance_pointers() {
    return {{"IADD3 R2, P1, R2, 0x20, RZ", {}},
            {"IADD3 R4, P2, R4, 0x20, RZ", {}},
            {"IADD3.X R3, RZ, R3, RZ, P1, !PT", {}},
            {"IADD3.X R5, RZ, R5, RZ, P2, !PT", {}}};
  }
  // Advances the ring's read and write stages, and counts k-tiles.
  static Lines advance_stages() {
    return {{"IADD3 R9, R9, 0x1, RZ", {}},
            {"ISETP.GE.AND P0, PT, R9, R10, PT", {}},
            {"IADD3 R8, R8, 0x800, RZ", {}},
            {"ISETP.NE.AND P3, PT, R8, R11, PT", {}},
            {"SEL R8, R8, RZ, P3", {}},
            {"LOP3.LUT R6, R6, 0x800, RZ, 0x3c, !PT", {}},
            {"LOP3.LUT R7, R7, 0x800, RZ, 0x3c, !PT", {}}};
  }

  Lines meet() const {
    Lines lines;
    if (plan_.async) lines.push_back({"DEPBAR.LE.LDGSTS SB0, 0x1", {.count = static_cast<uint16_t>(plan_.stages - 2)}});
    lines.push_back({"BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = static_cast<uint16_t>(plan_.threads)}});
    return lines;
  }

  // Inserts one filler instruction after each pair of FFMAs: as early as issue slots allow, so that the other FFMAs of the step
  // hide latencies.
  static Lines behind_each_pair(const Lines& main, const Lines& filler) {
    Lines merged;
    size_t next = 0;
    for (size_t i = 0; i < main.size(); ++i) {
      merged.push_back(main[i]);
      if (i % 2 == 1 && next < filler.size()) merged.push_back(filler[next++]);
    }
    merged.insert(merged.end(), filler.begin() + static_cast<ptrdiff_t>(next), filler.end());
    return merged;
  }

  // Each slice stores its sums to shared memory; then each thread adds up `stored` of them.
  void add_slices(Code& code, uint32_t stored) const {
    const isa::Effect all{.barrier = 0, .count = static_cast<uint16_t>(plan_.threads)};
    code.add("BAR.SYNC.DEFER_BLOCKING 0x0", all);
    for (uint32_t i = 0; i < plan_.sums(); i += kVector)
      code.add(line({"STS.128 [R8+", immediate(uint64_t{i} * 128), "], ", general(sums() + i)}));
    code.add("BAR.SYNC.DEFER_BLOCKING 0x0", all);
    for (uint32_t slice = 0; slice < plan_.slices; ++slice) {
      for (uint32_t i = 0; i < stored; i += kVector) {
        code.add(
            line({"LDS.128 ", general(sums() + slice * stored + i), ", [R6+", immediate(uint64_t{slice * stored + i} * 128), "]"}));
      }
    }
    for (uint32_t slice = 1; slice < plan_.slices; ++slice) {
      for (uint32_t i = 0; i < stored; ++i) {
        const std::string sum = general(sums() + i);
        code.add(line({"FADD ", sum, ", ", sum, ", ", general(sums() + slice * stored + i)}));
      }
    }
  }

  const isa::Architecture& architecture_;
  const Plan& plan_;
};

}  // namespace

std::vector<traces::Node> simt_warp_body(const isa::Architecture& architecture, const Plan& plan) {
  const SimtWarp warp(architecture, plan);
  const uint64_t ahead = warp.ahead_of_loop();
  std::vector<traces::Node> body{warp.prologue()};
  if (plan.k_tiles() > ahead) body.emplace_back(warp.loop(plan.k_tiles() - ahead, true));
  body.emplace_back(warp.loop(ahead, false));
  body.emplace_back(warp.epilogue());
  connect(architecture, body);
  return body;
}

}  // namespace warpfold::workloads
