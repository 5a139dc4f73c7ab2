#pragma once

#include <cstdint>

namespace warpfold::sim {

// How a model is split over GPUs: by heads (tensor) or by queries (sequence).
enum class Parallelism { kTensor, kSequence };

// Memory for the keep-bits that random-number kernels store and attention reads, one bit per element.
struct StoredBits {
  uint64_t batch = 1;
  uint64_t heads = 1;
  uint64_t queries = 1;
  uint64_t keys = 1;
  uint64_t gpus = 1;      // number of GPUs that the heads or the queries are split over
  uint64_t segments = 1;  // number of pieces of the queries over which random numbers, GEMM and attention are pipelined

  uint64_t bytes() const;  // bytes of the whole layer
  // Returns the bytes of one GPU. With pipelining two segments are live at a time: attention reads one while the next
  // is generated.
  uint64_t bytes_per_gpu() const;
};

// True if `gpus` divides the heads (tensor) or the queries (sequence).
bool splits_evenly(const StoredBits& bits, Parallelism parallelism);

}  // namespace warpfold::sim
