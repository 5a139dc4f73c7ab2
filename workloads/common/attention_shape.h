#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "configs/scenario.pb.h"
#include "traces/kernel.h"
#include "workloads/common/key_reuse.h"

namespace warpfold::workloads {

// One tile of queries of a head: the number of key blocks that it visits.
struct QueryTile {
  uint64_t full_blocks = 0;    // key blocks without a masked element
  uint64_t masked_blocks = 0;  // key blocks that causality or the end of the sequence cuts through
  bool operator==(const QueryTile&) const = default;
};

// The order in which a launch hands out query tiles, the number of tiles that run at a time, and the L2 that they share.
struct KeyReaders {
  enum class Order : uint8_t {
    kHeadByHead,    // all tiles of a head, then the next head, then the next sequence: FlashAttention-3
    kBatchByBatch,  // all tiles of a head, then the same head of the next sequence, then the next head: FlashAttention-2
    kLongestFirst,  // in sections of `section` heads: each head's last tile, then each head's last but one, ...: FlashAttention-3
                    // from 2025 on
  };
  uint64_t concurrent = 1;
  uint64_t l2_bytes = 0;
  Order order = Order::kHeadByHead;
  uint64_t section = 1;
  uint64_t splits = 1;  // parts into which each tile's keys are cut; every part is a tile of its own
};

// Attention cut into tiles of `tile_queries` x `tile_keys`, with every default filled in.
class AttentionTiles {
 public:
  // `packed`: all query heads of one KV head become one head with that many times more rows; row r belongs to query r / (query
  // heads per KV head).
  AttentionTiles(const configs::AttentionShape& shape, uint32_t tile_queries, uint32_t tile_keys, bool packed = false);

  uint64_t batch() const { return batch_; }
  uint64_t heads() const { return heads_; }
  uint64_t kv_heads() const { return kv_heads_; }
  uint64_t queries() const { return queries_; }  // rows if packed
  uint64_t rows_of_query() const { return rows_of_query_; }
  uint64_t keys() const { return keys_; }
  uint32_t head_dim() const { return head_dim_; }
  uint32_t element_bytes() const { return element_bytes_; }
  bool causal() const { return causal_; }

  // Tiles of one head, in order of their queries. Query i of a causal head sees keys up to i + keys - queries.
  const std::vector<QueryTile>& query_tiles() const { return query_tiles_; }
  uint64_t key_blocks() const;  // sum over all query tiles of one head

  // Number of parts that have keys, if the key blocks of the longest tile are cut into `splits` equal parts (the last may be
  // shorter).
  uint64_t parts(uint64_t splits) const;

  // Useful operations of the forward pass: 4 x queries x keys x head_dim for each head, and half of that if causal, as
  // FlashAttention counts them. A causal head with more keys than queries counts 4 x head_dim for each key that each query sees.
  uint64_t forward_flops() const;

  // K or V as a memory stream, read by all query tiles of all heads of each KV head. The DRAM share of the requested bytes follows
  // from reuse distances in L2 (key_reuse.h).
  traces::MemoryStream key_stream(const std::string& name, const KeyReaders& readers) const;

 private:
  std::vector<KeyWalk> walks(const KeyReaders& readers, uint64_t pieces) const;

  uint64_t batch_, heads_, kv_heads_, rows_of_query_, queries_, keys_;
  uint32_t head_dim_, element_bytes_, tile_queries_, tile_keys_;
  bool causal_;
  std::vector<QueryTile> query_tiles_;
};

std::string describe(const configs::AttentionShape& shape);

}  // namespace warpfold::workloads
