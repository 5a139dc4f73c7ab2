#pragma once

#include <cstdint>
#include <vector>

#include "isa/architecture.h"
#include "traces/kernel.h"
#include "workloads/common/program.h"
#include "workloads/flash_attention_4/plan.h"

namespace warpfold::workloads::attention4 {

// Rings, cursors, streams, parameters and barriers of a FlashAttention-4 kernel, by the index that its roles use; `tile` is 0 or 1.
struct Rings {
  static constexpr int16_t kBlockFull = 0;                                     // a block of K or V has arrived
  static constexpr int16_t kBlockEmpty = 1;                                    // the block has been multiplied
  static constexpr int16_t query_full(int tile) { return of(2, tile); }        // Q has arrived
  static constexpr int16_t query_empty(int tile) { return of(4, tile); }       // the tile's last scores are complete
  static constexpr int16_t scores(int tile) { return of(6, tile); }            // S is in tensor memory
  static constexpr int16_t probabilities(int tile) { return of(8, tile); }     // 3/4 of P are in tensor memory, and O is rescaled
  static constexpr int16_t last_quarter(int tile) { return of(10, tile); }     // all of P is in tensor memory
  static constexpr int16_t statistics_free(int tile) { return of(12, tile); }  // the correction has read the rows' scales
  static constexpr int16_t sums(int tile) { return of(14, tile); }             // O is complete
  static constexpr int16_t output_full(int tile) { return of(16, tile); }      // O is in shared memory
  static constexpr int16_t output_empty(int tile) { return of(18, tile); }     // O has been stored

 private:
  static constexpr int16_t of(int first, int tile) { return static_cast<int16_t>(first + tile); }
};
// Positions of a warp in rings. One-stage rings on which a warp waits equally often share a cursor.
struct Cursors {
  static constexpr int16_t kLoad = 0;        // block to load next
  static constexpr int16_t kUse = 1;         // block to multiply next
  static constexpr int16_t kRelease = 2;     // block to release next
  static constexpr int16_t kTile = 3;        // tile of the CTA
  static constexpr int16_t kBlock = 4;       // block of a tile's keys, over all tiles
  static constexpr int16_t kStatistics = 5;  // scales of a row: advances once more per tile than kBlock
};
struct Streams {
  static constexpr int16_t kQuery = 0;
  static constexpr int16_t kKey = 1;
  static constexpr int16_t kValue = 2;
  static constexpr int16_t kOutput = 3;
  static constexpr int16_t kRowStatistics = 4;
  static constexpr int16_t kMask = 5;  // stored dropout bits
};
// Trip counts of a CTA: its tiles, and for each tile the key blocks after the first.
struct Parameters {
  static constexpr int32_t kTiles = 0;
  static constexpr int32_t kMore = 1;      // all blocks after the first
  static constexpr int32_t kMasked = 2;    // blocks that the diagonal cuts
  static constexpr int32_t kFull = 3;      // all remaining blocks
  static constexpr int32_t kRescaled = 4;  // blocks that rescale O; kUnscaled blocks follow each of them, and kRest follow the last
  static constexpr int32_t kUnscaled = 5;
  static constexpr int32_t kRest = 6;
};
struct Barriers {
  static int16_t statistics(int tile) { return static_cast<int16_t>(1 + tile); }  // the rows' scales are in shared memory
};

// Adds a wait at a ring's stage, with the branch back to it.
void add_wait(Code& code, int16_t ring, int16_t cursor, uint32_t advance);
void add_arrival(Code& code, int16_t ring);  // one thread of the warp; for one-stage rings
// Adds the start of every role; `registers`: per thread after setmaxnreg.
void add_entry(Code& code, uint32_t registers);
// A loop over the tiles of a persistent CTA, or the CTA's only tile.
std::vector<traces::Node> role_body(const FlashAttention4Plan& plan, const Code& entry, std::vector<traces::Node> tile);

std::vector<traces::Node> softmax_body(const isa::Architecture& architecture, const FlashAttention4Plan& plan, int tile);
std::vector<traces::Node> correction_body(const isa::Architecture& architecture, const FlashAttention4Plan& plan);
std::vector<traces::Node> multiply_body(const isa::Architecture& architecture, const FlashAttention4Plan& plan);
std::vector<traces::Node> epilogue_body(const isa::Architecture& architecture, const FlashAttention4Plan& plan);
std::vector<traces::Node> spare_body(const isa::Architecture& architecture, const FlashAttention4Plan& plan);
std::vector<traces::Node> load_body(const isa::Architecture& architecture, const FlashAttention4Plan& plan);

}  // namespace warpfold::workloads::attention4
