#include "workloads/flash_attention_3/rows.h"

#include "workloads/flash_attention_3/roles.h"

namespace warpfold::workloads {
namespace {

using Registers = AttentionRegisters;

std::string of(uint32_t first, uint32_t row) { return general(first + row); }

}  // namespace

uint32_t row_of_score(uint32_t score) { return score / 2 % Registers::kRows; }

std::vector<uint32_t> row_chains(uint32_t scores, uint32_t alone) {
  const auto of_row = [](uint32_t row, uint32_t n) { return 4 * (n / 2) + 2 * row + n % 2; };
  std::vector<uint32_t> order;
  for (uint32_t n = 0; n < scores / Registers::kRows + alone; ++n) {
    if (n < scores / Registers::kRows) order.push_back(of_row(0, n));
    if (n >= alone) order.push_back(of_row(1, n - alone));
  }
  return order;
}

namespace rows {

std::string keep_old(uint32_t row) {
  return line({"IMAD.MOV.U32 ", of(Registers::kWork, row), ", RZ, RZ, ", of(Registers::kMaximum, row)});
}

std::string larger(const FlashAttention3Plan& plan, uint32_t score, std::string_view other) {
  const std::string maximum = of(Registers::kMaximum, row_of_score(score));
  return line({"FMNMX.FTZ ", maximum, ", ", general(Registers::score(plan) + score), ", ", other, ", !PT"});
}

std::string exchange(uint32_t row, std::string_view distance) {
  return line({"SHFL.BFLY PT, ", of(Registers::kWork2, row), ", ", of(Registers::kMaximum, row), ", ", distance, ", 0x1f"});
}

std::string larger_of_exchanged(uint32_t row) {
  const std::string maximum = of(Registers::kMaximum, row);
  return line({"FMNMX.FTZ ", maximum, ", ", maximum, ", ", of(Registers::kWork2, row), ", !PT"});
}

std::string shift(uint32_t row) {
  return line({"FMUL.FTZ ", of(Registers::kShift, row), ", ", of(Registers::kMaximum, row), ", ", uniform(kSoftmaxScale)});
}

std::string growth(uint32_t row) {
  const std::string old = of(Registers::kWork, row);
  return line({"FADD.FTZ ", old, ", ", old, ", -", of(Registers::kMaximum, row)});
}

std::string scaled_growth(uint32_t row) {
  const std::string old = of(Registers::kWork, row);
  return line({"FMUL.FTZ ", old, ", ", old, ", ", uniform(kSoftmaxScale)});
}

std::string shrinking(uint32_t row) { return line({"MUFU.EX2 ", of(Registers::kRescale, row), ", ", of(Registers::kWork, row)}); }

std::string scale(const FlashAttention3Plan& plan, uint32_t score) {
  const std::string value = general(Registers::score(plan) + score);
  const std::string shift = of(Registers::kShift, row_of_score(score));
  return line({"FFMA.FTZ ", value, ", ", value, ", ", uniform(kSoftmaxScale), ", -", shift});
}

}  // namespace rows
}  // namespace warpfold::workloads
