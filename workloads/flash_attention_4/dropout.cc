// Dropout in FlashAttention-4; the library itself has none. A thread processes one row, so a block of 128 keys takes eight Philox
// calls of 16 scores, or 32 calls of four. The instructions per call and their use follow FlashAttention-3
// (workloads/flash_attention_3/dropout.cc), where they were counted in compiled code with 8 bits and with stored bits. The sum of a
// row is taken before dropout.
//
// A call is emitted next to the use of its words, between the exponentials of a fragment and its store to tensor memory. The list
// scheduler places it beside them, so that Philox fills the issue slots that the special-function pipe leaves free.
#include "workloads/flash_attention_4/softmax.h"

namespace warpfold::workloads::attention4 {
namespace {

using Plan = FlashAttention4Plan;

constexpr uint32_t kPairsOfFragment = Plan::kFragmentScores / 2;

FusedDropout fused(const Plan& plan) {
  return {.rounds = plan.philox_rounds,
          .base = Registers::kDropout,
          .counter = general(Registers::kCounter),
          .threshold = general(Registers::kThreshold)};
}

// The mask of a score is a sign bit spread over a half-word. Of the shifts for 32 pairs, 14 are multiplications.
void add_stored_bits(Code& code, uint32_t fragment) {
  for (uint32_t i = 0; i < kPairsOfFragment; ++i) {
    const std::string word = general(Registers::kDropout + fragment);
    const std::string shifted = general(Registers::kDropout + 4 + 2 * (i % 2));
    const std::string mask = general(Registers::kDropout + 5 + 2 * (i % 2));
    const std::string value = general(Registers::probability(fragment) + i);
    const bool by_multiplication = part_of_calls(14, fragment * 2 + i / 8) > i % 8;
    if (by_multiplication) code.add(line({"IMAD.SHL.U32 ", shifted, ", ", word, ", 0x2, RZ"}));
    code.add(line({"PRMT ", mask, ", ", by_multiplication ? shifted : word, ", 0xba98, ", word}));
    code.add(line({"LOP3.LUT ", value, ", ", value, ", ", mask, ", RZ, 0xc0, !PT"}));
  }
}

}  // namespace

// Loads 128 bits per row. assumed: the bits are stored in the order of reading, 512 bytes per warp, and the address advances by a
// constant per block.
void add_mask_load(Code& code, const Plan& plan) {
  if (plan.dropout != configs::STORED_BITS) return;
  const std::string address = general(Registers::kDropout + 8);
  const std::string high = general(Registers::kDropout + 9);
  code.add(line({"IADD3 ", address, ", P1, ", address, ", 0x200, RZ"}))
      .add(line({"IADD3.X ", high, ", RZ, ", high, ", RZ, P1, !PT"}));
  code.add(line({"LDG.E.128.CONSTANT ", general(Registers::kDropout), ", desc[UR4][", address, ".64]"}),
           {.bytes = 512, .stream = Streams::kMask});
}

void add_dropout_of_fragment(Code& code, const Plan& plan, uint32_t fragment) {
  if (plan.dropout == configs::STORED_BITS) add_stored_bits(code, fragment);
  if (plan.dropout != configs::FUSED_PHILOX || plan.threshold_bits != 8) return;
  constexpr uint32_t kCalls = Plan::kFragmentScores / FusedDropout::kScoresOfCall;
  for (uint32_t i = 0; i < kCalls; ++i) {
    const uint32_t call = fragment * kCalls + i;
    add_rounds_with_keys(code, fused(plan), call);
    add_byte_thresholds(code, fused(plan), call, Registers::probability(fragment) + i * FusedDropout::kScoresOfCall / 2);
  }
}

KeptPair add_dropout_of_pair(Code& code, const Plan& plan, uint32_t pair) {
  const uint32_t first = 2 * pair;
  KeptPair kept{general(Registers::score(first)), general(Registers::score(first + 1))};
  if (plan.dropout != configs::FUSED_PHILOX || plan.threshold_bits != 32) return kept;
  const uint32_t place = first % plan.scores_of_call();  // position of the pair within its call
  if (place == 0) add_rounds_with_kept_keys(code, fused(plan), first / plan.scores_of_call());
  for (std::string* score : {&kept.low, &kept.high}) {
    const uint32_t i = place + (score == &kept.high ? 1 : 0);
    const std::string keeps = line({"P", immediate(1 + i)});
    const std::string to = general(Registers::kDropout + 4 + i);
    code.add(line({"ISETP.LE.U32.AND ", keeps, ", PT, ", fused(plan).word(i), ", ", general(Registers::kThreshold), ", PT"}));
    code.add(line({"FSEL ", to, ", ", *score, ", RZ, ", keeps}));
    *score = to;
  }
  return kept;
}

}  // namespace warpfold::workloads::attention4
