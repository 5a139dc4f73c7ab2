#include "workloads/flash_attention_3/exponentials.h"

#include <algorithm>
#include <string>

#include "workloads/flash_attention_3/roles.h"
#include "workloads/flash_attention_3/rows.h"

namespace warpfold::workloads {
namespace {

using Registers = AttentionRegisters;

// Counted: ten scales precede the second exponential; then six follow each exponential until all scales are done.
constexpr uint32_t kScalesAhead = 10;
constexpr uint32_t kScalesBehindEach = 6;
// Counted in the 8-bit kernels: six follow each exponential once all scales are done.
constexpr uint32_t kRescalesBehindEach = 6;
// Counted: two or three follow each exponential once all scales are done, until no finished pair is left.
constexpr uint32_t kPacksBehindEach = 2;
// Counted with CUDA 12.4; CUDA 13.0 has eight.
constexpr int kCyclesApart = 10;
constexpr int kLargestStall = 15;

void space_exponentials(std::vector<isa::Instruction>& code) {
  int since = kCyclesApart;  // cycles from the last exponential's issue to this instruction's
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].mnemonic == "MUFU.EX2") {
      const int missing = i == 0 ? 0 : std::max(0, kCyclesApart - since);
      if (missing > 0)
        code[i - 1].control.stall = static_cast<uint8_t>(std::min(kLargestStall, code[i - 1].control.stall + missing));
      since = 0;
    }
    since += std::max<int>(1, code[i].control.stall);
  }
}

// Both rows side by side, with only scales as steps.
ExponentialsOrder scales_first(const FlashAttention3Plan& plan) {
  ExponentialsOrder order{
      .scores = row_chains(plan.scores(), 1), .steps = {}, .ahead = kScalesAhead, .behind_each = kScalesBehindEach};
  for (const uint32_t score : order.scores)
    order.steps.push_back({.text = rows::scale(plan, score), .score = static_cast<int>(score)});
  return order;
}

}  // namespace

Exponentials::Exponentials(Code& code, const FlashAttention3Plan& plan, bool first) : Exponentials(code, plan, scales_first(plan)) {
  first_ = first;
  to_rescale_ = first || plan.overlap ? 0 : plan.outputs();
}

Exponentials::Exponentials(Code& code, const FlashAttention3Plan& plan, ExponentialsOrder order)
    : code_(code), plan_(plan), order_(std::move(order)), steps_due_(order_.ahead) {
  needs_.resize(plan.scores());
  for (uint32_t score = 0; score < plan.scores(); ++score) needs_[score] = steps_needed(score);
}

size_t Exponentials::steps_needed(uint32_t score) const {
  const auto last = std::find_if(order_.steps.rbegin(), order_.steps.rend(), [score](const ExponentialsOrder::Step& step) {
    return step.score == static_cast<int>(score) || step.row == static_cast<int>(row_of_score(score));
  });
  return static_cast<size_t>(order_.steps.rend() - last);
}

// True for the only compiled kernel that does nearly all sums after the exponentials: 8-bit, causal (head_dim 256; July 2024).
bool Exponentials::sums_behind_all() const { return plan_.eight_bit() && plan_.tiles.causal(); }

void Exponentials::add_to_sum(uint32_t score) {
  const uint32_t row = row_of_score(score);
  const bool first_of_row = score == 2 * row;
  const std::string value = general(Registers::score(plan_) + score);
  const std::string sum = general(Registers::kSum + row);
  if (!first_of_row) {
    code_.add(line({"FADD.FTZ ", sum, ", ", value, ", ", sum}));
  } else if (first_) {
    code_.add(line({"MOV ", sum, ", ", value}));
  } else {
    code_.add(line({"FFMA.FTZ ", sum, ", ", general(Registers::kRescale + row), ", ", sum, ", ", value}));
  }
}

// Packs up to `most` pairs of which both scores are among the first `finished` exponentials.
void Exponentials::add_packs(uint32_t finished, uint32_t most) {
  if (!plan_.packs_among_exponentials()) return;
  const auto end = order_.scores.begin() + finished;
  for (uint32_t added = 0; added < most && packed_ < plan_.scores() / 2; ++added, ++packed_) {
    if (std::find(order_.scores.begin(), end, 2 * packed_ + 1) == end) return;
    add_probability_pair(code_, plan_, packed_);
  }
}

void Exponentials::add_rescales(uint32_t most) {
  const uint32_t end = std::min(rescaled_ + most, to_rescale_);
  add_rescale(code_, rescaled_, end);
  rescaled_ = end;
}

void Exponentials::add_steps() {
  steps_due_ = std::max(steps_due_, needs_[order_.scores[made_]]);
  while (steps_done_ < std::min(steps_due_, order_.steps.size())) {
    const ExponentialsOrder::Step& step = order_.steps[steps_done_++];
    code_.add(step.text);
    if (step.row >= 0) steps_due_ += order_.behind_each;
  }
}

void Exponentials::add_next() {
  add_steps();
  const std::string value = general(Registers::score(plan_) + order_.scores[made_++]);
  code_.add(line({"MUFU.EX2 ", value, ", ", value}));
  steps_due_ += order_.behind_each;
  if (steps_done_ == order_.steps.size()) add_rescales(kRescalesBehindEach);
}

void Exponentials::add_beside_products(uint32_t count) {
  const uint32_t end = std::min(made_ + count, plan_.scores() - 1);
  while (made_ < end) {
    add_next();
    if (made_ > 1) add_to_sum(order_.scores[made_ - 2]);
  }
}

void Exponentials::add_rest() {
  while (made_ < plan_.scores()) {
    add_next();
    if (steps_done_ == order_.steps.size() && rescaled_ == to_rescale_) add_packs(made_ - 1, kPacksBehindEach);
    if (made_ > 1 && !sums_behind_all()) add_to_sum(order_.scores[made_ - 2]);
  }
  const uint32_t left = sums_behind_all() ? plan_.scores() : 1;
  for (auto score = order_.scores.end() - left; score != order_.scores.end(); ++score) add_to_sum(*score);
  add_rescales(to_rescale_);
  add_packs(plan_.scores(), plan_.scores());
}

void space_exponentials(std::vector<traces::Node>& body) {
  for (traces::Node& node : body) {
    if (auto* block = std::get_if<traces::Block>(&node)) {
      space_exponentials(block->code);
    } else {
      space_exponentials(std::get<traces::Loop>(node).body);
    }
  }
}

}  // namespace warpfold::workloads
