#pragma once

#include <cstdint>

#include "workloads/flash_attention_3/backward.h"
#include "workloads/flash_attention_3/roles.h"

namespace warpfold::workloads {

// Registers of a consumer: addresses and counters, numbers of rows, and the four accumulators. P and dS are packed in place of
// their floats. dQ overwrites P.
class BackwardRegisters {
 public:
  explicit BackwardRegisters(const FlashAttention3BackwardPlan& plan) : plan_(plan) {}

  static constexpr uint32_t kStores = 6;     // + 0 to 7: addresses of dS in shared memory, in rotation
  static constexpr uint32_t kLastKeys = 16;  // + 0 to 3: last key that a query sees, in rotation
  static constexpr uint32_t kRowPairs = 24;
  static constexpr uint32_t kHeldPairs = 12;  // the most that fit in 240 registers

  uint32_t value_gradient() const { return kRowPairs + 2 * kHeldPairs; }
  uint32_t key_gradient() const { return value_gradient() + plan_.key_gradients(); }
  uint32_t scores() const { return key_gradient() + plan_.key_gradients(); }  // S, then P
  uint32_t gradients() const { return scores() + plan_.scores(); }            // dP, then dS
  uint32_t query_gradient() const { return scores(); }

 private:
  const FlashAttention3BackwardPlan& plan_;
};

// Packs floats `index` and `index` + 1 after `first` into register `first` + `index` / 2, which is free by then.
void add_pack(Code& code, const FlashAttention3BackwardPlan& plan, uint32_t first, uint32_t index);

// A consumer's work on a block of scores between the products. Scores come in groups of four: two keys for each of two queries. The
// queries' log-sum-exp, and later their dot(O, dO), are read as a pair, as early as registers are free.
class BackwardScores {
 public:
  BackwardScores(Code& code, const FlashAttention3BackwardPlan& plan, Mask mask)
      : code_(&code), plan_(plan), at_(plan), mask_(mask) {}

  // Moves of descriptors that the compiled kernel makes before S and dP when uniform registers are short. `saves`: also moves out
  // of uniform registers.
  void add_descriptors(bool saves);
  void add_first_rows();        // log-sum-exp, beside the products of S
  void add_beside_gradients();  // mask, exponents, first exponentials: S is ready, dP is not
  void add_gradients();         // remaining exponentials of P, and dS

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
  uint32_t made_ = 0;  // exponentials added so far
};

}  // namespace warpfold::workloads
