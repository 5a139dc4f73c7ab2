// Launches of kernels that stream through memory.
#pragma once

#include "bit_tricks.cu"
#include "column_sum.cu"
#include "conversions.cu"
#include "divide_sqrt.cu"
#include "gather.cu"
#include "gelu.cu"
#include "grid_stride.cu"
#include "half2_axpy.cu"
#include "launch.h"
#include "narrow_floats.cu"
#include "parameters.cu"
#include "stencil_2d.cu"
#include "symbols.cu"
#include "texture_blur.cu"
#include "transpose.cu"
#include "vector_add.cu"
#include "xor_partner.cu"

namespace kernels {

constexpr int kStream = 1 << 24;

inline uint64_t blur_texture() {
  std::vector<float> pixels(2048 * 2048);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = uniform(1)(i);
  cudaArray_t image = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  require(cudaMallocArray(&image, &format, 2048, 2048), "cudaMallocArray");
  require(cudaMemcpy2DToArray(image, 0, 0, pixels.data(), 2048 * 4, 2048 * 4, 2048, cudaMemcpyHostToDevice), "cudaMemcpy2DToArray");
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = image;
  cudaTextureDesc texture = {};
  texture.addressMode[0] = texture.addressMode[1] = cudaAddressModeClamp;
  texture.filterMode = cudaFilterModePoint;
  texture.readMode = cudaReadModeElementType;
  cudaTextureObject_t object = 0;
  require(cudaCreateTextureObject(&object, &resource, &texture, nullptr), "cudaCreateTextureObject");
  return object;
}

inline void add_streams(Launches& all) {
  all.push_back(launch("vector_add", vector_add, kStream / 1024, 256,
                       {array("x", kStream, uniform(1)), array("y", kStream, uniform(2)), zeros<float>("sum", kStream),
                        value("quads", kStream / 4)})
                    .checked([](const Memory& m) {
                      const auto sum = m.after<float>("sum");
                      return sampled(kStream, [&](size_t i) { return sum[i] == uniform(1)(i) + uniform(2)(i); });
                    }));

  all.push_back(launch("grid_stride", grid_stride, 264, 512,
                       {array("x", kStream, uniform(1)), array("y", kStream, uniform(2)), value("a", 0.25f),
                        value("n", static_cast<size_t>(kStream))})
                    .checked([](const Memory& m) {
                      const auto y = m.after<float>("y");
                      return sampled(kStream,
                                     [&](size_t i) { return near(y[i], 0.25 * uniform(1)(i) + 0.5 * uniform(2)(i), 1e-6); });
                    }));

  all.push_back(launch("xor_partner", xor_partner, 16384, 256,
                       {array("x", kStream, uniform(1)), zeros<float>("sums", kStream), value("bit", 1024u)})
                    .checked([](const Memory& m) {
                      const auto sums = m.after<float>("sums");
                      return sampled(kStream, [&](size_t i) { return sums[i] == uniform(1)(i) + uniform(1)(i ^ 1024 * 1024); });
                    }));

  all.push_back(launch("stencil_2d", stencil_2d, dim3(128, 512), dim3(32, 8),
                       {array("in", kStream, uniform(1)), zeros<float>("out", kStream), value("width", 4096), value("height", 4096),
                        value("weight", 0.2f)})
                    .checked([](const Memory& m) {
                      const auto out = m.after<float>("out");
                      const auto in = [](size_t i) { return double{uniform(1)(i)}; };
                      return sampled(kStream, [&](size_t i) {
                        const size_t x = i % 4096, y = i / 4096;
                        if (x == 0 || y == 0 || x == 4095 || y == 4095) return out[i] == uniform(1)(i);
                        return near(out[i], in(i) + 0.2 * (in(i - 1) + in(i + 1) + in(i - 4096) + in(i + 4096) - 4 * in(i)), 1e-5);
                      });
                    }));

  // Points in a square image, whose neighbours beyond an edge are those at the edge.
  all.push_back(
      launch("texture_blur", texture_blur, dim3(64, 256), dim3(32, 8),
             {value("image", uint64_t{0}), zeros<float>("out", 2048 * 2048), value("width", 2048), value("height", 2048)})
          .with_note("image: a texture of 2,048 x 2,048 floats in a CUDA array, point sampled, clamped; a warp reads 32 x 1 "
                     "points and their neighbours.")
          .with_texture(blur_texture)
          .checked([](const Memory& m) {
            const auto out = m.after<float>("out");
            const auto in = [](int x, int y) {
              return double{uniform(1)(std::min(std::max(y, 0), 2047) * 2048 + std::min(std::max(x, 0), 2047))};
            };
            return sampled(out.size(), [&](size_t i) {
              const int x = i % 2048, y = i / 2048;
              return near(out[i], 0.2 * (in(x, y) + in(x - 1, y) + in(x + 1, y) + in(x, y - 1) + in(x, y + 1)), 1e-5);
            });
          }));

  const auto transposed = [](const Memory& m) {
    const auto out = m.after<float>("out");
    return sampled(kStream, [&](size_t i) { return out[i] == uniform(1)(i % 4096 * 4096 + i / 4096); });
  };
  all.push_back(launch("transpose_shared", transpose_shared, dim3(128, 128), dim3(32, 8),
                       {array("in", kStream, uniform(1)), zeros<float>("out", kStream), value("n", 4096)})
                    .with_shared(4224)
                    .checked(transposed));
  all.push_back(launch("transpose_naive", transpose_naive, dim3(128, 512), dim3(32, 8),
                       {array("in", kStream, uniform(1)), zeros<float>("out", kStream), value("n", 4096)})
                    .checked(transposed));

  all.push_back(
      launch("column_sum", column_sum, dim3(16, 64), 256,
             {array("x", kStream, uniform(1)), zeros<float>("sums", 64 * 4096), value("columns", 4096), value("rows_of_chunk", 64)})
          .checked([](const Memory& m) {
            const auto sums = m.after<float>("sums");
            return sampled(sums.size(), [&](size_t i) {
              double sum = 0;
              for (size_t row = 0; row < 64; ++row) sum += uniform(1)((i / 4096 * 64 + row) * 4096 + i % 4096);
              return near(sums[i], sum, 1e-5);
            });
          }));

  constexpr int kIndices = 1 << 22;
  all.push_back(launch("gather", gather, kIndices / 256, 256,
                       {array("x", kIndices, uniform(1)), array("index", kIndices, below(2, kIndices)), zeros<float>("y", kIndices),
                        value("n", kIndices)})
                    .with_note("index: uniformly random: a warp touches 32 sectors of x.")
                    .checked([](const Memory& m) {
                      const auto y = m.after<float>("y");
                      return sampled(y.size(), [&](size_t i) { return y[i] == uniform(1)(below(2, kIndices)(i)); });
                    }));
  const auto permuted = [](size_t i) { return static_cast<int>(i * 2654435761 % kIndices); };
  all.push_back(launch("scatter", scatter, kIndices / 256, 256,
                       {array("x", kIndices, uniform(1)), array("index", kIndices, permuted), zeros<float>("y", kIndices),
                        value("n", kIndices)})
                    .with_note("index: a permutation without locality: a warp touches 32 sectors of y.")
                    .checked([=](const Memory& m) {
                      const auto y = m.after<float>("y");
                      return sampled(y.size(), [&](size_t i) { return y[permuted(i)] == uniform(1)(i); });
                    }));

  all.push_back(launch("divide_sqrt", divide_sqrt, kStream / 256, 256,
                       {array("x", kStream, uniform(1, 0.5f, 2)), array("y", kStream, uniform(2, 0.5f, 2)),
                        zeros<float>("quotient", kStream), zeros<float>("root", kStream), value("n", kStream)})
                    .checked([](const Memory& m) {
                      const auto quotient = m.after<float>("quotient"), root = m.after<float>("root");
                      return sampled(kStream, [&](size_t i) {
                        const float expected = uniform(1, 0.5f, 2)(i) / uniform(2, 0.5f, 2)(i);
                        return near(quotient[i], expected, 1e-6) && near(root[i], std::sqrt(double{expected}), 1e-6);
                      });
                    }));

  all.push_back(
      launch("conversions", conversions, kStream / 256, 256,
             {array("x", kStream, uniform(1, -100, 400)), array("y", kStream, below(2, 1 << 20)), zeros<int>("rounded", kStream),
              zeros<unsigned char>("bytes", kStream), zeros<float>("sums", kStream), value("n", kStream)})
          .checked([](const Memory& m) {
            const auto rounded = m.after<int>("rounded");
            const auto bytes = m.after<unsigned char>("bytes");
            const auto sums = m.after<float>("sums");
            return sampled(kStream, [&](size_t i) {
              const float x = uniform(1, -100, 400)(i);
              const int y = below(2, 1 << 20)(i);
              const int byte = std::min(std::max(static_cast<int>(x), 0), 255);
              return rounded[i] == static_cast<int>(std::nearbyint(x)) + static_cast<int>(x) && bytes[i] == byte &&
                     near(sums[i], double{x} + y + (y >> 8), 1e-5);
            });
          }));

  all.push_back(launch("gelu_tanh", gelu_tanh, kStream / 1024, 256,
                       {array("x", kStream, uniform(1, -4, 4)), zeros<float>("y", kStream), value("quads", kStream / 4)})
                    .checked([](const Memory& m) {
                      const auto y = m.after<float>("y");
                      return sampled(kStream, [&](size_t i) {
                        const double x = uniform(1, -4, 4)(i);
                        return near(y[i], 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x))), 1e-4);
                      });
                    }));
  all.push_back(launch("power_exp", power_exp, kStream / 256, 256,
                       {array("x", kStream, uniform(1)), zeros<float>("y", kStream), value("exponent", 1.7f), value("n", kStream)})
                    .checked([](const Memory& m) {
                      const auto y = m.after<float>("y");
                      return sampled(kStream,
                                     [&](size_t i) { return near(y[i], std::pow(1 + std::exp(uniform(1)(i)), 1.7), 1e-4); });
                    }));

  const auto half_pair = [](uint64_t seed) {
    return [=](size_t i) { return __floats2half2_rn(uniform(seed)(2 * i), uniform(seed)(2 * i + 1)); };
  };
  all.push_back(launch("half2_axpy", half2_axpy, kStream / 256, 256,
                       {array("x", kStream, half_pair(1)), array("y", kStream, half_pair(2)),
                        word("a", __floats2half2_rn(0.25f, 0.25f)), word("most", __floats2half2_rn(8, 8)), value("pairs", kStream)})
                    .checked([=](const Memory& m) {
                      const auto y = m.after<__half2>("y");
                      return sampled(y.size(), [&](size_t i) {
                        const float2 of_x = __half22float2(half_pair(1)(i)), of_y = __half22float2(half_pair(2)(i));
                        const float2 result = __half22float2(y[i]);
                        return near(result.x, 0.25 * of_x.x + of_y.x, 2e-3) && near(result.y, 0.25 * of_x.y + of_y.y, 2e-3);
                      });
                    }));

  all.push_back(launch("bf16_convert", bf16_convert, kStream / 512, 256,
                       {array("x", kStream, uniform(1)), zeros<__nv_bfloat162>("narrow", kStream / 2),
                        zeros<float>("errors", kStream / 2), value("pairs", kStream / 2)})
                    .checked([](const Memory& m) {
                      const auto narrow = m.after<__nv_bfloat162>("narrow");
                      const auto errors = m.after<float>("errors");
                      return sampled(narrow.size(), [&](size_t i) {
                        return near(__bfloat1622float2(narrow[i]).y, uniform(1)(2 * i + 1), 4e-3) && errors[i] < 8e-3f;
                      });
                    }));
  all.push_back(launch("fp8_convert", fp8_convert, kStream / 1024, 256,
                       {array("x", kStream, uniform(1)), zeros<uint32_t>("narrow", kStream / 4), zeros<float>("sums", kStream / 4),
                        value("quads", kStream / 4)})
                    .checked([](const Memory& m) {
                      const auto sums = m.after<float>("sums");
                      return sampled(sums.size(), [&](size_t i) {
                        double sum = 0;
                        for (size_t j = 4 * i; j < 4 * i + 4; ++j) sum += uniform(1)(j);
                        return near(sums[i], sum, 0.15);
                      });
                    }));

  all.push_back(launch("bit_tricks", bit_tricks, kStream / 256, 256,
                       {array("x", kStream, bits(1)), zeros<unsigned>("y", kStream), value("n", kStream)})
                    .checked([](const Memory& m) {
                      const auto y = m.after<unsigned>("y");
                      return sampled(y.size(), [&](size_t i) {
                        const unsigned x = bits(1)(i);
                        unsigned reversed = 0;
                        for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1) << (31 - bit);
                        const unsigned counts = __builtin_popcount(x) + ((x == 0 ? 32 : __builtin_clz(x)) << 8) +
                                                (static_cast<unsigned>(__builtin_ffs(static_cast<int>(x))) << 16);
                        const unsigned shift = counts & 31;
                        const unsigned turned = shift == 0 ? reversed : reversed << shift | x >> (32 - shift);
                        const unsigned mixed =
                            (counts & 255) | (turned & 255) << 8 | (counts >> 8 & 255) << 16 | (turned >> 8 & 255) << 24;
                        return y[i] == (mixed ^ ((turned & ~x) | counts));
                      });
                    }));

  all.push_back(launch("small_parameters", small_parameters, kStream / 256, 256,
                       {array("x", kStream, below(1, 1 << 20)), zeros<int>("y", kStream), value("negate", true),
                        value("shift", static_cast<signed char>(3)), value("offset", static_cast<short>(-1234)),
                        value("scale", static_cast<unsigned short>(77)), value("n", kStream)})
                    .checked([](const Memory& m) {
                      const auto y = m.after<int>("y");
                      return sampled(y.size(), [&](size_t i) { return y[i] == -((below(1, 1 << 20)(i) >> 3) * 77 - 1234); });
                    }));
  all.push_back(
      launch("struct_parameter", struct_parameter, kStream / 256, 256,
             {structure(sizeof(ParametersFilter), {{offsetof(ParametersFilter, in), array("in", kStream, uniform(1))},
                                                   {offsetof(ParametersFilter, out), zeros<float>("out", kStream)},
                                                   {offsetof(ParametersFilter, n), value("n", kStream)},
                                                   {offsetof(ParametersFilter, taps), value("tap0", 0.25f)},
                                                   {offsetof(ParametersFilter, taps) + 4, value("tap1", 0.5f)},
                                                   {offsetof(ParametersFilter, taps) + 8, value("tap2", 0.125f)},
                                                   {offsetof(ParametersFilter, step), value("step", static_cast<short>(4))},
                                                   {offsetof(ParametersFilter, bias), value("bias", 1.5)}})})
          .checked([](const Memory& m) {
            const auto out = m.after<float>("out");
            return sampled(out.size(), [&](size_t i) {
              double sum = 1.5 + 0.5 * uniform(1)(i);
              if (i >= 4) sum += 0.25 * uniform(1)(i - 4);
              if (i + 4 < kStream) sum += 0.125 * uniform(1)(i + 4);
              return near(out[i], sum, 1e-5);
            });
          }));
  const auto wide = [](size_t i) { return double{uniform(1)(i)}; };
  all.push_back(launch("double_parameter", double_parameter, kStream / 2 / 256, 256,
                       {array("x", kStream / 2, wide), zeros<double>("y", kStream / 2), value("a", 1.25), value("b", -0.5),
                        value("n", kStream / 2)})
                    .checked([=](const Memory& m) {
                      const auto y = m.after<double>("y");
                      return sampled(y.size(), [&](size_t i) { return near(y[i], 1.25 * wide(i) - 0.5, 1e-12); });
                    }));

  const auto byte = [](size_t i) { return static_cast<unsigned char>(random_bits(1, i)); };
  all.push_back(
      launch("constant_table", constant_table, kStream / 8 / 256, 256,
             {array("x", kStream / 2, byte), zeros<float>("y", kStream / 2), value("quads", kStream / 8)})
          .with_note("constant_entries: 256 floats in constant memory; x: random bytes, so a warp asks for some 30 of them.")
          .prepared([] {
            float entries[256];
            for (int i = 0; i < 256; ++i) entries[i] = static_cast<float>(i * i);
            require(cudaMemcpyToSymbol(constant_entries, entries, sizeof(entries)), "cudaMemcpyToSymbol");
          })
          .checked([=](const Memory& m) {
            const auto y = m.after<float>("y");
            return sampled(y.size(), [&](size_t i) { return y[i] == static_cast<float>(byte(i) * byte(i)); });
          }));
  all.push_back(launch("global_symbol", global_symbol, kStream / 256, 256,
                       {array("x", kStream, uniform(1)), zeros<float>("y", kStream), value("n", kStream)})
                    .with_note("global_gains: 1,024 floats, global_ctas: a counter, both __device__ variables.")
                    .prepared([] {
                      float gains[1024];
                      for (int i = 0; i < 1024; ++i) gains[i] = static_cast<float>(i);
                      const unsigned zero = 0;
                      require(cudaMemcpyToSymbol(global_gains, gains, sizeof(gains)), "cudaMemcpyToSymbol");
                      require(cudaMemcpyToSymbol(global_ctas, &zero, sizeof(zero)), "cudaMemcpyToSymbol");
                    })
                    .checked([](const Memory& m) {
                      const auto y = m.after<float>("y");
                      unsigned ctas = 0;
                      require(cudaMemcpyFromSymbol(&ctas, global_ctas, sizeof(ctas)), "cudaMemcpyFromSymbol");
                      return ctas == kStream / 256 &&
                             sampled(y.size(), [&](size_t i) { return y[i] == uniform(1)(i) * static_cast<float>(i % 1024); });
                    }));
}

}  // namespace kernels
