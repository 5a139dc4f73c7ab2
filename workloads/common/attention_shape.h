#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "configs/scenario.pb.h"
#include "traces/kernel.h"
#include "workloads/common/key_reuse.h"

namespace warpfold::workloads {

// Query tiles of one head that work through the same number of key blocks.
struct QueryTile {
  uint64_t full_blocks = 0;    // key blocks without a masked element
  uint64_t masked_blocks = 0;  // key blocks that causality or the end of the sequence cuts through
  bool operator==(const QueryTile&) const = default;
};

// Which tiles run at a time, and in which order a launch hands them out.
struct KeyReaders {
  enum class Order : uint8_t {
    kHeadByHead,    // the tiles of a head, of the next head, of the next sequence: FlashAttention-3
    kBatchByBatch,  // the tiles of a head, of the same head in the next sequence, of the next head: FlashAttention-2
    kLongestFirst,  // `section` heads at a time: the last tile of each, the one before of each: FlashAttention-3 from 2025 on
  };
  uint64_t concurrent = 1;
  uint64_t l2_bytes = 0;
  Order order = Order::kHeadByHead;
  uint64_t section = 1;
  uint64_t splits = 1;  // parts of a tile's keys, a tile each
};

// Attention cut into tiles of `tile_queries` x `tile_keys`, with every default filled in.
class AttentionTiles {
 public:
  // `packed`: the heads of a KV head are one head, of as many times more queries; row r is of query r / heads of a KV head.
  AttentionTiles(const configs::AttentionShape& shape, uint32_t tile_queries, uint32_t tile_keys, bool packed = false);

  uint64_t batch() const { return batch_; }
  uint64_t heads() const { return heads_; }
  uint64_t kv_heads() const { return kv_heads_; }
  uint64_t queries() const { return queries_; }  // rows, where packed
  uint64_t rows_of_query() const { return rows_of_query_; }
  uint64_t keys() const { return keys_; }
  uint32_t head_dim() const { return head_dim_; }
  uint32_t element_bytes() const { return element_bytes_; }
  bool causal() const { return causal_; }

  // Tiles of one head, from the first query on. Query i of a causal head sees keys up to i + keys - queries.
  const std::vector<QueryTile>& query_tiles() const { return query_tiles_; }
  uint64_t key_blocks() const;  // of all query tiles of one head

  // Parts with keys, of so many that the key blocks of the tile with the most are cut into, equally but for the last.
  uint64_t parts(uint64_t splits) const;

  // Useful operations of the forward pass: 4 x queries x keys x head_dim for each head, half of it where causal, as FlashAttention
  // counts them; with more keys than queries 4 x head_dim for each key that a query sees.
  uint64_t forward_flops() const;

  // K or V, which all query tiles of all heads of a KV head read: what of the requested bytes comes from DRAM, from the reuse
  // distances in L2 (key_reuse.h).
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
