// The arithmetic between the products of the backward pass, in the order of the compiled kernels. All exponents and some
// exponentials precede the wait for dP. Each of the remaining exponentials is followed by a difference; products and packing come
// last. Exponentials are as far apart as the XU needs.
#include "workloads/flash_attention_3/backward_scores.h"

#include <algorithm>
#include <array>
#include <utility>

#include "workloads/common/list_schedule.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention3BackwardPlan;

constexpr uint32_t kScoresOfPair = 4;
constexpr uint32_t kScoresOfStore = 8;  // one STSM of four registers

// Exponentials before the wait for dP: counted (CUDA 12.4; 13.0 has 11 and 16, or 19 and 4 in causal kernels of head_dim 64).
uint32_t exponentials_beside(const Plan& plan, Mask mask) {
  if (plan.head_dim() == 64) return mask == Mask::kCausal ? 27 : 11;
  if (!plan.causal()) return 8;
  return mask == Mask::kCausal ? 18 : 17;
}

}  // namespace

void add_pack(Code& code, const Plan& plan, uint32_t first, uint32_t index) {
  const std::string_view format = plan.type == configs::BF16 ? "F2FP.BF16.F32.PACK_AB " : "F2FP.F16.F32.PACK_AB ";
  code.add(line({format, general(first + index / 2), ", ", general(first + index + 1), ", ", general(first + index)}));
}

// Counted: two moves to uniform registers per step of S and of dP, and as many moves out of them beside those of S. They occur at
// head_dim 128, except in blocks that the diagonal cuts.
void BackwardScores::add_descriptors(bool saves) {
  const uint32_t steps = plan_.head_dim() == 128 && mask_ == Mask::kKeys ? plan_.head_dim() / Plan::kStepElements : 0;
  for (uint32_t i = 0; i < 2 * steps; ++i) {
    if (saves) code_->add(line({"MOV ", general(16 + i % 2), ", ", uniform(4 + i % 2)}));
    code_->add(line({"R2UR ", uniform(4 + 4 * (i / 2 % 7) + i % 2), ", ", general(18 + i % 2)}));
  }
}

// Register with the number of a score's query, of the pair's two.
std::string BackwardScores::row(uint32_t pair, uint32_t score) const {
  return general(BackwardRegisters::kRowPairs + 2 * (pair % BackwardRegisters::kHeldPairs) + score % 2);
}

// Reads pairs into the free registers, after `used` pairs are no longer needed.
void BackwardScores::add_rows(uint32_t used) {
  const uint32_t end = std::min(pairs(), used + BackwardRegisters::kHeldPairs);
  for (; read_ < end; ++read_) code_->add(line({"LDS.64 ", row(read_, 0), ", [R20+", immediate(32ULL * read_), "]"}));
}

void BackwardScores::add_first_rows() {
  code_->add("IMAD.U32 R20, RZ, RZ, UR38").add("IMAD.SHL.U32 R20, R20, 0x2, RZ");
  const uint32_t end = std::min(plan_.row_pairs(), BackwardRegisters::kHeldPairs);
  for (; read_ < end; ++read_) code_->add(line({"LDS.64 ", row(read_, 0), ", [R20+", immediate(32ULL * read_), "]"}));
}

// Adds the mask of a score. The end of the keys is the same for all queries, the diagonal is not. Counted for the diagonal: a
// minimum of two per query, a comparison per score, and at head_dim 64 a copy for every two scores.
void BackwardScores::add_mask(uint32_t score) {
  const std::string value = general(at_.scores() + score);
  std::string_view masked = score % kScoresOfPair < 2 ? "P1" : "P2";
  if (mask_ == Mask::kCausal) {
    constexpr std::array<std::string_view, kScoresOfPair> kPredicates = {"P1", "P2", "P5", "P6"};
    masked = kPredicates.at(score % kScoresOfPair);
    const std::string last = general(BackwardRegisters::kLastKeys + score / kScoresOfPair * 2 % 4 + score % 2);
    if (score % kScoresOfPair < 2) code_->add(line({"VIMNMX ", last, ", R22, ", immediate(score), ", PT"}));
    if (plan_.head_dim() == 64 && score % 2 == 0) code_->add("IMAD.MOV.U32 R4, RZ, RZ, R23");
    code_->add(line({"ISETP.GE.AND ", masked, ", PT, R21, ", last, ", PT"}));
  }
  code_->add(line({"FSEL ", value, ", ", value, ", -INF , !", masked}));
}

void BackwardScores::add_exponential() {
  const std::string value = general(at_.scores() + made_++);
  code_->add(line({"MUFU.EX2 ", value, ", ", value}));
}

// Counted per store: an addition, a swizzle of three instructions, and a carry.
void BackwardScores::add_store_address(uint32_t store) {
  const std::string to = general(BackwardRegisters::kStores + store % 8);
  code_->add(line({"IADD3 ", to, ", P4, R14, ", immediate(2048ULL * store), ", RZ"}));
  code_->add(line({"LOP3.LUT R15, ", to, ", 0x380, RZ, 0xc0, !PT"})).add("SHF.R.U64 R15, R15, 0x3, RZ");
  code_->add(line({"LOP3.LUT ", to, ", R15, ", to, ", RZ, 0x3c, !PT"})).add("IMAD.X R4, RZ, RZ, R0, P4");
}

// Adds mask, exponents and first exponentials in the order of our list scheduler.
void BackwardScores::add_beside_gradients() {
  Code region(code_->architecture());
  Code& outer = *std::exchange(code_, &region);
  if (mask_ == Mask::kKeys) code_->add("ISETP.GE.AND P1, PT, R22, R23, PT").add("ISETP.GE.AND P2, PT, R21, R23, PT");
  const uint32_t beside = exponentials_beside(plan_, mask_);
  for (uint32_t score = 0; score < plan_.scores(); ++score) {
    const uint32_t pair = score / kScoresOfPair;
    const std::string value = general(at_.scores() + score);
    add_mask(score);
    code_->add(line({"FFMA.FTZ ", value, ", ", value, ", UR36, -", row(pair, score)}));
    if ((score + 1) % kScoresOfPair == 0) add_rows(pair + 1);
    if (score % kScoresOfStore == 0) add_store_address(score / kScoresOfStore);
    while (made_ < (score + 1) * beside / plan_.scores()) add_exponential();
  }
  outer.add(list_schedule(region.architecture(), region.instructions()));
  code_ = &outer;
}

// Subtracts the query's dot(O, dO) from dP.
void BackwardScores::add_difference(uint32_t score) {
  const uint32_t pair = plan_.row_pairs() + score / kScoresOfPair;
  const std::string value = general(at_.gradients() + score);
  code_->add(line({"FADD.FTZ ", value, ", ", value, ", -", row(pair, score)}));
  if ((score + 1) % kScoresOfPair == 0) add_rows(pair + 1);
}

void BackwardScores::add_store(uint32_t store) {
  for (uint32_t i = 0; i < kScoresOfStore; i += 2) add_pack(*code_, plan_, at_.gradients(), kScoresOfStore * store + i);
  code_->add(line({"STSM.16.MT88.4 [", general(BackwardRegisters::kStores + store % 8), "], ",
                   general(at_.gradients() + kScoresOfStore / 2 * store)}));
}

void BackwardScores::add_product(uint32_t score) {
  const std::string value = general(at_.gradients() + score);
  code_->add(line({"FMUL.FTZ ", value, ", ", general(at_.scores() + score), ", ", value}));
}

// Compiled kernels with few remaining exponentials (blocks on the diagonal) or many scores place products and stores of dS among
// the exponentials, a store as soon as eight products are done. In other kernels the products follow all exponentials. P is packed
// after dS is complete, among its last stores.
void BackwardScores::add_gradients() {
  constexpr uint32_t kBehindDifference = 2;
  const bool among = plan_.head_dim() == 64 || mask_ == Mask::kCausal;
  const uint32_t scores = plan_.scores();
  const uint32_t before = made_;
  uint32_t differences = 0;
  uint32_t products = 0;
  uint32_t stores = 0;
  while (made_ < scores) {
    add_exponential();
    while (differences < scores * (made_ - before) / (scores - before)) add_difference(differences++);
    while (among && products + kBehindDifference < differences) add_product(products++);
    while ((stores + 1) * kScoresOfStore <= products) add_store(stores++);
  }
  while (products < scores) add_product(products++);
  while (stores < scores / kScoresOfStore / 2) add_store(stores++);
  for (uint32_t score = 0; score < scores; score += 2) add_pack(*code_, plan_, at_.scores(), score);
  while (stores < scores / kScoresOfStore) add_store(stores++);
}

}  // namespace warpfold::workloads
