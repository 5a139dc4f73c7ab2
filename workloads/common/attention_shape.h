#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// Query tiles of one head that work through the same number of key blocks.
struct QueryTile {
  uint64_t full_blocks = 0;    // key blocks without a masked element
  uint64_t masked_blocks = 0;  // key blocks that causality or the end of the sequence cuts through
  bool operator==(const QueryTile&) const = default;
};

// Attention cut into tiles of `tile_queries` x `tile_keys`, with every default filled in.
class AttentionTiles {
 public:
  AttentionTiles(const configs::AttentionShape& shape, uint32_t tile_queries, uint32_t tile_keys);

  uint64_t batch() const { return batch_; }
  uint64_t heads() const { return heads_; }
  uint64_t kv_heads() const { return kv_heads_; }
  uint64_t queries() const { return queries_; }
  uint64_t keys() const { return keys_; }
  uint32_t head_dim() const { return head_dim_; }
  uint32_t element_bytes() const { return element_bytes_; }
  bool causal() const { return causal_; }

  // Tiles of one head, from the first query on. Query i of a causal head sees keys up to i + keys - queries.
  const std::vector<QueryTile>& query_tiles() const { return query_tiles_; }
  uint64_t key_blocks() const;  // of all query tiles of one head

  // Useful operations of the forward pass: 4 x queries x keys x head_dim for each head, half of it where causal, as FlashAttention
  // counts them.
  uint64_t forward_flops() const;

  // K or V: every query tile reads all it needs of its head's; from DRAM they come once, as long as those of the heads that run
  // at a time stay in L2 (`l2_bytes`), which `concurrent_tiles` query tiles do. Rounded down to a fraction of requested bytes.
  traces::MemoryStream key_stream(const std::string& name, uint64_t concurrent_tiles, uint64_t l2_bytes) const;

 private:
  uint64_t batch_, heads_, kv_heads_, queries_, keys_;
  uint32_t head_dim_, element_bytes_, tile_queries_, tile_keys_;
  bool causal_;
  std::vector<QueryTile> query_tiles_;
};

std::string describe(const configs::AttentionShape& shape);

}  // namespace warpfold::workloads
