#pragma once

#include <cstdint>

#include "workloads/flash_attention_3/backward.h"
#include "workloads/flash_attention_3/roles.h"

namespace warpfold::workloads {

// Registers of a consumer: addresses and counters, numbers of rows, the four accumulators. P and dS are packed where their floats
// were; dQ is made where P was.
class BackwardRegisters {
 public:
  explicit BackwardRegisters(const FlashAttention3BackwardPlan& plan) : plan_(plan) {}

  static constexpr uint32_t kStores = 6;     // + 0 to 7: where dS goes in shared memory, in turn
  static constexpr uint32_t kLastKeys = 16;  // + 0 to 3: the last key that a query sees, in turn
  static constexpr uint32_t kRowPairs = 24;
  static constexpr uint32_t kHeldPairs = 12;  // what 240 registers leave

  uint32_t value_gradient() const { return kRowPairs + 2 * kHeldPairs; }
  uint32_t key_gradient() const { return value_gradient() + plan_.key_gradients(); }
  uint32_t scores() const { return key_gradient() + plan_.key_gradients(); }  // then P
  uint32_t gradients() const { return scores() + plan_.scores(); }            // dP, then dS
  uint32_t query_gradient() const { return scores(); }

 private:
  const FlashAttention3BackwardPlan& plan_;
};

// Floats `index` and `index` + 1 behind `first`, packed into a register that is free by then: the one of half that index.
void add_pack(Code& code, const FlashAttention3BackwardPlan& plan, uint32_t first, uint32_t index);

// What a consumer does with a block of scores between the products. Scores come in fours: two keys by the same two queries, whose
// log-sum-exp are read as a pair, and later their dot(O, dO). Pairs are read as early as their registers are free.
class BackwardScores {
 public:
  BackwardScores(Code& code, const FlashAttention3BackwardPlan& plan, Mask mask)
      : code_(&code), plan_(plan), at_(plan), mask_(mask) {}

  // What the compiled kernel moves before S and dP, where uniform registers are short; `saves`: also out of them.
  void add_descriptors(bool saves);
  void add_first_rows();        // log-sum-exp, beside S
  void add_beside_gradients();  // mask, exponents, the first exponentials: S is there, dP is not
  void add_gradients();         // the rest of P, and dS

 private:
  uint32_t pairs() const { return 2 * plan_.row_pairs(); }
  std::string row(uint32_t pair, uint32_t score) const;
  void add_rows(uint32_t used);
  void add_mask(uint32_t score);
  void add_exponential();
  void add_difference(uint32_t score);
  void add_product(uint32_t score);
  void add_store_address(uint32_t store);
  void add_store(uint32_t store);

  Code* code_;
  const FlashAttention3BackwardPlan& plan_;
  BackwardRegisters at_;
  Mask mask_;
  uint32_t read_ = 0;  // pairs
  uint32_t made_ = 0;  // exponentials
};

}  // namespace warpfold::workloads
