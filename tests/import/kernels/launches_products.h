// Launches of matrix products.
#pragma once

#include "hgemm.cu"
#include "launch.h"
#include "sgemm_tiled.cu"
#include "wgmma.cu"

namespace kernels {

// C = A B^T of random matrices in row-major order, m x k and n x k: a sample of C against the sums of products.
template <class Element>
std::function<bool(const Memory&)> product_of_rows(Element element, size_t m, size_t n, size_t k) {
  return [=](const Memory& memory) {
    const auto c = memory.after<float>("c");
    return sampled(m * n, [&](size_t i) {
      double sum = 0;
      for (size_t l = 0; l < k; ++l) {
        sum += double{static_cast<float>(element(1)(i / n * k + l))} * static_cast<float>(element(2)(i % n * k + l));
      }
      return near(c[i], sum, 1e-2);
    });
  };
}

// Row-major index of element `i` in memory, for a matrix whose tiles of `rows` x 64 are contiguous, in the
// order of the 128-byte swizzle. The tiles of a row of tiles follow each other.
inline size_t from_swizzled(size_t i, size_t rows, size_t k) {
  const size_t tile = i / (rows * 64), row = i / 64 % rows, chunk = i / 8 % 8 ^ row % 8;
  const size_t blocks = k / 64;
  return (tile / blocks * rows + row) * k + tile % blocks * 64 + chunk * 8 + i % 8;
}

inline void add_products(Launches& all) {
  constexpr int kSide = 1024;
  all.push_back(launch("sgemm_tiled", sgemm_tiled, dim3(kSide / 64, kSide / 64), 256,
                       {array("a", kSide * kSide, uniform(1)), array("b", kSide * kSide, uniform(2)),
                        zeros<float>("c", kSide * kSide), value("n", kSide), value("k", kSide)})
                    .with_shared(8448)
                    .with_flops(2.0 * kSide * kSide * kSide)
                    .checked([](const Memory& m) {
                      const auto c = m.after<float>("c");
                      return sampled(c.size(), [&](size_t i) {
                        double sum = 0;
                        for (size_t l = 0; l < kSide; ++l)
                          sum += double{uniform(1)(i / kSide * kSide + l)} * uniform(2)(l * kSide + i % kSide);
                        return near(c[i], sum, 1e-3);
                      });
                    }));

  constexpr int kM = 2048, kN = 2048, kK = 1024;
  constexpr double kFlops = 2.0 * kM * kN * kK;
  const auto half = [](uint64_t seed) { return [=](size_t i) { return __float2half(uniform(seed)(i)); }; };
  const auto of_halves = [=] {
    return std::vector<Argument>{array("a", kM * kK, half(1)), array("b", kN * kK, half(2)), zeros<float>("c", kM * kN),
                                 value("n", kN), value("k", kK)};
  };
  all.push_back(launch("hgemm_mma", hgemm_mma, dim3(kN / 128, kM / 128), 256, of_halves())
                    .with_shared(20480)
                    .with_flops(kFlops)
                    .checked(product_of_rows(half, kM, kN, kK)));
  all.push_back(launch("hgemm_async", hgemm_async, dim3(kN / 128, kM / 128), 256, of_halves())
                    .with_shared(40960)
                    .with_flops(kFlops)
                    .checked(product_of_rows(half, kM, kN, kK)));

  const auto narrow = [](uint64_t seed) { return [=](size_t i) { return __float2bfloat16(uniform(seed)(i)); }; };
  const auto of_rows = [=] {
    return std::vector<Argument>{array("a", kM * kK, narrow(1)), array("b", kN * kK, narrow(2)), zeros<float>("c", kM * kN),
                                 value("n", kN), value("k", kK)};
  };
  const auto of_tiles = [=] {
    return std::vector<Argument>{array("a", kM * kK, [=](size_t i) { return narrow(1)(from_swizzled(i, 64, kK)); }),
                                 array("b", kN * kK, [=](size_t i) { return narrow(2)(from_swizzled(i, 128, kK)); }),
                                 zeros<float>("c", kM * kN), value("n", kN), value("k", kK)};
  };
  all.push_back(launch("wgmma_async", wgmma_async, dim3(kN / 128, kM / 64), 128, of_rows())
                    .with_shared(0, 3 * 24576)
                    .with_flops(kFlops)
                    .checked(product_of_rows(narrow, kM, kN, kK)));
  all.push_back(launch("wgmma_bulk", wgmma_bulk, dim3(kN / 128, kM / 64), 160, of_tiles())
                    .with_shared(0, 4 * 24576 + 64)
                    .with_flops(kFlops)
                    .checked(product_of_rows(narrow, kM, kN, kK)));
  all.push_back(launch("wgmma_pair", wgmma_pair, dim3(kN / 128, kM / 128), 384, of_tiles())
                    .with_shared(0, 4 * 32768 + 64)
                    .with_registers(168)
                    .with_flops(kFlops)
                    .checked(product_of_rows(narrow, kM, kN, kK)));
  // Described only: the program is built for a GPU without tensor memory.
  all.push_back(launch("tcgen05_mma", static_cast<decltype(&wgmma_async)>(nullptr), dim3(kN / 128, kM / 128), 128, of_rows(), false)
                    .with_shared(32780)
                    .with_tensor_memory(128)
                    .with_flops(kFlops));
}

}  // namespace kernels
