#pragma once

#include <cstdint>
#include <vector>

namespace warpfold::workloads {

// A tile of queries on its way through keys and values of a KV head, from piece `end - 1` down to `begin`. All pieces are of one
// size.
struct KeyWalk {
  uint64_t kv_head = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Tiles in the order in which they are handed out, and what L2 can keep.
struct KeyWalks {
  std::vector<KeyWalk> tiles;
  uint64_t concurrent = 1;   // tiles that run at a time: a CTA that has ended one takes the next
  uint64_t piece_bytes = 0;  // K and V together
  uint64_t tile_bytes = 0;   // what a tile moves besides, once: Q and O
  uint64_t l2_bytes = 0;
};

// Pieces over all tiles.
struct KeyReuse {
  uint64_t requested = 0;
  uint64_t distinct = 0;  // of different contents: come from DRAM at least once
  double read_again = 0;  // of the rest, expected to have left L2 since their last use
};

// Counts by walking all running tiles at one pace, a piece a step. Tiles that ask for the same piece in the same step share one
// read. A piece that was used before is still in L2 with the probability that its reuse distance leaves it: the distance is what
// all tiles have brought in since.
//
//   2 KV heads of 2 pieces, 4 tiles each, 6 run at a time, L2 of 2 pieces:
//   step   tiles 0-3   tiles 4, 5   tiles 6, 7
//   0      head 0, 1   head 1, 1                   2 from DRAM, 4 shared
//   1      head 0, 0   head 1, 0                   2 from DRAM, 4 shared
//   2                               head 1, 1      used two steps ago, 2 pieces since: in L2 or not
KeyReuse key_reuse(const KeyWalks& walks);

// Probability that a line has left L2 when so many other bytes have come since its last use. Lines are hashed to sets evenly, and a
// set drops its least recently used: the line is gone when as many lines as the set has ways have come to its set (Hill and Smith,
// "Evaluating Associativity in CPU Caches", 1989; with many sets the number in one has a Poisson distribution).
double probability_of_miss(uint64_t distance_bytes, uint64_t l2_bytes);

}  // namespace warpfold::workloads
