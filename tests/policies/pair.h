#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/policies/support.h"
#include "tests/workloads/kernels.h"

// Kernels for testing policies: a GEMM, random bits beside it, and a kernel that reads both.
namespace warpfold::policies {

inline constexpr const char* kGemm =
    "m: 1024 n: 1536 k: 512 type: FP8 output_type: BF16 cluster_m: 1 cluster_n: 1 tile_m: 128 tile_n: 128 tile_k: 128 persistent: "
    "true "
    "schedule: COOPERATIVE registers_per_thread: 160 shared_memory_limit_bytes: 216064";
inline constexpr const char* kBits =
    "heads: 4 queries: 1024 keys: 1024 rounds: 7 threshold_bits: 32 threads_per_cta: 128 calls_per_thread: 64";

inline std::string gemm(const std::string& name, const std::string& fields, const std::string& shape = kGemm) {
  return "kernel { name: \"" + name + "\" " + fields + " hopper_gemm { " + shape + " } }";
}
inline std::string rng(const std::string& fields, const std::string& shape = kBits) {
  return "kernel { name: \"rng\" " + fields + " philox { " + shape + " } }";
}

inline std::string attention(const std::string& fields, const std::string& shape = "") {
  return "kernel { name: \"attention\" " + fields +
         " flash_attention_3 { shape { heads: 4 queries: 1024 head_dim: 128 type: BF16 dropout: STORED_BITS " + shape + "} } }";
}

// A GEMM, random bits beside it, and a GEMM that needs both, in place of attention.
inline void add_three(Bench& bench) {
  bench.add(gemm("qkv", "stream: 0 priority: 1")).add(rng("stream: 1")).add(gemm("reader", "stream: 0 after: \"rng\""));
}

inline std::vector<std::string> names(const Plan& plan) {
  std::vector<std::string> found;
  for (const PlannedKernel& each : plan.kernels) found.push_back(each.kernel.name);
  return found;
}

inline std::vector<std::string> waits_for(const Plan& plan, const std::string& name) {
  std::vector<std::string> found;
  for (const PlannedKernel& each : plan.kernels) {
    if (each.kernel.name != name) continue;
    for (const int other : each.after) found.push_back(plan.kernels[other].kernel.name);
  }
  std::ranges::sort(found);
  return found;
}

inline uint64_t bytes(const traces::Kernel& kernel, const std::string& stream) {
  return workloads::bytes_by_stream(kernel)[stream];
}

}  // namespace warpfold::policies
