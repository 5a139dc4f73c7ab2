// Dropout in FlashAttention-3; the library itself has none. Its cost for a block of 64 x 128 scores was counted after adding it to
// the library's kernel (head_dim 128, fp16, sm_90a, CUDA 13.0), with bits loaded or generated in place. 128 keys are 64 scores per
// thread: four Philox calls of 16 scores each, with 8 bits per score. Both variants work on packed halves of P.
//
// With 32 bits per score a call serves four scores. The fused variant of this was not counted. Its instructions per call are those
// of the compiled Philox kernel that it replaces (workloads/philox/sass/philox_sm90_r*_u32.sass, an eighth of a pass). Each round
// takes two multiplications and two exclusive ors, with the round's keys in uniform registers. A call also takes two counter words,
// a uniform counter and its copy, and a comparison per score. Instead of selecting a bit, each score takes an FSEL before it is
// packed (assumed: the least that a predicate needs).
#include "workloads/common/fused_dropout.h"
#include "workloads/flash_attention_3/roles.h"

namespace warpfold::workloads {
namespace {

using Registers = AttentionRegisters;

FusedDropout fused(const FlashAttention3Plan& plan) { return {.rounds = plan.philox_rounds, .base = Registers::dropout(plan)}; }

// Compares one word with each score's threshold.
void add_word_thresholds(Code& code, const FlashAttention3Plan& plan, uint32_t call) {
  for (uint32_t i = 0; i < plan.scores_of_call(); ++i) {
    const std::string score = general(Registers::score(plan) + call * plan.scores_of_call() + i);
    const std::string keeps = line({"P", immediate(1 + i)});
    code.add(line({"ISETP.LE.U32.AND ", keeps, ", PT, ", fused(plan).word(i), ", R1, PT"}));
    code.add(line({"FSEL ", score, ", ", score, ", RZ, ", keeps}));
  }
}

// The mask of a score is a sign bit spread over a half-word. For 8-bit elements, which were not counted, it is spread over a byte
// (assumed: PRMT spreads four signs as it spreads two).
void add_stored_bits(Code& code, const FlashAttention3Plan& plan) {
  const uint32_t bits = Registers::dropout(plan);
  const uint32_t packed = plan.probabilities();
  for (uint32_t i = 0; i < packed; ++i) {
    const std::string word = general(bits + i % 2);
    const std::string shifted = general(bits + 2);
    const std::string mask = general(bits + 3);
    const std::string value = general(Registers::probability(plan) + i);
    const bool by_multiplication = part_of_calls(14, i / 8) > i % 8;
    if (by_multiplication) code.add(line({"IMAD.SHL.U32 ", shifted, ", ", word, ", 0x2, RZ"}));
    code.add(line({"PRMT ", mask, ", ", by_multiplication ? shifted : word, ", 0xba98, ", word}));
    code.add(line({"LOP3.LUT ", value, ", ", value, ", ", mask, ", RZ, 0xc0, !PT"}));
  }
}

}  // namespace

// Loads 64 bits per thread for 128 keys. Counted: the load, and 35 instructions for its address.
void add_mask_load(Code& code, const FlashAttention3Plan& plan) {
  if (plan.dropout != configs::STORED_BITS) return;
  const std::string address = general(Registers::kWork);
  for (uint32_t i = 0; i < 3; ++i) code.add(line({"USHF.R.S32.HI ", uniform(53 + i), ", URZ, 0x1f, UR40"}));
  code.add("ULEA.HI UR53, UR53, UR40, 0x3").add("UIMAD UR54, UR53, UR54, UR55").add("UIMAD UR55, UR54, UR53, URZ");
  code.add("UIADD3 UR56, UR55, 0x40, URZ").add("LDC R3, c[0x0][0x530]");
  code.add("IMAD.U32 R13, RZ, RZ, UR55").add("IMAD.U32 R14, RZ, RZ, UR56");
  for (uint32_t i = 0; i < 3; ++i) code.add("SHF.R.S32.HI R14, RZ, 0x1f, R14");
  code.add("LEA.HI R14, R14, R13, 0x3").add("LEA R13, R14, R13, 0x3").add("VIADD R13, R13, 0x8");
  code.add(line({"IMAD.WIDE ", address, ", R13, 0x8, R14"})).add(line({"LEA ", address, ", R3, ", address, ", 0x3"}));
  code.add("LEA.HI.X R13, R3, R13, R14, 0x3").add("LEA.HI.X R13, R14, R13, R3, 0x3");
  code.add(line({plan.scores() > 32 ? "LDG.E.64.CONSTANT " : "LDG.E.CONSTANT ", general(Registers::dropout(plan)), ", desc[UR42][",
                 address, ".64]"}),
           {.bytes = plan.scores() * 32 / 8, .stream = AttentionStreams::mask(plan)});
}

void add_dropout_to_scores(Code& code, const FlashAttention3Plan& plan) {
  if (plan.dropout != configs::FUSED_PHILOX || plan.threshold_bits != 32) return;
  for (uint32_t call = 0; call < plan.scores() / plan.scores_of_call(); ++call) {
    add_rounds_with_kept_keys(code, fused(plan), call);
    add_word_thresholds(code, plan, call);
  }
}

void add_dropout(Code& code, const FlashAttention3Plan& plan) {
  if (plan.dropout == configs::STORED_BITS) add_stored_bits(code, plan);
  if (plan.dropout != configs::FUSED_PHILOX || plan.threshold_bits != 8) return;
  for (uint32_t call = 0; call < plan.scores() / plan.scores_of_call(); ++call) {
    add_rounds_with_keys(code, fused(plan), call);
    add_byte_thresholds(code, fused(plan), call, Registers::probability(plan) + call * FusedDropout::kScoresOfCall / 2);
  }
}

}  // namespace warpfold::workloads
