#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/kernel.h"
#include "workloads/common/program.h"
#include "workloads/flash_attention_3/plan.h"

namespace warpfold::workloads {

// In which order a block's exponentials are made, and the steps that stand before and among them.
struct ExponentialsOrder {
  struct Step {
    std::string text;
    int score = -1;  // whose exponent it makes
    int row = -1;    // whose shrinking it makes: an exponential too
  };
  std::vector<uint32_t> scores;
  std::vector<Step> steps;
  uint32_t ahead = 0;        // steps before the first exponential
  uint32_t behind_each = 0;  // of the exponentials
};

// Exponentials of a block of scores, their sums and, without dropout, their packing, in the order of the compiled kernels (2024,
// CUDA 12.4, all head dimensions alike): scales run ahead, an exponential is added to its row's sum behind the next exponential,
// and finished pairs are packed between the two. Without overlap O is multiplied alone between two products: its shrinking follows
// the scales (compiled 8-bit kernels, which have no overlap).
class Exponentials {
 public:
  // `first`: the tile's first block. Sums start here, and O holds nothing yet.
  Exponentials(Code& code, const FlashAttention3Plan& plan, bool first);
  Exponentials(Code& code, const FlashAttention3Plan& plan, ExponentialsOrder order);

  // The next `count`. The registers of P are still read by the products of the block before: nothing is packed.
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
  size_t steps_due_;           // before the next exponential
  std::vector<size_t> needs_;  // of each score: steps before its exponential
  uint32_t made_ = 0;
  uint32_t to_rescale_ = 0;  // registers of O, behind all steps
  uint32_t rescaled_ = 0;
  uint32_t packed_ = 0;  // pairs
};

// A warp's exponentials as far apart as the compiler put them: ten cycles, two more than the XU needs.
void space_exponentials(std::vector<traces::Node>& body);

}  // namespace warpfold::workloads
