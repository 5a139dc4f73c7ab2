#pragma once

#include "workloads/flash_attention_2/code.h"
#include "workloads/flash_attention_2/head_dim_64.h"

namespace warpfold::workloads {

// The code of one warp of the forward pass.
class FlashAttention2Forward {
 public:
  explicit FlashAttention2Forward(const FlashAttention2Plan& plan);
  std::vector<traces::Node> body() const;

 private:
  // First registers of a warp's values. R0-R2 are scratch for addresses, R3 counts blocks.
  struct Registers {
    uint32_t maximum, sum;      // per row
    uint32_t q, k, v, copy_to;  // addresses in shared memory
    uint32_t output, scores;
    uint32_t k_from, v_from, bits_from;  // global addresses, in register pairs
    uint32_t bits, threshold;
    uint32_t ring, slots;  // fragments, and temporaries during the softmax
  };

  // 16 rows x 32 keys: 16 scores per thread, in eight pairs. One Philox call makes the bits for a group.
  struct Group {
    uint32_t m;
    uint32_t keys;
  };
  static constexpr uint32_t kPairs = 8;

  bool stored() const { return plan_.shape.dropout() == configs::STORED_BITS; }
  bool fused() const { return plan_.shape.dropout() == configs::FUSED_PHILOX; }
  uint32_t rows() const { return 2 * plan_.row_blocks(); }    // per thread
  uint32_t columns() const { return plan_.warp_keys() / 8; }  // blocks of 8 keys
  uint32_t steps() const { return plan_.warp_keys() / 16; }
  uint32_t scores() const { return plan_.row_blocks() * columns() * 4; }
  uint32_t outputs() const { return plan_.row_blocks() * plan_.head_dim() / 8 * 4; }
  uint32_t words() const { return scores() / 32; }  // words of stored bits
  uint32_t key_copies() const { return plan_.tile_keys * plan_.head_dim() * 2 / kCopyBytes / plan_.warps; }
  uint32_t query_copies() const { return plan_.tile_queries * plan_.head_dim() * 2 / kCopyBytes / plan_.warps; }
  uint32_t score(uint32_t m, uint32_t n, uint32_t half, uint32_t element) const {
    return at_.scores + (m * columns() + n) * 4 + 2 * half + element;
  }
  uint32_t groups_of_row_block() const { return plan_.warp_keys() / 32; }
  // Register of a group's i-th pair of probabilities. Pairs are packed in place of the scores: a fragment occupies the first four
  // of eight registers.
  uint32_t probabilities(const Group& group, uint32_t i) const { return score(group.m, 4 * group.keys + i / 4 * 2, 0, 0) + i % 4; }
  // Temporaries of rows and of random bits use the last slots of the ring, because the first slots may already hold fragments of V.
  uint32_t temporary(uint32_t i) const { return at_.ring + 4 * at_.slots - 1 - i; }
  uint32_t fresh_maximum(uint32_t row) const { return temporary(row); }
  uint32_t other(uint32_t row) const { return temporary(rows() + row); }
  uint32_t scaled_maximum(uint32_t row) const { return temporary(2 * rows() + row); }
  uint32_t correction(uint32_t row) const { return temporary(3 * rows() + row); }
  uint32_t random(uint32_t i) const { return at_.ring + 4 * at_.slots - 4 * rows() - 16 + i; }

  CountedVariant variant() const {
    if (stored()) return CountedVariant::kStored;
    if (fused()) return CountedVariant::kFused;
    return plan_.head_dim() == 128 && plan_.tile_queries == 128 && plan_.tile_keys == 64 ? CountedVariant::kSpilled
                                                                                         : CountedVariant::kPlain;
  }
  WarpProduct score_product() const;
  WarpProduct output_product() const;
  using Part = ForwardPart;
  Lines row_maxima(Part part) const;
  Lines exponentials(const Group& group, Part part) const;
  Lines rescale() const;
  Lines random_bits(uint32_t call) const;
  Lines keep(const Group& group) const;
  Lines pack(const Group& group) const;
  Lines softmax(Part part) const;
  Lines mask() const;
  Lines spills(const Group& group, Part part, bool back) const;
  Lines bookkeeping_of(Part part) const;
  Lines page_lookup() const;
  void add_shared_sums(Code& code) const;
  void add_partial_output(Code& code) const;
  Code pass(Part part) const;
  std::vector<traces::Node> counted_body() const;
  traces::Block prologue() const;
  Code counted_prologue() const;
  traces::Block epilogue() const;
  void add_counted(Code& code, Part part) const;

  const FlashAttention2Plan& plan_;
  const bool counted_ = has_counted_parts(plan_);
  Registers at_{};
};

}  // namespace warpfold::workloads
