#include "workloads/flash_attention_3/staggered.h"

#include <algorithm>
#include <utility>

#include "workloads/flash_attention_3/roles.h"
#include "workloads/flash_attention_3/rows.h"

namespace warpfold::workloads {
namespace {

using Registers = AttentionRegisters;

// Counted with 88 scores and 64 outputs. With fewer scores, steps are omitted as the scores run out.
constexpr uint32_t kMaximaAlone = 16;  // maxima of the first row before maxima of the second
constexpr uint32_t kExponentialsAlone = 12;
constexpr uint32_t kStepsAhead = 4;
constexpr uint32_t kStepsBehindEach = 7;
// Number of the second row's last maxima that follow the first row's exchanges and its end.
constexpr uint32_t kFirstExchange = 1;
constexpr uint32_t kSecondExchange = 7;
constexpr uint32_t kRowEnd = 14;

class Steps {
 public:
  explicit Steps(const FlashAttention3Plan& plan) : plan_(plan), scores_(row_chains(plan.scores(), plan.scores() / 2)) {}

  std::vector<ExponentialsOrder::Step> take() { return std::move(steps_); }
  void add(std::string text) { steps_.push_back({.text = std::move(text)}); }
  void add_shrinking(uint32_t row) { steps_.push_back({.text = rows::shrinking(row), .row = static_cast<int>(row)}); }
  // Adds the row's scales up to its score `end`, in order.
  void add_scales(uint32_t row, uint32_t end) {
    const uint32_t of_row = plan_.scores() / Registers::kRows;
    for (uint32_t& done = scaled_[row]; done < std::min(end, of_row); ++done) {
      const uint32_t score = scores_[row * of_row + done];
      steps_.push_back({.text = rows::scale(plan_, score), .score = static_cast<int>(score)});
    }
  }
  void add_outputs(uint32_t row) {
    for (uint32_t output = 0; output < plan_.outputs(); ++output)
      if (row_of_score(output) == row) add(rescale(output));
  }

 private:
  const FlashAttention3Plan& plan_;
  std::vector<uint32_t> scores_;  // row after row
  uint32_t scaled_[Registers::kRows] = {};
  std::vector<ExponentialsOrder::Step> steps_;
};

}  // namespace

void add_staggered_maxima(Code& code, const FlashAttention3Plan& plan) {
  for (uint32_t row = 0; row < Registers::kRows; ++row) code.add(rows::keep_old(row));
  const std::vector<uint32_t> order = row_chains(plan.scores(), kMaximaAlone);
  const uint32_t last = std::min(kMaximaAlone, plan.scores() / Registers::kRows);
  for (size_t i = 0; i < order.size(); ++i) {
    code.add(rows::larger(plan, order[i], general(Registers::kMaximum + row_of_score(order[i]))));
    const size_t left = order.size() - i - 1;
    if (left + std::min(kFirstExchange, last) == last) code.add(rows::exchange(0, "0x2"));
    if (left + std::min(kSecondExchange, last) == last) code.add(rows::larger_of_exchanged(0)).add(rows::exchange(0, "0x1"));
    if (left + std::min(kRowEnd, last) == last) code.add(rows::larger_of_exchanged(0)).add(rows::growth(0)).add(rows::shift(0));
  }
  code.add(rows::scaled_growth(0));
}

ExponentialsOrder staggered_order(const FlashAttention3Plan& plan) {
  const uint32_t all = plan.scores();
  Steps steps(plan);
  steps.add_scales(0, 3);
  steps.add_shrinking(0);
  steps.add_scales(0, 4);
  steps.add(rows::exchange(1, "0x2"));
  steps.add_scales(0, 15);
  steps.add_outputs(0);
  steps.add(rows::larger_of_exchanged(1));
  steps.add_scales(0, 18);
  steps.add(rows::exchange(1, "0x1"));
  steps.add_scales(0, 39);
  steps.add(rows::larger_of_exchanged(1));
  steps.add_scales(0, all);
  steps.add(rows::growth(1));
  steps.add(rows::shift(1));
  steps.add(rows::scaled_growth(1));
  steps.add_scales(1, 8);
  steps.add_shrinking(1);
  steps.add_scales(1, 21);
  steps.add_outputs(1);
  steps.add_scales(1, all);
  return {.scores = row_chains(plan.scores(), kExponentialsAlone),
          .steps = steps.take(),
          .ahead = kStepsAhead,
          .behind_each = kStepsBehindEach};
}

}  // namespace warpfold::workloads
