#include "workloads/common/fused_dropout.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace warpfold::workloads {
namespace {

constexpr uint32_t kCountedCalls = 4;  // calls of 16 scores each
constexpr uint32_t kCountedScores = 16;
constexpr uint32_t kApplied = kCountedScores / 2;  // LOP3 of a counted call that apply the mask to two scores each

// Additional instructions of four calls, compared with the same kernel without dropout.
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

const Counts& counts_of(uint32_t rounds) {
  for (const Counts& counts : kFused) {
    if (counts.rounds == rounds) return counts;
  }
  throw std::logic_error("Philox rounds that were not counted");
}

}  // namespace

uint32_t part_of_calls(uint32_t count, uint32_t call) {
  const uint32_t turn = call % kCountedCalls;
  return (turn + 1) * count / kCountedCalls - turn * count / kCountedCalls;
}

// Each round: two wide multiplications, two three-input exclusive ors, and the key schedule.
void add_rounds_with_keys(Code& code, const FusedDropout& dropout, uint32_t call) {
  const Counts& counts = counts_of(dropout.rounds);
  const uint32_t base = dropout.base;
  const auto product = [base](uint32_t i) { return general(base + 4 + 2 * (i % 2)); };
  const auto high = [base](uint32_t i) { return general(base + 5 + 2 * (i % 2)); };
  const auto key = [base](uint32_t i) { return general(base + 8 + i % 2); };
  const uint32_t logic = part_of_calls(counts.logic, call);
  const uint32_t mixed = logic > kApplied ? logic - kApplied : 0;
  const uint32_t wide = part_of_calls(counts.wide, call);
  for (uint32_t i = 0; i < part_of_calls(counts.uniform_moves, call); ++i)
    code.add(line({"UMOV ", uniform(53 + i % 4), ", 0x9e3779b9"}));
  for (uint32_t i = 0; i < part_of_calls(counts.uniform_adds, call); ++i) {
    code.add(line({"UIADD3 ", uniform(57 + i % 2), ", UR36, 0x3c6ef372, URZ"}));
  }
  for (uint32_t i = 0; i < std::max(wide, mixed); ++i) {
    if (i < part_of_calls(counts.adds, call)) code.add(line({"VIADD ", key(i), ", ", dropout.counter, ", 0x3c6ef372"}));
    if (i < wide) code.add(line({"IMAD.WIDE.U32 ", product(i), ", ", dropout.word(i), ", -0x326172a9, RZ"}));
    if (i < mixed) {
      code.add(line({"LOP3.LUT ", dropout.word(i + 2), ", ", high(i), ", ", key(i), ", ", dropout.word(i + 1), ", 0x96, !PT"}));
    }
  }
}

void add_rounds_with_kept_keys(Code& code, const FusedDropout& dropout, uint32_t call) {
  const uint32_t base = dropout.base;
  const auto product = [base](uint32_t i) { return general(base + 4 + 2 * (i % 2)); };
  const auto high = [base](uint32_t i) { return general(base + 5 + 2 * (i % 2)); };
  const auto counter = [base](uint32_t i) { return general(base + 8 + i); };
  const std::string shared_counter = uniform(53 + call % 4);
  code.add(line({"UIADD3 ", shared_counter, ", UR36, 0x1, URZ"}));
  code.add(line({"VIADD ", counter(0), ", ", dropout.counter, ", 0x7"}));
  code.add(line({"VIADD ", counter(1), ", ", dropout.counter, ", 0x5"}));
  code.add(line({"IMAD.U32 ", counter(2), ", RZ, RZ, ", shared_counter}));
  for (uint32_t i = 0; i < 2 * dropout.rounds; ++i) {
    const bool first_round = i < 2;
    const std::string factor = first_round ? counter(i) : dropout.word(i);
    const std::string mixed = first_round ? counter(2) : dropout.word(i + 1);
    code.add(line({"IMAD.WIDE.U32 ", product(i), ", ", factor, ", -0x326172a9, RZ"}));
    code.add(line({"LOP3.LUT ", dropout.word(i + 2), ", ", high(i), ", ", uniform(57 + i % 2), ", ", mixed, ", 0x96, !PT"}));
  }
}

void add_byte_thresholds(Code& code, const FusedDropout& dropout, uint32_t call, uint32_t first) {
  const Counts& counts = counts_of(dropout.rounds);
  for (uint32_t i = 0; i < kApplied; ++i) {
    const std::string work = general(dropout.base + 10 + i % 2);
    if (i < part_of_calls(counts.permutes, call)) code.add(line({"PRMT ", work, ", ", dropout.word(i / 2), ", 0x4140, RZ"}));
    if (i < part_of_calls(counts.compares, call))
      code.add(line({"HSET2.LE.AND ", work, ", ", work, ", ", dropout.threshold, ", PT"}));
    const std::string packed = general(first + i);
    code.add(line({"LOP3.LUT ", packed, ", ", packed, ", ", work, ", RZ, 0xc0, !PT"}));
  }
}

}  // namespace warpfold::workloads
