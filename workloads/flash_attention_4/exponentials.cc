// From scores to probabilities. Instruction mix and order follow the same arithmetic written in CUDA and compiled for sm_100a (CUDA
// 13.0, 167 to 179 registers). The scales run ahead, four beside each exponential until all are done. A pair is packed as soon as
// both exponentials are ready. An emulated pair takes two clamps, three additions, three polynomial steps and two shifts with
// addition.
#include "workloads/common/list_schedule.h"
#include "workloads/flash_attention_4/softmax.h"

namespace warpfold::workloads::attention4 {
namespace {

using Plan = FlashAttention4Plan;

constexpr uint32_t kPairsOfFragment = Plan::kFragmentScores / 2;

// 2^x = 2^floor(x) times a polynomial of the fraction. Adding 1.5 x 2^23 with rounding towards minus infinity leaves the floor in
// the lowest bits of the sum.
void add_emulated(Code& code, uint32_t pair) {
  const std::string low = general(Registers::score(2 * pair));
  const std::string high = general(Registers::score(2 * pair + 1));
  const uint32_t first = Registers::kWork + 4 * (pair % 2);
  const std::string rounded = general(first);
  const std::string rest = general(first + 2);
  for (const std::string& score : {low, high}) code.add(line({"FMNMX.FTZ ", score, ", ", score, ", -127, !PT"}));
  code.add(line({"FADD2.RM.FTZ ", rounded, ", ", low, ", UR38"}));
  code.add(line({"FADD2.FTZ ", rest, ", ", rounded, ", -UR38"}));
  code.add(line({"FADD2.FTZ ", rest, ", ", low, ", -", rest}));
  code.add(line({"FFMA2.FTZ ", low, ", ", rest, ", UR40, UR42"}));
  code.add(line({"FFMA2.FTZ ", low, ", ", low, ", ", rest, ", UR44"}));
  code.add(line({"FFMA2.FTZ ", low, ", ", low, ", ", rest, ", UR46"}));
  code.add(line({"LEA ", low, ", ", rounded, ", ", low, ", 0x17"}));
  code.add(line({"LEA ", high, ", ", general(first + 1), ", ", high, ", 0x17"}));
}

void add_made(Code& code, uint32_t pair) {
  for (uint32_t i = 0; i < 2; ++i) {
    const std::string score = general(Registers::score(2 * pair + i));
    code.add(line({"MUFU.EX2 ", score, ", ", score}));
  }
}

// Emulated pairs are spread evenly over the second and third fragment or, if those have too few pairs, over all fragments.
bool emulated(const Plan& plan, uint32_t pair) {
  constexpr uint32_t kInner = (Plan::kFragments - 2) * kPairsOfFragment;
  const bool inner = plan.emulated_pairs <= kInner;
  const uint32_t among = inner ? kInner : Plan::kTileKeys / 2;
  const uint32_t first = inner ? kPairsOfFragment : 0;
  if (pair < first || pair >= first + among) return false;
  const uint32_t place = pair - first;
  return (place + 1) * plan.emulated_pairs / among > place * plan.emulated_pairs / among;
}

void add_fragment(Code& code, const Plan& plan, uint32_t fragment) {
  const std::string_view format = plan.type == configs::FP16 ? "F2FP.F16.F32.PACK_AB " : "F2FP.BF16.F32.PACK_AB ";
  for (uint32_t i = 0; i < kPairsOfFragment; ++i) {
    const uint32_t pair = fragment * kPairsOfFragment + i;
    if (emulated(plan, pair)) {
      add_emulated(code, pair);
    } else {
      add_made(code, pair);
    }
    const KeptPair kept = add_dropout_of_pair(code, plan, pair);
    code.add(line({format, general(Registers::probability(fragment) + i), ", ", kept.high, ", ", kept.low}));
  }
  add_dropout_of_fragment(code, plan, fragment);
  code.add(line({"STTM.x16 tmem[UR12], ", general(Registers::probability(fragment))}));
}

}  // namespace

void add_exponentials(Code& code, const Plan& plan, uint32_t begin, uint32_t end) {
  Code region(code.architecture());
  if (begin == 0) {
    for (uint32_t pair = 0; pair < Plan::kTileKeys / 2; ++pair) {
      const std::string score = general(Registers::score(2 * pair));
      region.add(line({"FFMA2.FTZ ", score, ", ", score, ", UR36, ", general(Registers::kBias)}));
    }
  }
  for (uint32_t fragment = begin; fragment < end; ++fragment) add_fragment(region, plan, fragment);
  code.add(list_schedule(code.architecture(), region.instructions()));
}

// Four chains of additions, combined at the end.
void add_row_sum(Code& code) {
  constexpr uint32_t kChains = 4;
  const auto chain = [](uint32_t i) { return general(Registers::score(2 * i)); };
  code.add(line({"FMUL.FTZ ", general(Registers::kSum), ", ", general(Registers::kSum), ", ", general(Registers::kScale)}));
  code.add(line({"FADD2.FTZ ", chain(0), ", ", general(Registers::kSum), ", ", chain(0)}));
  for (uint32_t pair = kChains; pair < Plan::kTileKeys / 2; ++pair)
    code.add(line({"FADD2.FTZ ", chain(pair % kChains), ", ", chain(pair % kChains), ", ", general(Registers::score(2 * pair))}));
  code.add(line({"FADD2.FTZ ", chain(0), ", ", chain(0), ", ", chain(1)}));
  code.add(line({"FADD2.FTZ ", chain(2), ", ", chain(2), ", ", chain(3)}));
  code.add(line({"FADD2.FTZ ", chain(0), ", ", chain(0), ", ", chain(2)}));
  code.add(line({"FADD.FTZ ", general(Registers::kSum), ", ", chain(0), ", ", general(Registers::score(1))}));
}

}  // namespace warpfold::workloads::attention4
