#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/kernel.h"
#include "workloads/common/program.h"
#include "workloads/flash_attention_3/plan.h"

namespace warpfold::workloads {

// The order of a block's exponentials, and the steps before and among them.
struct ExponentialsOrder {
  struct Step {
    std::string text;
    int score = -1;  // the score whose exponent this step computes
    int row = -1;    // the row whose rescaling factor this step computes, which is an exponential too
  };
  std::vector<uint32_t> scores;
  std::vector<Step> steps;
  uint32_t ahead = 0;        // steps before the first exponential
  uint32_t behind_each = 0;  // steps after each exponential
};

// Exponentials of a block of scores, their sums and, without dropout, their packing, in the order of the compiled kernels (2024,
// CUDA 12.4, the same for all head dimensions). Scales run ahead. An exponential is added to its row's sum after the next
// exponential, and finished pairs are packed between the two. Without overlap, O is idle between two products, so it is rescaled
// after the scales (compiled 8-bit kernels, which have no overlap).
class Exponentials {
 public:
  // `first`: the tile's first block, for which sums start anew and O is empty.
  Exponentials(Code& code, const FlashAttention3Plan& plan, bool first);
  Exponentials(Code& code, const FlashAttention3Plan& plan, ExponentialsOrder order);

  // Adds the next `count` exponentials. Nothing is packed, because the products of the previous block still read P's registers.
  void add_beside_products(uint32_t count);
  void add_rest();

 private:
  bool sums_behind_all() const;
  size_t steps_needed(uint32_t score) const;
  void add_steps();
  void add_next();
  void add_rescales(uint32_t most);
  void add_to_sum(uint32_t score);
  void add_packs(uint32_t finished, uint32_t most);

  Code& code_;
  const FlashAttention3Plan& plan_;
  bool first_ = false;
  ExponentialsOrder order_;
  size_t steps_done_ = 0;
  size_t steps_due_;           // steps due before the next exponential
  std::vector<size_t> needs_;  // per score: steps that its exponential needs
  uint32_t made_ = 0;
  uint32_t to_rescale_ = 0;  // registers of O to rescale after all steps
  uint32_t rescaled_ = 0;
  uint32_t packed_ = 0;  // pairs
};

// Spaces a warp's exponentials as the compiler does: ten cycles, two more than the XU needs.
void space_exponentials(std::vector<traces::Node>& body);

}  // namespace warpfold::workloads
