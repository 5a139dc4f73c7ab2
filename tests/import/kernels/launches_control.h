// Launches of kernels whose paths depend on data, on lanes or on the CTA's index.
#pragma once

#include <algorithm>
#include <array>

#include "binary_search.cu"
#include "calls.cu"
#include "collatz.cu"
#include "guarded_assert.cu"
#include "guarded_printf.cu"
#include "launch.h"
#include "mandelbrot.cu"
#include "spmv.cu"
#include "switch_table.cu"
#include "ticket_queue.cu"
#include "triangular.cu"

namespace kernels {

// Rows of a sparse matrix with `unit` times 1 to 31 entries, in a fixed order that repeats after 31 rows: 16 times `unit` on
// average.
struct SparseRows {
  int unit;
  int length(size_t row) const { return unit * (1 + static_cast<int>(row * 7 % 31)); }
  int begin(size_t row) const {
    int before = static_cast<int>(row / 31) * 496 * unit;
    for (size_t i = row / 31 * 31; i < row; ++i) before += length(i);
    return before;
  }
};

inline Launch sparse(const char* name, decltype(&spmv_thread) kernel, int rows, int threads_of_row, SparseRows lengths,
                     const char* note) {
  constexpr int kColumns = 1 << 18;
  const auto entries = static_cast<size_t>(lengths.begin(rows));
  return launch(name, kernel, rows * threads_of_row / 256, 256,
                {array("begins", rows + 1, [=](size_t row) { return lengths.begin(row); }),
                 array("columns", entries, below(1, kColumns)), array("values", entries, uniform(2)),
                 array("x", kColumns, uniform(3)), zeros<float>("y", rows), value("rows", rows)})
      .with_note(note)
      .checked([=](const Memory& m) {
        const auto y = m.after<float>("y");
        return sampled(y.size(), [&](size_t row) {
          double sum = 0;
          const auto begin = static_cast<size_t>(lengths.begin(row));
          for (size_t i = begin; i < begin + lengths.length(row); ++i)
            sum += uniform(2)(i) * double{uniform(3)(below(1, kColumns)(i))};
          return near(y[row], sum, 1e-4);
        });
      });
}

inline void add_searches(Launches& all) {
  all.push_back(sparse("spmv_thread", spmv_thread, 1 << 18, 1, {1},
                       "rows of 1 to 31 entries, 16 on average, all lengths in every warp; columns are random."));
  all.push_back(sparse("spmv_warp", spmv_warp, 1 << 16, 32, {4}, "rows of 4 to 124 entries, 64 on average; columns are random."));
  constexpr int kEntries = 1 << 20, kKeys = 1 << 22;
  all.push_back(
      launch("binary_search", binary_search, kKeys / 256, 256,
             {array("sorted", kEntries, [](size_t i) { return static_cast<unsigned>(i * 4096 + random_bits(1, i) % 4096); }),
              array("keys", kKeys, bits(2)), zeros<int>("places", kKeys), value("entries", kEntries), value("n", kKeys)})
          .with_note("keys: random; 20 or 21 passes.")
          .checked([](const Memory& m) {
            const auto places = m.after<int>("places");
            const unsigned* sorted = m.before<unsigned>("sorted");
            return sampled(kKeys,
                           [&](size_t i) { return places[i] == std::lower_bound(sorted, sorted + kEntries, bits(2)(i)) - sorted; });
          }));
}

inline int escape_passes(float cr, float ci) {
  float zr = 0, zi = 0;
  int i = 0;
  for (; i < 256 && zr * zr + zi * zi <= 4; ++i) {
    const float rr = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = rr;
  }
  return i;
}

inline void add_loops(Launches& all) {
  all.push_back(launch("mandelbrot", mandelbrot, dim3(64, 256), dim3(32, 8),
                       {zeros<int>("iterations", 2048 * 2048), value("width", 2048), value("height", 2048), value("left", -2.0f),
                        value("top", 1.25f), value("step", 2.5f / 2048), value("limit", 256)})
                    .checked([](const Memory& m) {
                      const auto iterations = m.after<int>("iterations");
                      const float step = 2.5f / 2048;
                      return sampled(
                          iterations.size(),
                          [&](size_t i) {
                            const auto x = static_cast<float>(i % 2048), y = static_cast<float>(i / 2048);
                            return std::abs(iterations[i] - escape_passes(-2 + step * x, 1.25f - step * y)) <= 2;
                          },
                          50);
                    }));
  all.push_back(launch("collatz", collatz, 4096, 256, {zeros<int>("steps", 1 << 20), value("n", 1 << 20)})
                    .with_note("Known without data: thread i follows the sequence from i + 1.")
                    .checked([](const Memory& m) {
                      const auto steps = m.after<int>("steps");
                      return sampled(steps.size(), [&](size_t i) {
                        int count = 0;
                        for (uint64_t at = i + 1; at != 1; ++count) at = at % 2 == 0 ? at / 2 : 3 * at + 1;
                        return steps[i] == count;
                      });
                    }));
  all.push_back(launch("triangular", triangular, 1536, 128, {array("x", 1536 * 128, uniform(1)), zeros<float>("sums", 1536 * 128)})
                    .checked([](const Memory& m) {
                      const auto sums = m.after<float>("sums");
                      return sampled(sums.size(), [&](size_t i) {
                        double sum = 0;
                        for (size_t row = 0; row <= i / 128; ++row) sum += uniform(1)(row * 128 + i % 128);
                        return near(sums[i], sum, 1e-4);
                      });
                    }));
  constexpr int kNumbers = 1 << 24;
  all.push_back(launch("ticket_queue", ticket_queue, 264, 256,
                       {array("x", kNumbers, uniform(1)), zeros<float>("y", kNumbers), zeros<unsigned>("tickets", 1),
                        value("tiles", static_cast<unsigned>(kNumbers / 4096))})
                    .with_shared(4)
                    .with_note("tickets: 4,096 tiles drawn by 264 CTAs, 15.5 each on average; every CTA draws one more.")
                    .checked([](const Memory& m) {
                      const auto y = m.after<float>("y");
                      return m.after<unsigned>("tickets")[0] == 0 &&
                             sampled(y.size(), [&](size_t i) { return y[i] == uniform(1)(i) * uniform(1)(i); });
                    }));
}

inline void add_calls(Launches& all) {
  constexpr int kNumbers = 1 << 24;
  all.push_back(launch("guarded_printf", guarded_printf, kNumbers / 256, 256,
                       {array("x", kNumbers, uniform(1, 0, 4)), zeros<float>("roots", kNumbers), value("n", kNumbers)})
                    .with_note("x: never negative: nothing is printed.")
                    .checked([](const Memory& m) {
                      const auto roots = m.after<float>("roots");
                      return sampled(roots.size(), [&](size_t i) { return near(roots[i], std::sqrt(uniform(1, 0, 4)(i)), 1e-6); });
                    }));
  constexpr int kEntries = 1 << 20;
  all.push_back(launch("guarded_assert", guarded_assert, kNumbers / 4 / 256, 256,
                       {array("x", kEntries, uniform(1)), array("index", kNumbers / 4, below(2, kEntries)),
                        zeros<float>("y", kNumbers / 4), value("n", kNumbers / 4), value("entries", kEntries)})
                    .with_note("index: random and within x: no assertion fails; a warp touches 32 sectors of x.")
                    .checked([](const Memory& m) {
                      const auto y = m.after<float>("y");
                      return sampled(y.size(), [&](size_t i) { return y[i] == 2 * uniform(1)(below(2, kEntries)(i)); });
                    }));
  constexpr int kLength = 64;
  const auto code = [](size_t i) { return static_cast<unsigned char>(random_bits(1, i) % 12); };
  all.push_back(launch("switch_tree", switch_tree, 8192, 128,
                       {array("codes", kLength, code), array("x", 1 << 20, uniform(2)), zeros<float>("y", 1 << 20),
                        value("length", kLength), value("n", 1 << 20)})
                    .with_shared(4096)
                    .with_note("codes: 0 to 11 at random, the same for all threads.")
                    .checked([=](const Memory& m) {
                      const auto y = m.after<float>("y");
                      return sampled(
                          y.size(),
                          [&](size_t i) {
                            float stack[kSwitchStack] = {uniform(2)(i)};
                            int top = 0;
                            for (size_t pass = 0; pass < kLength; ++pass) switch_step(code(pass), stack, 1, top, uniform(2)(i));
                            return near(y[i], stack[top], 1e-3);
                          },
                          20);
                    }));
  constexpr int kThreads = 1 << 20;
  all.push_back(launch("jump_table", jump_table, kThreads / 256, 256,
                       {array("codes", kLength, [](size_t i) { return random_bits(1, i) % 4; }), array("x", kThreads, uniform(2)),
                        zeros<float>("y", kThreads), value("length", kLength), value("n", kThreads)})
                    .with_note("codes: 0 to 3 at random, the same for all threads.")
                    .checked([](const Memory& m) {
                      const auto y = m.after<float>("y");
                      return sampled(
                          y.size(),
                          [&](size_t i) {
                            const double x = uniform(2)(i);
                            double sum = 0;
                            for (size_t pass = 0; pass < kLength; ++pass) {
                              switch (random_bits(1, pass) % 4) {
                                case 0:
                                  sum += x;
                                  break;
                                case 1:
                                  sum = sum * x + x;
                                  break;
                                case 2:
                                  sum = std::sqrt(std::abs(sum));
                                  break;
                                default:
                                  sum = -sum;
                              }
                            }
                            return near(y[i], sum, 1e-3);
                          },
                          20);
                    }));
  all.push_back(launch("indirect_call", indirect_call, kThreads / 256, 256,
                       {array("codes", kLength, [](size_t i) { return random_bits(1, i) % 3; }), array("x", kThreads, uniform(2)),
                        zeros<float>("y", kThreads), value("length", kLength), value("n", kThreads)})
                    .with_note("codes: 0 to 2 at random, the same for all threads: which function is called.")
                    .checked([](const Memory& m) {
                      const auto y = m.after<float>("y");
                      return sampled(y.size(), [&](size_t i) {
                        double value = uniform(2)(i);
                        for (size_t pass = 0; pass < kLength; ++pass) {
                          const unsigned code = random_bits(1, pass) % 3;
                          value = code == 0 ? value * value : code == 1 ? 0.5 * value : 1 / (1 + std::exp(-value));
                        }
                        return near(y[i], value, 1e-3);
                      });
                    }));
  all.push_back(launch("noinline_call", noinline_call, kNumbers / 4 / 256, 256,
                       {array("x", kNumbers / 4, uniform(1)), array("coefficients", 17, uniform(2)),
                        zeros<float>("y", kNumbers / 4), value("degree", 16), value("n", kNumbers / 4)})
                    .checked([](const Memory& m) {
                      const auto y = m.after<float>("y");
                      const float* coefficients = m.before<float>("coefficients");
                      return sampled(y.size(), [&](size_t i) {
                        const float x = uniform(1)(i);
                        return near(y[i], calls_horner(x, coefficients, 16) / (1 + std::abs(calls_horner(-x, coefficients, 15))),
                                    1e-4);
                      });
                    }));
  all.push_back(launch("recursion", recursion, 512, 128, {zeros<int>("y", 1 << 16), value("depth", 12), value("n", 1 << 16)})
                    .with_note("Known without data: even threads compute Fibonacci number 12, odd ones number 13, by recursion.")
                    .prepared([] { require(cudaDeviceSetLimit(cudaLimitStackSize, 4096), "cudaDeviceSetLimit"); })
                    .checked([](const Memory& m) {
                      const auto y = m.after<int>("y");
                      return sampled(y.size(), [&](size_t i) { return y[i] == (i % 2 == 0 ? 144 : 233); });
                    }));
}

inline void add_control(Launches& all) {
  add_searches(all);
  add_loops(all);
  add_calls(all);
}

}  // namespace kernels
