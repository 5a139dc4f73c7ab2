#pragma once

#include <cstdint>
#include <vector>

#include "traces/kernel.h"
#include "workloads/flash_attention_3_plan.h"
#include "workloads/program.h"

namespace warpfold::workloads {

// Exponentials of a block of scores, their sums and, without dropout, their packing, in the order of the compiled kernels (2024,
// CUDA 12.4, all head dimensions alike): scales run ahead, an exponential is added to its row's sum behind the next exponential,
// and finished pairs are packed between the two. Without overlap O is multiplied alone between two products: its shrinking follows
// the scales (compiled 8-bit kernels, which have no overlap).
class Exponentials {
 public:
  // `first`: there are no earlier blocks, sums start here and there is no O.
  Exponentials(Code& code, const FlashAttention3Plan& plan, bool first);

  // The next `count`. The registers of P are still read by the products of the block before: nothing is packed.
  void add_beside_products(uint32_t count);
  void add_rest();

 private:
  bool sums_behind_all() const;
  uint32_t scales_before(uint32_t exponential) const;
  void add_next();
  void add_scale(uint32_t score);
  void add_rescales(uint32_t most);
  void add_to_sum(uint32_t score);
  void add_packs(uint32_t finished, uint32_t most);

  Code& code_;
  const FlashAttention3Plan& plan_;
  bool first_;
  std::vector<uint32_t> order_;  // of the scores
  uint32_t scaled_ = 0;
  uint32_t made_ = 0;
  uint32_t to_rescale_;  // registers of O
  uint32_t rescaled_ = 0;
  uint32_t packed_ = 0;  // pairs
};

// A warp's exponentials as far apart as the compiler put them: ten cycles, two more than the XU needs.
void space_exponentials(std::vector<traces::Node>& body);

}  // namespace warpfold::workloads
