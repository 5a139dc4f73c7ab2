#pragma once

#include <cstdint>

namespace warpfold::sim {

// How a model is split over GPUs: the heads are (tensor), or the queries (sequence).
enum class Parallelism { kTensor, kSequence };

// Memory for the keep-bits that random-number kernels store and attention reads: one bit an element.
struct StoredBits {
  uint64_t batch = 1;
  uint64_t heads = 1;
  uint64_t queries = 1;
  uint64_t keys = 1;
  uint64_t gpus = 1;      // divides the heads or the queries
  uint64_t segments = 1;  // random numbers, GEMM and attention pipelined over so many pieces of the queries

  uint64_t bytes() const;  // of the whole layer
  // Of one GPU. Pipelined, two segments are live at a time: attention reads one while the next is made.
  uint64_t bytes_per_gpu() const;
};

// Whether `gpus` divides what `parallelism` splits.
bool splits_evenly(const StoredBits& bits, Parallelism parallelism);

}  // namespace warpfold::sim
