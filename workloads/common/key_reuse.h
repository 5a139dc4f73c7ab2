#pragma once

#include <cstdint>
#include <vector>

namespace warpfold::workloads {

// A tile of queries that reads the keys and values of one KV head, from piece `end - 1` down to `begin`. All pieces have equal
// sizes.
struct KeyWalk {
  uint64_t kv_head = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Tiles in launch order, and the capacity of L2.
struct KeyWalks {
  std::vector<KeyWalk> tiles;
  uint64_t concurrent = 1;   // tiles that run at a time; a CTA that ends one tile takes the next
  uint64_t piece_bytes = 0;  // K and V together
  uint64_t tile_bytes = 0;   // moved once per tile, beside keys and values: Q and O
  uint64_t l2_bytes = 0;
};

// Counts of pieces, summed over all tiles.
struct KeyReuse {
  uint64_t requested = 0;
  uint64_t distinct = 0;  // different pieces: DRAM delivers each at least once
  double read_again = 0;  // expected number of further DRAM reads, of pieces that have left L2 since their last use
};

// Estimates reuse in L2: all running tiles advance at the same pace, one piece per step. Tiles that ask for the same piece in the
// same step share one read. A piece that was used before is still in L2 with a probability given by its reuse distance: the bytes
// that all tiles have brought in since its last use.
//
//   2 KV heads of 2 pieces, 4 tiles each, 6 run at a time, L2 of 2 pieces:
//   step   tiles 0-3   tiles 4, 5   tiles 6, 7
//   0      head 0, 1   head 1, 1                   2 from DRAM, 4 shared
//   1      head 0, 0   head 1, 0                   2 from DRAM, 4 shared
//   2                               head 1, 1      used two steps ago, 2 pieces since: in L2 or not
KeyReuse key_reuse(const KeyWalks& walks);

// Probability that a line has left L2 after `distance_bytes` of other data have arrived since its last use. Lines are hashed evenly
// over the sets, and a set evicts its least recently used line. A line is therefore evicted once as many lines as the set has ways
// have arrived in its set (Hill and Smith, "Evaluating Associativity in CPU Caches", 1989). With many sets, the number of arrivals
// in one set has a Poisson distribution.
double probability_of_miss(uint64_t distance_bytes, uint64_t l2_bytes);

}  // namespace warpfold::workloads
