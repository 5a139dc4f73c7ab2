#pragma once

#include <cstdint>
#include <vector>

#include "isa/architecture.h"
#include "traces/kernel.h"
#include "workloads/common/program.h"
#include "workloads/flash_attention_3/roles.h"

namespace warpfold::workloads {

// A consumer warpgroup of FlashAttention-3: 64 query rows. S = Q K^T and O += P V by wgmma, softmax between them.
//
// With overlap within the warpgroup (the library's default), a block's scores are computed before the previous block is multiplied
// with V. Both products are issued together, and the softmax of the new block runs beside P V of the previous one:
//
//   Q K0 | softmax 0 | Q K1, P0 V0 | softmax 1 | Q K2, P1 V1 | softmax 2 | P2 V2
//
// This is the order of the library's source. The compiler moves the wait for P V forward, before all or nearly all exponentials, so
// that little more than the row maxima overlap with P V (`ProductsWait`).
//
// Without overlap: Q K0 | softmax 0 | P0 V0 | Q K1 | softmax 1 | P1 V1 ...
// Consumers that load: the paper's ablation without warp specialisation, whose code was not released. It takes the first release's
// loop without turns and loads two blocks ahead at the end of a block, as the same release's backward kernel without a producer
// does (flash_bwd_kernel.h, compute_dqkv). The result was compiled and disassembled (CUDA 12.4, 255 registers, no spills).
// With turns (ping-pong), a warpgroup issues its products only after the other warpgroups have issued theirs.
//
// The instruction mix of a key block is that of the library's forward kernel (counted in its disassembly: 594 instructions for 176
// keys, 469 for 128 at head_dim 128, CUDA 13.0). The order is that of the library's first release (disassembled, CUDA 12.4). The
// registers are ours. assumed: the code outside the blocks, which was not counted and follows the library's structure
// (hopper/mainloop_fwd_sm90_tma_gmma_ws.hpp, epilogue_fwd.hpp).
class AttentionConsumer {
 public:
  AttentionConsumer(const isa::Architecture& architecture, const FlashAttention3Plan& plan, int group)
      : architecture_(architecture), plan_(plan), group_(static_cast<int16_t>(group)) {}

  std::vector<traces::Node> body() const;

 private:
  // Blocks that a consumer without a producer loads at the start of a block.
  enum class Loads { kNone, kValue, kBoth };

  bool loads() const { return !plan_.specialized && group_ == 0; }
  LoadRegisters load_registers() const { return {AttentionRegisters::dropout(plan_), 52}; }
  // A turn covers only the scores of a block.
  bool short_turns() const { return plan_.eight_bit() && plan_.head_dim() == 256; }

  // Rooms for Q, O and V.
  void add_query_released(Code& code) const;
  void add_output_room(Code& code) const;
  void add_products_wait(Code& code) const;
  // Turns of the warpgroups (ping-pong).
  void add_turn_wait(Code& code) const;
  void add_turn_over(Code& code) const;
  void add_turn_of(Code& code, uint32_t group) const;

  // A block of keys: its products, its softmax, and both together in the order with and without overlap.
  void add_scores(Code& code, bool rescales = false) const;
  void add_products(Code& code) const;
  void add_softmax(Code& code, bool first, Mask mask) const;
  void add_staggered_softmax(Code& code) const;
  void add_overlapped_block(Code& code, Mask mask) const;
  void add_plain_block(Code& code, Mask mask, bool first) const;
  void add_block(Code& code, Mask mask, Loads loads) const;

  // A tile: its first block, the remaining blocks, the last products, and O.
  void add_entry(Code& code) const;
  void add_loads(Code& code, Loads loads) const;
  void add_first_block(Code& code) const;
  void add_blocks(std::vector<traces::Node>& nodes, uint32_t length) const;
  void add_last_products(Code& code) const;
  std::vector<traces::Node> tile(uint32_t length) const;

  const isa::Architecture& architecture_;
  const FlashAttention3Plan& plan_;
  int16_t group_;
};

}  // namespace warpfold::workloads
