// The arithmetic between the two matrix products of FlashAttention-3: the instructions of the library's forward kernel for a block
// of scores (head_dim 128, fp16, sm_90a, CUDA 13.0, counted in its disassembly). A thread has two of the 64 rows. Its scores come
// in pairs of one row: registers 0 and 1 belong to its first row, 2 and 3 to its second, and so on (wgmma's accumulator layout).
#include "workloads/flash_attention_3/roles.h"
#include "workloads/flash_attention_3/rows.h"

namespace warpfold::workloads {
namespace {

using Registers = AttentionRegisters;

constexpr uint32_t kRows = AttentionRegisters::kRows;

// The maximum of each row: over the thread's scores, then over the four threads that share the row.
void add_maximum(Code& code, const FlashAttention3Plan& plan, bool first) {
  for (uint32_t row = 0; row < kRows && !first; ++row) code.add(rows::keep_old(row));
  // Counted: the second row starts after four scores of the first.
  for (const uint32_t i : row_chains(plan.scores(), 4)) {
    const uint32_t row = row_of_score(i);
    if (first && i == 2 * row) continue;
    const bool second = first && i == 2 * row + 1;
    code.add(rows::larger(plan, i, second ? general(Registers::score(plan) + 2 * row) : general(Registers::kMaximum + row)));
  }
  for (const std::string_view distance : {"0x2", "0x1"}) {
    for (uint32_t row = 0; row < kRows; ++row) code.add(rows::exchange(row, distance));
    for (uint32_t row = 0; row < kRows; ++row) code.add(rows::larger_of_exchanged(row));
  }
}

// Adds exp2 of the maximum's growth.
void add_scales(Code& code, bool first, Mask mask) {
  // A row that sees no key so far has the maximum minus infinity, which would yield not-a-number; zero replaces it.
  for (uint32_t row = 0; row < kRows && mask == Mask::kCausal; ++row) {
    const std::string maximum = general(Registers::kMaximum + row);
    const std::string old = general(Registers::kWork + row);
    code.add(line({"FSETP.NEU.FTZ.AND P1, PT, ", maximum, ", -INF , PT"}));
    code.add(line({"FSEL ", maximum, ", ", maximum, ", RZ, P1"})).add(line({"FSEL ", old, ", ", old, ", RZ, P1"}));
  }
  for (uint32_t row = 0; row < kRows; ++row) code.add(rows::shift(row));
  if (first) return;
  for (uint32_t row = 0; row < kRows; ++row) code.add(rows::growth(row));
  for (uint32_t row = 0; row < kRows; ++row) code.add(rows::scaled_growth(row));
  for (uint32_t row = 0; row < kRows; ++row) code.add(rows::shrinking(row));
}

// Position of the diagonal: the number of the block's first key minus that of the thread's first query.
void add_diagonal(Code& code) {
  code.add("UIADD3 UR53, UR38, 0x1, URZ").add("UIMAD UR54, UR53, UR40, UR36").add("UIMAD UR53, UR54, 0x80, UR53");
  code.add("UISETP.GT.AND UP1, UPT, UR53, UR54, UPT").add("UISETP.NE.U32.AND UP2, UPT, UR53, URZ, UPT");
  code.add("UISETP.NE.AND.EX UP2, UPT, UR54, URZ, UPT, UP2").add("USEL UR53, UR53, UR54, UP1").add("UMOV UR54, UR53");
  code.add("UIADD3 UR54, -UR54, 0x1, URZ").add("IMAD.U32 R3, RZ, RZ, UR54").add("IMAD R12, R0, 0x2, R3").add("VIADD R3, R12, 0x8");
  code.add("IMAD.IADD R3, R3, 0x1, R12").add("PLOP3.LUT P6, PT, PT, PT, UP1, 0x80, 0x0");
}

}  // namespace

void add_mask(Code& code, const FlashAttention3Plan& plan, Mask mask) {
  if (mask == Mask::kNone) return;
  const uint32_t score = Registers::score(plan);
  if (mask == Mask::kCausal) add_diagonal(code);
  for (uint32_t i = 0; i < plan.scores(); ++i) {
    const std::string value = general(score + i);
    // The end of the keys is the same for both rows, the diagonal is not.
    if (mask == Mask::kCausal || row_of_score(i) == 0) {
      code.add(line({"ISETP.GT.AND ", i % 2 == 0 ? "P1" : "P2", ", PT, R3, ", immediate(8 * (i / 4) + i % 2), ", PT"}));
    }
    code.add(line({"FSEL ", value, ", ", value, ", -INF , ", i % 2 == 0 ? "P1" : "P2"}));
  }
}

void add_maxima(Code& code, const FlashAttention3Plan& plan, bool first, Mask mask) {
  add_maximum(code, plan, first);
  add_scales(code, first, mask);
}

namespace {

// wgmma arranges 8-bit values differently in its results and in its A operand, so halves of two registers must be exchanged (V's
// rows are permuted to match). The code follows the library's structure (hopper/utils.h, permute_regs_A_to_C). assumed, since it
// was not counted: two permutations for every two registers.
void add_reordering(Code& code, const FlashAttention3Plan& plan) {
  const uint32_t free = Registers::score(plan);  // the scores have been packed, so their registers are free
  for (uint32_t i = 0; i < plan.probabilities(); i += 2) {
    const std::string upper = general(free + i);
    const std::string lower = general(free + i + 1);
    code.add(line({"PRMT ", general(Registers::probability(plan) + i), ", ", upper, ", 0x5410, ", lower}));
    code.add(line({"PRMT ", general(Registers::probability(plan) + i + 1), ", ", upper, ", 0x7632, ", lower}));
  }
}

}  // namespace

void add_probability_pair(Code& code, const FlashAttention3Plan& plan, uint32_t pair) {
  const uint32_t score = Registers::score(plan) + 2 * pair;
  if (plan.eight_bit()) {
    // Packed values take the registers of scores that are already packed.
    const std::string packed = general(Registers::score(plan) + pair / 2);
    return static_cast<void>(code.add(line({"F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C ", packed, ", ", general(score + 1), ", ",
                                            general(score), ", ", pair % 2 == 0 ? "RZ" : packed})));
  }
  const std::string_view format = plan.type == configs::BF16 ? "F2FP.BF16.F32.PACK_AB " : "F2FP.F16.F32.PACK_AB ";
  code.add(line({format, general(Registers::probability(plan) + pair), ", ", general(score + 1), ", ", general(score)}));
}

void add_probabilities(Code& code, const FlashAttention3Plan& plan) {
  add_dropout_to_scores(code, plan);
  for (uint32_t pair = 0; !plan.packs_among_exponentials() && pair < plan.scores() / 2; ++pair)
    add_probability_pair(code, plan, pair);
  add_dropout(code, plan);
  if (plan.eight_bit()) add_reordering(code, plan);
}

void add_rescale(Code& code, const FlashAttention3Plan& plan) { add_rescale(code, 0, plan.outputs()); }

void add_rescale(Code& code, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; ++i) code.add(rescale(i));
}

std::string rescale(uint32_t output) {
  const std::string value = general(Registers::kOutput + output);
  return line({"FMUL.FTZ ", value, ", ", value, ", ", general(Registers::kRescale + row_of_score(output))});
}

}  // namespace warpfold::workloads
