// Dropout in FlashAttention-3, which the library itself has not: the instructions that it costs a block of 64 x 128 scores were
// counted where it was added to the library's kernel (head_dim 128, fp16, sm_90a, CUDA 13.0), with the bits loaded or drawn in
// place. 128 keys are 64 scores a thread: four Philox calls, 16 scores each, 8 bits a score. Both work on packed halves of P.
//
// With 32 bits a score a call serves four. Fused, that was not counted. What a call takes is that of the compiled kernel whose
// place it takes (workloads/philox/sass/philox_sm90_r*_u32.sass, an eighth of a pass): two multiplications and two exclusive ors a
// round with the round's keys in uniform registers, two counter words, a uniform one and its copy, a comparison a score. In place
// of the selection of a bit each score gets an FSEL before it is packed (assumed: the least that can be done with a predicate).
#include <algorithm>
#include <array>
#include <stdexcept>

#include "workloads/flash_attention_3/roles.h"

namespace warpfold::workloads {
namespace {

using Registers = AttentionRegisters;

constexpr uint32_t kCountedCalls = 4;  // of 16 scores each
constexpr uint32_t kCountedScores = 16;

// Instructions beyond those of the same kernel without dropout, for four calls.
struct Counts {
  uint32_t rounds;
  uint32_t wide, logic, compares, permutes, adds, uniform_adds, uniform_moves;
};
constexpr std::array<Counts, 4> kFused = {{
    {3, 11, 54, 26, 27, 11, 3, 6},
    {5, 27, 72, 32, 33, 27, 7, 22},
    {7, 43, 88, 32, 33, 43, 11, 38},
    {10, 67, 112, 32, 33, 67, 17, 62},
}};

// The n-th call's part of what four calls take, so that the parts add up.
uint32_t part(uint32_t count, uint32_t call) {
  const uint32_t turn = call % kCountedCalls;
  return (turn + 1) * count / kCountedCalls - turn * count / kCountedCalls;
}

const Counts& counts_of(uint32_t rounds) {
  for (const Counts& counts : kFused) {
    if (counts.rounds == rounds) return counts;
  }
  throw std::logic_error("Philox rounds that were not counted");
}

constexpr uint32_t kApplied = kCountedScores / 2;  // LOP3 of a counted call that apply the mask, two scores each

std::string random_word(const FlashAttention3Plan& plan, uint32_t index) { return general(Registers::dropout(plan) + index % 4); }

// The rounds of one call: two wide multiplications and two three-input exclusive ors each, and the key schedule.
void add_rounds_with_keys(Code& code, const FlashAttention3Plan& plan, uint32_t call) {
  const Counts& counts = counts_of(plan.philox_rounds);
  const uint32_t base = Registers::dropout(plan);
  const auto product = [base](uint32_t i) { return general(base + 4 + 2 * (i % 2)); };
  const auto high = [base](uint32_t i) { return general(base + 5 + 2 * (i % 2)); };
  const auto key = [base](uint32_t i) { return general(base + 8 + i % 2); };
  const uint32_t logic = part(counts.logic, call);
  const uint32_t mixed = logic > kApplied ? logic - kApplied : 0;
  const uint32_t wide = part(counts.wide, call);
  for (uint32_t i = 0; i < part(counts.uniform_moves, call); ++i) code.add(line({"UMOV ", uniform(53 + i % 4), ", 0x9e3779b9"}));
  for (uint32_t i = 0; i < part(counts.uniform_adds, call); ++i) {
    code.add(line({"UIADD3 ", uniform(57 + i % 2), ", UR36, 0x3c6ef372, URZ"}));
  }
  for (uint32_t i = 0; i < std::max(wide, mixed); ++i) {
    if (i < part(counts.adds, call)) code.add(line({"VIADD ", key(i), ", R2, 0x3c6ef372"}));
    if (i < wide) code.add(line({"IMAD.WIDE.U32 ", product(i), ", ", random_word(plan, i), ", -0x326172a9, RZ"}));
    if (i < mixed) {
      code.add(line(
          {"LOP3.LUT ", random_word(plan, i + 2), ", ", high(i), ", ", key(i), ", ", random_word(plan, i + 1), ", 0x96, !PT"}));
    }
  }
}

void add_rounds_with_kept_keys(Code& code, const FlashAttention3Plan& plan, uint32_t call) {
  const uint32_t base = Registers::dropout(plan);
  const auto product = [base](uint32_t i) { return general(base + 4 + 2 * (i % 2)); };
  const auto high = [base](uint32_t i) { return general(base + 5 + 2 * (i % 2)); };
  const auto counter = [base](uint32_t i) { return general(base + 8 + i); };
  const std::string shared_counter = uniform(53 + call % 4);
  code.add(line({"UIADD3 ", shared_counter, ", UR36, 0x1, URZ"}));
  code.add(line({"VIADD ", counter(0), ", R2, 0x7"})).add(line({"VIADD ", counter(1), ", R2, 0x5"}));
  code.add(line({"IMAD.U32 ", counter(2), ", RZ, RZ, ", shared_counter}));
  for (uint32_t i = 0; i < 2 * plan.philox_rounds; ++i) {
    const bool first_round = i < 2;
    const std::string factor = first_round ? counter(i) : random_word(plan, i);
    const std::string mixed = first_round ? counter(2) : random_word(plan, i + 1);
    code.add(line({"IMAD.WIDE.U32 ", product(i), ", ", factor, ", -0x326172a9, RZ"}));
    code.add(line({"LOP3.LUT ", random_word(plan, i + 2), ", ", high(i), ", ", uniform(57 + i % 2), ", ", mixed, ", 0x96, !PT"}));
  }
}

// Bytes to halves, compared and applied to packed probabilities.
void add_byte_thresholds(Code& code, const FlashAttention3Plan& plan, uint32_t call) {
  const Counts& counts = counts_of(plan.philox_rounds);
  const uint32_t first = Registers::probability(plan) + call * kApplied;
  for (uint32_t i = 0; i < kApplied; ++i) {
    const std::string work = general(Registers::dropout(plan) + 10 + i % 2);
    if (i < part(counts.permutes, call)) code.add(line({"PRMT ", work, ", ", random_word(plan, i / 2), ", 0x4140, RZ"}));
    if (i < part(counts.compares, call)) code.add(line({"HSET2.LE.AND ", work, ", ", work, ", R1, PT"}));
    const std::string packed = general(first + i);
    code.add(line({"LOP3.LUT ", packed, ", ", packed, ", ", work, ", RZ, 0xc0, !PT"}));
  }
}

// Each word for a score of its own.
void add_word_thresholds(Code& code, const FlashAttention3Plan& plan, uint32_t call) {
  for (uint32_t i = 0; i < plan.scores_of_call(); ++i) {
    const std::string score = general(Registers::score(plan) + call * plan.scores_of_call() + i);
    const std::string keeps = line({"P", immediate(1 + i)});
    code.add(line({"ISETP.LE.U32.AND ", keeps, ", PT, ", random_word(plan, i), ", R1, PT"}));
    code.add(line({"FSEL ", score, ", ", score, ", RZ, ", keeps}));
  }
}

// A sign bit, spread over a half, is the mask of a score; of 8-bit elements, which were not counted, over a byte (assumed: PRMT
// spreads four signs as it spreads two).
void add_stored_bits(Code& code, const FlashAttention3Plan& plan) {
  const uint32_t bits = Registers::dropout(plan);
  const uint32_t packed = plan.probabilities();
  for (uint32_t i = 0; i < packed; ++i) {
    const std::string word = general(bits + i % 2);
    const std::string shifted = general(bits + 2);
    const std::string mask = general(bits + 3);
    const std::string value = general(Registers::probability(plan) + i);
    const bool by_multiplication = part(14, i / 8) > i % 8;
    if (by_multiplication) code.add(line({"IMAD.SHL.U32 ", shifted, ", ", word, ", 0x2, RZ"}));
    code.add(line({"PRMT ", mask, ", ", by_multiplication ? shifted : word, ", 0xba98, ", word}));
    code.add(line({"LOP3.LUT ", value, ", ", value, ", ", mask, ", RZ, 0xc0, !PT"}));
  }
}

}  // namespace

// 64 bits a thread for 128 keys. Counted: 35 instructions for the address besides, and the load.
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
    add_rounds_with_kept_keys(code, plan, call);
    add_word_thresholds(code, plan, call);
  }
}

void add_dropout(Code& code, const FlashAttention3Plan& plan) {
  if (plan.dropout == configs::STORED_BITS) add_stored_bits(code, plan);
  if (plan.dropout != configs::FUSED_PHILOX || plan.threshold_bits != 8) return;
  for (uint32_t call = 0; call < plan.scores() / plan.scores_of_call(); ++call) {
    add_rounds_with_keys(code, plan, call);
    add_byte_thresholds(code, plan, call);
  }
}

}  // namespace warpfold::workloads
