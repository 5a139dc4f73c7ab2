#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// softmax(Q K^T) V as the FlashAttention-3 library runs it on Hopper. A producer warp copies Q, K and V by TMA. Two consumer
// warpgroups (three at head_dim 64) of 64 query rows each take turns on the tensor cores.
//
//   warp 0            producer        Q of a tile, then K and V blocks into two rings
//   warps 1-3         producer_idle   give their registers away and end
//   warps 4-7, 8-11   consumers       wgmma, softmax, wgmma, epilogue
//
// Heads that share keys and values have separate tiles, as in the library's first release, and L2 serves the shared data; or their
// queries are packed into the rows of one tile. With splits, each part of a tile's keys has a CTA, which leaves FP32 sums to a
// kernel with `combine`. Keys in pages are copied by the producer's four warps.
Expected<traces::Kernel> make_flash_attention_3(const configs::FlashAttention3& attention, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
