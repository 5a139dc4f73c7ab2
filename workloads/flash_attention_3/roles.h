#pragma once

#include "isa/architecture.h"
#include "traces/kernel.h"
#include "workloads/common/program.h"
#include "workloads/flash_attention_3/plan.h"
#include "workloads/flash_attention_3/rings.h"

namespace warpfold::workloads {

// The parts of a FlashAttention-3 kernel that its roles refer to by index.
struct AttentionRings {
  static constexpr int16_t kQuery = 0;  // Q has arrived
  static constexpr int16_t kKeyFull = 1;
  static constexpr int16_t kKeyEmpty = 2;
  static constexpr int16_t kValueFull = 3;
  static constexpr int16_t kValueEmpty = 4;
  static constexpr int16_t kOutput = 5;  // O, which lies where V was, has been stored
  // Where V is transposed: as it comes from memory. kValueFull and kValueEmpty are then of the transposed blocks.
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
  static constexpr int16_t kTransposed = 6;  // V as loaded, read by the transposing warps
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
// Trip counts of a persistent CTA, four for each length of its tiles (one length without a causal mask): the tiles, and of a causal
// tile the key blocks behind the first one.
struct AttentionParameters {
  static constexpr int32_t tiles(uint32_t length) { return static_cast<int32_t>(4 * length); }
  static constexpr int32_t masked(uint32_t length) { return tiles(length) + 1; }  // cut by the diagonal
  static constexpr int32_t full(uint32_t length) { return tiles(length) + 2; }
  static constexpr int32_t more(uint32_t length) { return tiles(length) + 3; }  // both
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
  static constexpr uint32_t kRows = 2;     // of the 64, that a thread has scores of
  static constexpr uint32_t kMaximum = 4;  // + row: largest score so far
  static constexpr uint32_t kSum = 6;      // + row: sum of the probabilities so far
  static constexpr uint32_t kRescale = 8;  // + row: what the earlier blocks' results shrink by
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

// Softmax of the block of scores that wgmma has just made. `first`: the tile's first block.
void add_mask(Code& code, const FlashAttention3Plan& plan, Mask mask);
void add_maxima(Code& code, const FlashAttention3Plan& plan, bool first, Mask mask);  // and what earlier results shrink by
// Scores to the registers that wgmma reads: a pair of them, and all that are not packed yet.
void add_probability_pair(Code& code, const FlashAttention3Plan& plan, uint32_t pair);
void add_probabilities(Code& code, const FlashAttention3Plan& plan);
// O shrinks by what the maximum has grown: all of it, or registers `begin` to `end`.
void add_rescale(Code& code, const FlashAttention3Plan& plan);
void add_rescale(Code& code, uint32_t begin, uint32_t end);
std::string rescale(uint32_t output);
void add_finish(Code& code);                                             // what O is divided by, log-sum-exp of the rows
void add_epilogue(Code& code, const FlashAttention3Plan& plan);          // O and the rows' statistics to memory
void add_partial_epilogue(Code& code, const FlashAttention3Plan& plan);  // with splits: O in FP32, straight to memory
void add_output_release(Code& code);                                     // once that has been read: the room for V is free again
void add_mask_load(Code& code, const FlashAttention3Plan& plan);         // stored dropout bits of a block
// Dropout of the probabilities: of 32 random bits each before they are packed, of 8 or stored bits behind that.
void add_dropout_to_scores(Code& code, const FlashAttention3Plan& plan);
void add_dropout(Code& code, const FlashAttention3Plan& plan);

enum class Operand { kKey, kValue };
void add_block_load(Code& code, const FlashAttention3Plan& plan, Operand operand, const LoadRegisters& registers);
void add_query_load(Code& code, const FlashAttention3Plan& plan, const LoadRegisters& registers);

// The queue of causal tiles: its next tile's number, drawn by the producer while the last keys of a tile are on their way, reaches
// the consumers through shared memory. Without a causal mask tiles are dealt in advance, and these add nothing.
void add_tile_draw(Code& code, const FlashAttention3Plan& plan);    // producer: asks the counter in memory
void add_tile_notice(Code& code, const FlashAttention3Plan& plan);  // producer's warps: the number to shared memory
void add_tile_number(Code& code, const FlashAttention3Plan& plan);  // consumer: reads it
void add_tile_number_free(Code& code, const FlashAttention3Plan& plan);

// All tiles of one length: a loop in a persistent CTA.
void add_tiles(std::vector<traces::Node>& body, const FlashAttention3Plan& plan, uint32_t length, std::vector<traces::Node> tile);

// Threads that meet where the room for Q is free: the consumers and the warps that load.
inline uint16_t query_room_threads(const FlashAttention3Plan& plan) {
  return static_cast<uint16_t>(FlashAttention3Plan::kGroupThreads * plan.consumers() + 32 * (plan.copies ? 4 : 1));
}
void add_output_wait(Code& code);  // a loading warp, for O to have been stored
// A producer warp's start and what it does between tiles; its tiles, with a first and a last part and a loop over blocks between.
void add_producer_entry(Code& code, const FlashAttention3Plan& plan, bool initialises);
void add_producer_loop_end(Code& code);
struct ProducerTile {
  Code first, more, last;
};
std::vector<traces::Node> producer_body(const isa::Architecture& architecture, const FlashAttention3Plan& plan, const Code& entry,
                                        const ProducerTile& tile);

std::vector<traces::Node> attention_copier_body(const isa::Architecture& architecture, const FlashAttention3Plan& plan);
std::vector<traces::Node> attention_producer_body(const isa::Architecture& architecture, const FlashAttention3Plan& plan);
// The producer's other three warps: they transpose V, or end at once.
std::vector<traces::Node> attention_helper_body(const isa::Architecture& architecture, const FlashAttention3Plan& plan);
std::vector<traces::Node> attention_consumer_body(const isa::Architecture& architecture, const FlashAttention3Plan& plan,
                                                  int group);

}  // namespace warpfold::workloads
