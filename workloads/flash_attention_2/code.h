#pragma once

#include "workloads/common/warp_product.h"
#include "workloads/flash_attention_2/plan.h"

// Registers and lines of code that the forward and the backward pass share.
namespace warpfold::workloads {

constexpr uint32_t kCopyBytes = 512;                  // LDGSTS.128 of a warp
constexpr std::string_view kScale = "c[0x0][0x190]";  // softmax scale x log2(e)

inline std::string r(uint64_t index) { return general(index); }

// Allocates general registers, one range after another.
class RegisterAllocator {
 public:
  explicit RegisterAllocator(uint32_t first) : next_(first) {}
  uint32_t take(uint32_t count, uint32_t align = 1) {
    const uint32_t first = (next_ + align - 1) / align * align;
    next_ = first + count;
    return first;
  }
  // Fragments of four registers for which the remaining registers suffice; R255 is RZ.
  uint32_t fragments_left() const { return (255 - (next_ + 3) / 4 * 4) / 4; }

 private:
  uint32_t next_;
};

// The compiled passes whose instructions were counted (forward, head_dim 128): queries x keys of a tile, and dropout.
enum class CountedVariant : uint8_t {
  kSpilled,  // 128 x 64 without dropout: registers spill
  kPlain,    // 128 x 32 without dropout
  kStored,   // 128 x 32, stored bits
  kFused,    // 128 x 32, Philox with 7 rounds; 3, 5 and 10 rounds differ by at most 4 instructions
};

// The counted address arithmetic and other instructions of a pass that follow neither from the tile nor from the head dimension.
Lines bookkeeping(const FlashAttention2Plan& plan, CountedVariant variant);
// Rows whose old maximum is copied on the FMA pipe. The compiler copies the other rows' maxima on the ALU.
uint32_t moves_on_fma(const FlashAttention2Plan& plan, CountedVariant variant);

// `count` copies of a warp from global to shared memory, as one group. `bytes` of 0: the copy takes L1's latency and moves nothing.
Lines async_copies(uint32_t to, uint32_t from, int16_t stream, uint32_t count, uint32_t bytes);
// Waits until all copies of all warps of the CTA have arrived.
Lines copies_arrived(const FlashAttention2Plan& plan);
Line cta_barrier(const FlashAttention2Plan& plan);

// Additional instructions of a block of keys that the causal mask or the end of the keys cuts. Each score takes a comparison of its
// column with the row's last column, and a select. Source: a count in FlashAttention-3, in which a masked block of 64 scores per
// thread has 134 more ALU instructions. The additional instructions precede the loop over blocks, once for each such block, because
// all blocks of a CTA, of which there may be only one, form one loop.
Code masking(const FlashAttention2Plan& plan, uint32_t scores, uint32_t count);

}  // namespace warpfold::workloads
