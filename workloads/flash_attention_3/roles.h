#pragma once

#include "isa/architecture.h"
#include "traces/kernel.h"
#include "workloads/common/program.h"
#include "workloads/flash_attention_3/plan.h"
#include "workloads/flash_attention_3/rings.h"

namespace warpfold::workloads {

// Rings, cursors, streams, parameters and barriers of a FlashAttention-3 kernel, by the index that its roles use.
struct AttentionRings {
  static constexpr int16_t kQuery = 0;  // Q has arrived
  static constexpr int16_t kKeyFull = 1;
  static constexpr int16_t kKeyEmpty = 2;
  static constexpr int16_t kValueFull = 3;
  static constexpr int16_t kValueEmpty = 4;
  static constexpr int16_t kOutput = 5;  // O, in the place of V, has been stored
  // If V is transposed: its blocks as loaded. kValueFull and kValueEmpty then refer to the transposed blocks.
  static constexpr int16_t kRawFull = 6;
  static constexpr int16_t kRawEmpty = 7;
};
struct AttentionCursors {
  static constexpr int16_t kKeyLoad = 0;
  static constexpr int16_t kValueLoad = 1;
  static constexpr int16_t kKey = 2;
  static constexpr int16_t kValue = 3;
  static constexpr int16_t kTile = 4;
  static constexpr int16_t kOutput = 5;
  static constexpr int16_t kTransposed = 6;  // loaded V, read by the transposing warps
};
struct AttentionStreams {
  static constexpr int16_t kQuery = 0;
  static constexpr int16_t kKey = 1;
  static constexpr int16_t kValue = 2;
  static constexpr int16_t kOutput = 3;
  static constexpr int16_t kRowStatistics = 4;
  static constexpr int16_t kTileQueue = 5;  // causal
  static int16_t page_table(const FlashAttention3Plan& plan) { return plan.queued() ? 6 : 5; }
  static int16_t mask(const FlashAttention3Plan& plan) { return plan.tiles.causal() ? 6 : 5; }
};
// Trip counts of a persistent CTA: four for each length of its tiles (without a causal mask, all tiles have one length). They are
// the number of tiles and, for each causal tile, the key blocks after the first.
struct AttentionParameters {
  static constexpr int32_t tiles(uint32_t length) { return static_cast<int32_t>(4 * length); }
  static constexpr int32_t masked(uint32_t length) { return tiles(length) + 1; }  // blocks that the diagonal cuts
  static constexpr int32_t full(uint32_t length) { return tiles(length) + 2; }
  static constexpr int32_t more(uint32_t length) { return tiles(length) + 3; }  // sum of both
};
struct AttentionBarriers {
  static constexpr int16_t kQueryEmpty = 1;
  static constexpr int16_t kTurn = 2;  // + warpgroup
  static constexpr int16_t kOutput = 5;
  static constexpr int16_t kTileNumberEmpty = 6;
  static constexpr int16_t kTileNumberFull = 7;
};
// Registers of a consumer.
struct AttentionRegisters {
  static constexpr uint32_t kRows = 2;     // rows of the 64 for which a thread has scores
  static constexpr uint32_t kMaximum = 4;  // + row: largest score so far
  static constexpr uint32_t kSum = 6;      // + row: sum of the probabilities so far
  static constexpr uint32_t kRescale = 8;  // + row: factor that rescales the earlier blocks' results
  static constexpr uint32_t kShift = 10;   // + row: scaled maximum
  static constexpr uint32_t kWork = 12;    // + row
  static constexpr uint32_t kWork2 = 14;   // + row
  static constexpr uint32_t kOutput = FlashAttention3Plan::kWorkingRegisters;
  static uint32_t score(const FlashAttention3Plan& plan) { return kOutput + plan.outputs(); }
  static uint32_t dropout(const FlashAttention3Plan& plan) { return probability(plan) + plan.probabilities(); }
  static uint32_t probability(const FlashAttention3Plan& plan) { return score(plan) + plan.scores(); }
};

enum class Mask { kNone, kKeys, kCausal };

constexpr uint32_t kSoftmaxScale = 36;  // uniform register: softmax scale times log2(e)

// Softmax of the block of scores that wgmma has just computed. `first`: the tile's first block.
void add_mask(Code& code, const FlashAttention3Plan& plan, Mask mask);
void add_maxima(Code& code, const FlashAttention3Plan& plan, bool first, Mask mask);  // maxima and rescaling factors
// Pack scores into the registers of wgmma's left operand: one pair, or all that are not packed yet.
void add_probability_pair(Code& code, const FlashAttention3Plan& plan, uint32_t pair);
void add_probabilities(Code& code, const FlashAttention3Plan& plan);
// Rescale O by the growth of the maximum: all of it, or registers `begin` to `end`.
void add_rescale(Code& code, const FlashAttention3Plan& plan);
void add_rescale(Code& code, uint32_t begin, uint32_t end);
std::string rescale(uint32_t output);
void add_finish(Code& code);                                             // reciprocals of the row sums, and log-sum-exp
void add_epilogue(Code& code, const FlashAttention3Plan& plan);          // stores O and the rows' statistics
void add_partial_epilogue(Code& code, const FlashAttention3Plan& plan);  // with splits: stores O in FP32, from registers
void add_output_release(Code& code);                                     // releases V's room after O has been stored
void add_mask_load(Code& code, const FlashAttention3Plan& plan);         // loads a block's stored dropout bits
// Dropout of the probabilities: with 32 random bits each before they are packed; with 8 bits or stored bits afterwards.
void add_dropout_to_scores(Code& code, const FlashAttention3Plan& plan);
void add_dropout(Code& code, const FlashAttention3Plan& plan);

enum class Operand { kKey, kValue };
void add_block_load(Code& code, const FlashAttention3Plan& plan, Operand operand, const LoadRegisters& registers);
void add_query_load(Code& code, const FlashAttention3Plan& plan, const LoadRegisters& registers);

// The queue of causal tiles. The producer draws the next tile's number while the last keys of a tile are in flight, and passes it
// to the consumers through shared memory. Without a causal mask, tiles are assigned in advance, and these functions add nothing.
void add_tile_draw(Code& code, const FlashAttention3Plan& plan);    // producer: adds to the counter in memory
void add_tile_notice(Code& code, const FlashAttention3Plan& plan);  // producer's warps: write the number to shared memory
void add_tile_number(Code& code, const FlashAttention3Plan& plan);  // consumer: reads the number
void add_tile_number_free(Code& code, const FlashAttention3Plan& plan);

// Adds all tiles of one length: a loop in a persistent CTA.
void add_tiles(std::vector<traces::Node>& body, const FlashAttention3Plan& plan, uint32_t length, std::vector<traces::Node> tile);

// Threads at the barrier that releases the room for Q: the consumers and the loading warps.
inline uint16_t query_room_threads(const FlashAttention3Plan& plan) {
  return static_cast<uint16_t>(FlashAttention3Plan::kGroupThreads * plan.consumers() + 32 * (plan.copies ? 4 : 1));
}
void add_output_wait(Code& code);  // a loading warp waits until O has been stored
// The start of a producer warp, the end of its loop over blocks, and its body: for each tile a first and a last part, with a loop
// over blocks between them.
void add_producer_entry(Code& code, const FlashAttention3Plan& plan, bool initialises);
void add_producer_loop_end(Code& code);
struct ProducerTile {
  Code first, more, last;
};
std::vector<traces::Node> producer_body(const isa::Architecture& architecture, const FlashAttention3Plan& plan, const Code& entry,
                                        const ProducerTile& tile);

std::vector<traces::Node> attention_copier_body(const isa::Architecture& architecture, const FlashAttention3Plan& plan);
std::vector<traces::Node> attention_producer_body(const isa::Architecture& architecture, const FlashAttention3Plan& plan);
// The producer's other three warps: they transpose V, or exit at once.
std::vector<traces::Node> attention_helper_body(const isa::Architecture& architecture, const FlashAttention3Plan& plan);
std::vector<traces::Node> attention_consumer_body(const isa::Architecture& architecture, const FlashAttention3Plan& plan,
                                                  int group);

}  // namespace warpfold::workloads
