#pragma once

#include <cstdint>

// Philox4x32 (Salmon et al., SC 2011) and its keep bits: the computation of a dropout kernel.
namespace silicon {

struct Words {
  std::uint32_t x, y, z, w;
};

template <int kRounds>
__host__ __device__ inline Words philox(Words counter, std::uint32_t key0, std::uint32_t key1) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int r = 0; r < kRounds; ++r) {
    const std::uint64_t first = std::uint64_t{0xD2511F53U} * counter.x;
    const std::uint64_t second = std::uint64_t{0xCD9E8D57U} * counter.z;
    counter = {static_cast<std::uint32_t>(second >> 32) ^ counter.y ^ key0, static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32) ^ counter.w ^ key1, static_cast<std::uint32_t>(first)};
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return counter;
}

// Keep bits of one word: 1, 2 or 4 bits. Each is set if `kBits` random bits do not exceed the threshold.
template <int kBits>
__host__ __device__ inline std::uint32_t keep_bits(std::uint32_t word, std::uint32_t threshold) {
  std::uint32_t kept = 0;
  for (int i = 0; i < 32 / kBits; ++i) {
    const std::uint32_t value = kBits == 32 ? word : word >> (i * kBits % 32) & ((1ULL << kBits) - 1);
    kept |= (value <= threshold ? 1U : 0U) << i;
  }
  return kept;
}

// 32 keep bits of one thread: 8 calls with 32-bit thresholds, 4 with 16-bit, 2 with 8-bit thresholds.
template <int kRounds, int kBits>
__host__ __device__ inline std::uint32_t keep_word(std::uint32_t thread, std::uint32_t pass, std::uint32_t threshold) {
  constexpr int kOfCall = 4 * 32 / kBits;
  std::uint32_t kept = 0;
  for (int call = 0; call < 32 / kOfCall; ++call) {
    const Words words = philox<kRounds>({thread, pass, static_cast<std::uint32_t>(call), 0}, 0x1234567U, 0x89abcdeU);
    std::uint32_t bits = keep_bits<kBits>(words.x, threshold);
    bits |= keep_bits<kBits>(words.y, threshold) << (kOfCall / 4);
    bits |= keep_bits<kBits>(words.z, threshold) << (2 * kOfCall / 4);
    bits |= keep_bits<kBits>(words.w, threshold) << (3 * kOfCall / 4);
    kept |= bits << (call * kOfCall);
  }
  return kept;
}

}  // namespace silicon
