#pragma once

#include "workloads/common/warp_product.h"
#include "workloads/flash_attention_2/plan.h"

// What the forward and the backward pass share.
namespace warpfold::workloads {

constexpr uint32_t kCopyBytes = 512;                  // LDGSTS.128 of a warp
constexpr std::string_view kScale = "c[0x0][0x190]";  // softmax scale x log2(e)

inline std::string r(uint64_t index) { return general(index); }

// Hands out general registers one after the other.
class RegisterAllocator {
 public:
  explicit RegisterAllocator(uint32_t first) : next_(first) {}
  uint32_t take(uint32_t count, uint32_t align = 1) {
    const uint32_t first = (next_ + align - 1) / align * align;
    next_ = first + count;
    return first;
  }
  // Fragments of four registers that the rest holds; R255 is RZ.
  uint32_t fragments_left() const { return (255 - (next_ + 3) / 4 * 4) / 4; }

 private:
  uint32_t next_;
};

// Compiled passes whose instructions were counted (forward, head_dim 128).
enum class CountedVariant : uint8_t {
  kSpilled,  // 128 x 64 without dropout: registers spill
  kPlain,    // 128 x 32 without dropout
  kStored,   // 128 x 32, stored bits
  kFused,    // 128 x 32, Philox-7; 3, 5 and 10 rounds differ by at most 4 instructions
};

// Address arithmetic and other instructions of a pass that neither tile nor head dimension explains, as counted.
Lines bookkeeping(const FlashAttention2Plan& plan, CountedVariant variant);
// A row's old maximum is kept by a move, which the compiler puts on the ALU or, for this many rows, on the FMA pipe.
uint32_t moves_on_fma(const FlashAttention2Plan& plan, CountedVariant variant);

// `count` copies of a warp from global to shared memory, as one group. No bytes: as from L1.
Lines async_copies(uint32_t to, uint32_t from, int16_t stream, uint32_t count, uint32_t bytes);
// Waits until all copies of all warps of the CTA are there.
Lines copies_arrived(const FlashAttention2Plan& plan);
Line cta_barrier(const FlashAttention2Plan& plan);

// What a tile that causality or the end of the keys cuts through has more: per score a comparison of its column with the row's last
// one and a select (counted in FlashAttention-3: a masked block of 64 scores a thread has 134 ALU instructions more). It stands in
// front of the loop over tiles, once for each such tile: the tiles themselves are one loop, for a CTA may have only one.
Code masking(const FlashAttention2Plan& plan, uint32_t scores, uint32_t count);

}  // namespace warpfold::workloads
