// The kernels before and after the backward pass, with one tile of queries per CTA. Before: dot(O, dO) for each row, and dQ's FP32
// sums cleared. After: dQ from FP32 to 16 bits, scaled. Bytes as in the library
// (csrc/flash_attn/src/flash_bwd_preprocess_kernel.h); both kernels are memory-bound. assumed: the instructions between loads and
// stores, the fewest that do the work.
#include "workloads/flash_attention_2/code.h"

namespace warpfold::workloads {
namespace {

constexpr uint32_t kFirst = 16;        // first register of the tile
constexpr uint32_t kThreadsOfRow = 8;  // threads that share a row's 64 columns in each chunk

Code start_of(const FlashAttention2Plan& plan) {
  Code code(*plan.architecture);
  code.add("S2R R0, SR_TID.X").add("S2R R1, SR_CTAID.X").add("S2R R2, SR_CTAID.Y").add("ULDC.64 UR4, c[0x0][0x160]");
  code.add("IMAD R0, R1, 0x80, R0").add("IMAD R2, R2, 0x200, R0");
  for (const uint32_t pointer : {4U, 6U, 8U}) {
    code.add(line({"IMAD.MOV.U32 ", r(pointer), ", RZ, RZ, UR4"})).add(line({"IMAD.MOV.U32 ", r(pointer + 1), ", RZ, RZ, UR5"}));
    code.add(line({"IMAD.WIDE.U32 ", r(pointer), ", R2, 0x10, ", r(pointer)}));
  }
  return code;
}

// Load and store 16 bytes per thread.
void load(Code& code, uint32_t to, uint32_t pointer, uint32_t offset, int16_t stream) {
  code.add(line({"LDG.E.128 ", r(to), ", [", r(pointer), ".64+", immediate(offset), "]"}), {.bytes = kCopyBytes, .stream = stream});
}
void store(Code& code, const std::string& from, uint32_t pointer, uint32_t offset, int16_t stream) {
  code.add(line({"STG.E.128 [", r(pointer), ".64+", immediate(offset), "], ", from}), {.bytes = kCopyBytes, .stream = stream});
}

uint32_t chunks_of(const FlashAttention2Plan& plan) { return plan.tile_queries * plan.head_dim() * 2 / kCopyBytes / plan.warps; }

}  // namespace

std::vector<traces::Node> flash_attention_2_prepare_body(const FlashAttention2BackwardPlan& plan) {
  const FlashAttention2Plan& common = plan.common;
  const uint32_t chunks = chunks_of(common);
  const uint32_t rows = chunks * kThreadsOfRow * 8 / common.head_dim();  // per thread
  Code code = start_of(common);
  for (uint32_t i = 0; i < chunks; ++i) {
    load(code, kFirst + 8 * i, 4, i * 512, kPrepareOutput);
    load(code, kFirst + 8 * i + 4, 6, i * 512, kPrepareOutputGradient);
  }
  for (uint32_t i = 0; i < 2 * chunks; ++i) store(code, "RZ", 8, i * 512, kPrepareQueryGradient);
  for (uint32_t i = 0; i < chunks; ++i) {
    const std::string sum = r(10 + i * rows / chunks);
    if (i * rows % chunks == 0) code.add(line({"MOV ", sum, ", RZ"}));
    for (uint32_t word = 0; word < 4; ++word) {
      for (const std::string_view half : {".H0_H0", ".H1_H1"}) {
        code.add(line({"HADD2.F32 R2, -RZ, ", r(kFirst + 8 * i + word), half}));
        code.add(line({"HADD2.F32 R3, -RZ, ", r(kFirst + 8 * i + 4 + word), half}));
        code.add(line({"FFMA.FTZ ", sum, ", R2, R3, ", sum}));
      }
    }
  }
  for (uint32_t row = 0; row < rows; ++row) {
    const std::string sum = r(10 + row);
    for (const std::string_view distance : {"0x4", "0x2", "0x1"}) {
      code.add(line({"SHFL.BFLY PT, R2, ", sum, ", ", distance, ", 0x1f"})).add(line({"FADD.FTZ ", sum, ", ", sum, ", R2"}));
    }
    // One thread of each row stores; a warp has four rows.
    code.add(line({"STG.E [R8.64+", immediate(row * 16), "], ", sum}), {.bytes = 16, .stream = kPrepareRows});
  }
  code.add("EXIT");
  return {block_of(code)};
}

std::vector<traces::Node> flash_attention_2_convert_body(const FlashAttention2BackwardPlan& plan) {
  const FlashAttention2Plan& common = plan.common;
  const uint32_t chunks = chunks_of(common);
  Code code = start_of(common);
  for (uint32_t i = 0; i < 2 * chunks; ++i) load(code, kFirst + 4 * i, 4, i * 512, kConvertSums);
  for (uint32_t i = 0; i < 8 * chunks; ++i) {
    code.add(line({"FMUL.FTZ ", r(kFirst + i), ", ", r(kFirst + i), ", ", kScale}));
  }
  for (uint32_t i = 0; i < 8 * chunks; i += 2) {
    const std::string low = r(kFirst + i);
    code.add(line({pack_mnemonic(common), " ", low, ", ", r(kFirst + i + 1), ", ", low}));
    code.add(line({"STS [R0+", immediate(i * 64), "], ", low}));
  }
  add_lines(code, {cta_barrier(common)});
  for (uint32_t i = 0; i < chunks; ++i) {
    code.add(line({"LDS.128 ", r(kFirst + 4 * i), ", [R0+", immediate(i * 512), "]"}));
  }
  for (uint32_t i = 0; i < chunks; ++i) store(code, r(kFirst + 4 * i), 6, i * 512, kConvertQueryGradient);
  code.add("EXIT");
  return {block_of(code)};
}

}  // namespace warpfold::workloads
