// Launches of kernels whose threads share data: reductions, scans, sorts, histograms, normalisations, transforms.
#pragma once

#include <algorithm>

#include "atomic_one.cu"
#include "bitonic_sort.cu"
#include "block_reduce.cu"
#include "cluster_exchange.cu"
#include "convolve_1d.cu"
#include "dot_int8.cu"
#include "fft_shared.cu"
#include "histogram.cu"
#include "launch.h"
#include "layernorm.cu"
#include "radix_histogram.cu"
#include "rmsnorm.cu"
#include "scan.cu"
#include "softmax.cu"
#include "stencil_3d.cu"
#include "tile_reduce.cu"
#include "tree_reduce.cu"

namespace kernels {

inline void add_reductions(Launches& all) {
  constexpr int kNumbers = 1 << 24;
  all.push_back(launch("block_reduce", block_reduce, 1056, 256,
                       {array("x", kNumbers, uniform(1)), zeros<float>("sums", 1056), value("n", kNumbers)})
                    .with_shared(32)
                    .checked([](const Memory& m) {
                      double sum = 0, expected = 0;
                      for (const float of_cta : m.after<float>("sums")) sum += of_cta;
                      for (int i = 0; i < kNumbers; ++i) expected += m.before<float>("x")[i];
                      return std::abs(sum - expected) < 1;
                    }));
  all.push_back(launch("tree_reduce", tree_reduce, kNumbers / 1024, 256,
                       {array("x", kNumbers, uniform(1)), zeros<float>("maxima", kNumbers / 1024)})
                    .with_shared(1024)
                    .checked([](const Memory& m) {
                      const auto maxima = m.after<float>("maxima");
                      return sampled(maxima.size(), [&](size_t i) {
                        const float* from = m.before<float>("x") + i * 1024;
                        return maxima[i] == *std::max_element(from, from + 1024);
                      });
                    }));
  all.push_back(launch("tile_reduce", tile_reduce, kNumbers / 256, 256,
                       {array("x", kNumbers, below(1, 1000)), zeros<int>("sums", kNumbers / 16), zeros<int>("most", kNumbers / 16),
                        value("n", kNumbers)})
                    .checked([](const Memory& m) {
                      const auto sums = m.after<int>("sums"), most = m.after<int>("most");
                      return sampled(sums.size(), [&](size_t i) {
                        const int* from = m.before<int>("x") + i * 16;
                        int sum = 0;
                        for (int j = 0; j < 16; ++j) sum += from[j];
                        return sums[i] == sum && most[i] == *std::max_element(from, from + 16);
                      });
                    }));
  all.push_back(
      launch("atomic_one", atomic_one, 1024, 256, {array("x", 1 << 18, uniform(1)), zeros<float>("sum", 1), value("n", 1 << 18)})
          .checked([](const Memory& m) {
            double expected = 0;
            for (int i = 0; i < 1 << 18; ++i) expected += m.before<float>("x")[i];
            return std::abs(m.after<float>("sum")[0] - expected) < 1;
          }));
  const auto byte = [](uint64_t seed) { return [=](size_t i) { return static_cast<signed char>(random_bits(seed, i)); }; };
  all.push_back(
      launch("dot_int8", dot_int8, 1056, 256,
             {array("x", 1 << 26, byte(1)), array("y", 1 << 26, byte(2)), zeros<int>("sum", 1), value("vectors", 1 << 22)})
          .checked([](const Memory& m) {
            uint32_t expected = 0;
            for (int i = 0; i < 1 << 26; ++i) {
              expected += static_cast<uint32_t>(m.before<signed char>("x")[i] * m.before<signed char>("y")[i]);
            }
            return m.after<uint32_t>("sum")[0] == expected;
          }));
  all.push_back(launch("scan_warps", scan_warps, kNumbers / 256, 256,
                       {array("x", kNumbers, below(1, 1000)), zeros<int>("prefix", kNumbers), value("n", kNumbers)})
                    .with_shared(32)
                    .checked([](const Memory& m) {
                      const auto prefix = m.after<int>("prefix");
                      return sampled(prefix.size(), [&](size_t i) {
                        int sum = 0;
                        for (size_t j = i / 256 * 256; j <= i; ++j) sum += m.before<int>("x")[j];
                        return prefix[i] == sum;
                      });
                    }));
  all.push_back(launch("scan_blelloch", scan_blelloch, kNumbers / 2 / 512, 256,
                       {array("x", kNumbers / 2, uniform(1)), zeros<float>("prefix", kNumbers / 2)})
                    .with_shared(2048)
                    .checked([](const Memory& m) {
                      const auto prefix = m.after<float>("prefix");
                      return sampled(prefix.size(), [&](size_t i) {
                        double sum = 0;
                        for (size_t j = i / 512 * 512; j < i; ++j) sum += m.before<float>("x")[j];
                        return near(prefix[i], sum, 1e-4);
                      });
                    }));
}

inline void add_sorts(Launches& all) {
  constexpr int kKeys = 1 << 24;
  all.push_back(
      launch("bitonic_sort", bitonic_sort, 4096, 512, {array("keys", 1 << 22, bits(1)), zeros<unsigned>("in_order", 1 << 22)})
          .with_shared(4096)
          .with_note("keys: random: of the exchanges half are made.")
          .checked([](const Memory& m) {
            const auto in_order = m.after<unsigned>("in_order");
            return sampled(4096, [&](size_t cta) {
              const unsigned* from = m.before<unsigned>("keys") + cta * 1024;
              std::vector<unsigned> expected(from, from + 1024);
              std::sort(expected.begin(), expected.end());
              return std::equal(expected.begin(), expected.end(), in_order.begin() + cta * 1024);
            });
          }));
  all.push_back(launch("radix_histogram", radix_histogram, kKeys / 4096, 256,
                       {array("keys", kKeys, bits(1)), zeros<unsigned>("counts", kKeys / 16), value("shift", 8)})
                    .with_shared(1024)
                    .with_note("keys: random: lanes add to random ones of 256 bins.")
                    .checked([](const Memory& m) {
                      const auto counts = m.after<unsigned>("counts");
                      return sampled(4096, [&](size_t cta) {
                        std::vector<unsigned> expected(256);
                        for (int i = 0; i < 4096; ++i) ++expected[m.before<unsigned>("keys")[cta * 4096 + i] >> 8 & 255];
                        for (size_t digit = 0; digit < 256; ++digit) {
                          if (counts[digit * 4096 + cta] != expected[digit]) return false;
                        }
                        return true;
                      });
                    }));
  const auto counted = [](const char* of, size_t n, unsigned mask, bool is_byte) {
    return [=](const Memory& m) {
      const auto counts = m.after<unsigned>("counts");
      std::vector<unsigned> expected(counts.size());
      for (size_t i = 0; i < n; ++i) ++expected[is_byte ? m.before<unsigned char>(of)[i] : m.before<unsigned>(of)[i] & mask];
      return counts == expected;
    };
  };
  all.push_back(launch("histogram_shared", histogram_shared, 1056, 256,
                       {array("x", 1 << 24, bits(1)), zeros<unsigned>("counts", 256), value("quads", 1 << 24)})
                    .with_shared(1024)
                    .with_note("x: random bytes: lanes add to random ones of 256 bins.")
                    .checked(counted("x", 1 << 26, 255, true)));
  all.push_back(launch("histogram_global", histogram_global, (1 << 22) / 256, 256,
                       {array("x", 1 << 22, bits(1)), zeros<unsigned>("counts", 1 << 16), value("n", 1 << 22)})
                    .with_note("x: random: a warp adds to 32 sectors of counts.")
                    .checked(counted("x", 1 << 22, 0xffff, false)));
}

inline void add_rows(Launches& all) {
  constexpr int kNumbers = 1 << 24;
  all.push_back(
      launch("softmax_rows", softmax_rows, 4096, 128,
             {array("x", kNumbers, uniform(1, -4, 4)), zeros<float>("y", kNumbers), value("rows", 16384), value("columns", 1024)})
          .checked([](const Memory& m) {
            const auto y = m.after<float>("y");
            return sampled(16384, [&](size_t row) {
              const float* x = m.before<float>("x") + row * 1024;
              double sum = 0;
              for (int i = 0; i < 1024; ++i) sum += std::exp(double{x[i]});
              const size_t at = row % 1024;
              return near(1000 * y[row * 1024 + at], 1000 * std::exp(double{x[at]}) / sum, 1e-3);
            });
          }));
  all.push_back(launch("layernorm", layernorm, 8192, 256,
                       {array("x", kNumbers, uniform(1)), array("gain", 2048, uniform(2)), array("bias", 2048, uniform(3)),
                        zeros<float>("y", kNumbers), value("epsilon", 1e-5f)})
                    .with_shared(32)
                    .checked([](const Memory& m) {
                      const auto y = m.after<float>("y");
                      return sampled(8192, [&](size_t row) {
                        const float* x = m.before<float>("x") + row * 2048;
                        double sum = 0, squares = 0;
                        for (int i = 0; i < 2048; ++i) sum += x[i], squares += double{x[i]} * x[i];
                        const double mean = sum / 2048, scale = 1 / std::sqrt(squares / 2048 - mean * mean + 1e-5);
                        const size_t at = row % 2048;
                        return near(y[row * 2048 + at], (x[at] - mean) * scale * uniform(2)(at) + uniform(3)(at), 1e-3);
                      });
                    }));
  const auto narrow = [](uint64_t seed) { return [=](size_t i) { return __float2bfloat16(uniform(seed)(i)); }; };
  all.push_back(launch("rmsnorm", rmsnorm, 8192, 256,
                       {array("x", 2 * kNumbers, narrow(1)), array("gain", 4096, narrow(2)),
                        zeros<__nv_bfloat16>("y", 2 * kNumbers), value("pairs", 2048), value("epsilon", 1e-5f)})
                    .with_shared(36)
                    .checked([](const Memory& m) {
                      const auto y = m.after<__nv_bfloat16>("y");
                      return sampled(8192, [&](size_t row) {
                        const __nv_bfloat16* x = m.before<__nv_bfloat16>("x") + row * 4096;
                        double squares = 0;
                        for (int i = 0; i < 4096; ++i) squares += double{__bfloat162float(x[i])} * __bfloat162float(x[i]);
                        const size_t at = row % 4096;
                        const double scale =
                            1 / std::sqrt(squares / 4096 + 1e-5) * __bfloat162float(m.before<__nv_bfloat16>("gain")[at]);
                        return near(__bfloat162float(y[row * 4096 + at]), __bfloat162float(x[at]) * scale, 1e-2);
                      });
                    }));
}

inline void add_neighbours(Launches& all) {
  constexpr int kNumbers = 1 << 24;
  all.push_back(launch("stencil_3d", stencil_3d, dim3(8, 32, 4), dim3(32, 8),
                       {array("in", kNumbers, uniform(1)), zeros<float>("out", kNumbers), value("nx", 256), value("ny", 256),
                        value("nz", 256), value("planes", 64)})
                    .with_shared(1360)
                    .checked([](const Memory& m) {
                      const auto out = m.after<float>("out");
                      return sampled(out.size(), [&](size_t i) {
                        const size_t x = i % 256, y = i / 256 % 256, z = i / 65536;
                        if (x == 0 || y == 0 || z == 0 || x == 255 || y == 255 || z == 255) return out[i] == 0;
                        const auto in = [](size_t at) { return double{uniform(1)(at)}; };
                        const double around = in(i - 1) + in(i + 1) + in(i - 256) + in(i + 256) + in(i - 65536) + in(i + 65536);
                        return near(out[i], 0.5 * in(i) + around / 12, 1e-5);
                      });
                    }));
  all.push_back(launch("convolve_1d", convolve_1d, kNumbers / 256, 256,
                       {array("x", kNumbers, uniform(1)), zeros<float>("y", kNumbers), value("n", kNumbers)})
                    .with_shared(1088)
                    .prepared([] {
                      float taps[17];
                      for (int i = 0; i < 17; ++i) taps[i] = 1.0f / static_cast<float>(1 + i);
                      require(cudaMemcpyToSymbol(convolve_taps, taps, sizeof(taps)), "cudaMemcpyToSymbol");
                    })
                    .checked([](const Memory& m) {
                      const auto y = m.after<float>("y");
                      return sampled(y.size(), [&](size_t i) {
                        double sum = 0;
                        for (int tap = 0; tap < 17; ++tap) {
                          const auto at = static_cast<int64_t>(i) + tap - 8;
                          if (at >= 0 && at < kNumbers) sum += uniform(1)(static_cast<size_t>(at)) / (1.0 + tap);
                        }
                        return near(y[i], sum, 1e-5);
                      });
                    }));
  all.push_back(launch("fft_shared", fft_shared, 4096, 256,
                       {array("in", 1 << 23, uniform(1)), zeros<float>("out", 1 << 23), value("sign", -1.0f)})
                    .with_shared(8192)
                    .checked([](const Memory& m) {
                      const auto out = m.after<float2>("out");
                      return sampled(4096, [&](size_t cta) {
                        const float2* in = m.before<float2>("in") + cta * 1024;
                        const size_t frequency = cta * 37 % 1024;
                        double real = 0, imaginary = 0;
                        for (size_t i = 0; i < 1024; ++i) {
                          const double angle = -2 * 3.14159265358979 * static_cast<double>(frequency * i % 1024) / 1024;
                          real += in[i].x * std::cos(angle) - in[i].y * std::sin(angle);
                          imaginary += in[i].x * std::sin(angle) + in[i].y * std::cos(angle);
                        }
                        const float2 point = out[cta * 1024 + frequency];
                        return near(point.x, real, 1e-2) && near(point.y, imaginary, 1e-2);
                      });
                    }));
  all.push_back(
      launch("cluster_exchange", cluster_exchange, 4096, 256, {array("x", kNumbers, uniform(1)), zeros<float>("sums", kNumbers)})
          .with_cluster(2)
          .with_shared(16384)
          .checked([](const Memory& m) {
            const auto sums = m.after<float>("sums");
            return sampled(sums.size(), [&](size_t i) {
              const size_t cta = i / 4096, quad = i % 4096 / 4;
              return sums[i] == uniform(1)(i) + uniform(1)((cta ^ 1) * 4096 + (1023 - quad) * 4 + i % 4);
            });
          }));
}

inline void add_blocks(Launches& all) {
  add_reductions(all);
  add_sorts(all);
  add_rows(all);
  add_neighbours(all);
}

}  // namespace kernels
