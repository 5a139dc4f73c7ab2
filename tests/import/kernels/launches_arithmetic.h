// Launches of kernels that compute more than they move.
#pragma once

#include <algorithm>

#include "hash_64.cu"
#include "integer_division.cu"
#include "kmeans_assign.cu"
#include "launch.h"
#include "local_memory.cu"
#include "max_plus.cu"
#include "monte_carlo_pi.cu"
#include "nbody.cu"
#include "philox_normal.cu"
#include "smith_waterman.cu"
#include "xorwow.cu"

namespace kernels {

inline void add_bodies(Launches& all) {
  constexpr int kBodies = 1 << 14;
  all.push_back(launch("nbody_fp32", nbody_fp32, kBodies / 128, 128,
                       {array("bodies", 4 * kBodies, uniform(1)), zeros<float>("forces", 4 * kBodies), value("n", kBodies),
                        value("softening", 0.01f)})
                    .with_shared(2048)
                    .checked([](const Memory& m) {
                      const auto forces = m.after<float4>("forces");
                      const float4* bodies = m.before<float4>("bodies");
                      return sampled(100, [&](size_t i) {
                        const float4 own = bodies[i * 161];
                        double x = 0, scale = 0;
                        for (int j = 0; j < kBodies; ++j) {
                          const double dx = bodies[j].x - own.x, dy = bodies[j].y - own.y, dz = bodies[j].z - own.z;
                          const double pull = bodies[j].w / std::pow(dx * dx + dy * dy + dz * dz + 0.01, 1.5);
                          x += pull * dx;
                          scale += std::abs(pull * dx);
                        }
                        return std::abs(forces[i * 161].x - x) < 1e-4 * scale;
                      });
                    }));
  constexpr int kWideBodies = 1 << 12;
  const auto wide = [](uint64_t seed) { return [=](size_t i) { return double{uniform(seed)(i)}; }; };
  all.push_back(launch("nbody_fp64", nbody_fp64, dim3(kWideBodies / 128, 16), 128,
                       {array("x", kWideBodies, wide(1)), array("y", kWideBodies, wide(2)), array("z", kWideBodies, wide(3)),
                        array("mass", kWideBodies, wide(4)), zeros<double>("potential", kWideBodies), value("slice", 256),
                        value("softening", 0.01)})
                    .checked([=](const Memory& m) {
                      const auto potential = m.after<double>("potential");
                      return sampled(100, [&](size_t i) {
                        double sum = 0;
                        for (size_t j = 0; j < kWideBodies; ++j) {
                          const double dx = wide(1)(j) - wide(1)(i), dy = wide(2)(j) - wide(2)(i), dz = wide(3)(j) - wide(3)(i);
                          sum += wide(4)(j) / std::sqrt(dx * dx + dy * dy + dz * dz + 0.01);
                        }
                        return near(potential[i], sum, 1e-9);
                      });
                    }));
  constexpr int kPoints = 1 << 21;
  all.push_back(launch("kmeans_assign", kmeans_assign, kPoints / 256, 256,
                       {array("points", 4 * kPoints, uniform(1)), array("centroids", 4 * 64, uniform(2)),
                        zeros<int>("nearest", kPoints), value("clusters", 64), value("n", kPoints)})
                    .with_shared(1024)
                    .checked([](const Memory& m) {
                      const auto nearest = m.after<int>("nearest");
                      const auto distance = [&](size_t point, size_t cluster) {
                        double sum = 0;
                        for (size_t d = 0; d < 4; ++d) {
                          const double apart =
                              m.before<float>("points")[4 * point + d] - m.before<float>("centroids")[4 * cluster + d];
                          sum += apart * apart;
                        }
                        return sum;
                      };
                      return sampled(kPoints, [&](size_t i) {
                        double least = 1e9;
                        for (size_t cluster = 0; cluster < 64; ++cluster) least = std::min(least, distance(i, cluster));
                        const int found = nearest[i];
                        return found >= 0 && found < 64 && distance(i, static_cast<size_t>(found)) < least + 1e-5;
                      });
                    }));
}

inline void add_random_numbers(Launches& all) {
  constexpr uint32_t kThreads = 1 << 20;
  constexpr uint64_t kSeed = 0x123456789abcdef0;
  all.push_back(
      launch("philox_normal", philox_normal, kThreads / 256, 256,
             {zeros<float>("normals", 16 * kThreads), value("seed", kSeed), value("calls", 4)})
          .checked([](const Memory& m) {
            const auto normals = m.after<float4>("normals");
            return sampled(normals.size(), [&](size_t i) {
              const PhiloxWords bits = philox_10({{static_cast<uint32_t>(i / kThreads), 0, static_cast<uint32_t>(i % kThreads), 0}},
                                                 static_cast<uint32_t>(kSeed), static_cast<uint32_t>(kSeed >> 32));
              const double radius = std::sqrt(-2 * std::log(bits.word[0] * 2.3283064e-10 + 1.1641532e-10));
              const double angle = bits.word[1] * 1.4629180e-9;
              return near(normals[i].x, radius * std::cos(angle), 1e-3) && near(normals[i].y, radius * std::sin(angle), 1e-3);
            });
          }));
  constexpr int kStates = 1 << 18;
  all.push_back(launch("xorwow", xorwow, kStates / 256, 256,
                       {array("states", 6 * kStates, bits(1)), zeros<float>("uniform", 64 * kStates), value("numbers", 64)})
                    .checked([](const Memory& m) {
                      const auto numbers = m.after<float>("uniform");
                      return sampled(kStates, [&](size_t thread) {
                        uint32_t state[6];
                        for (size_t i = 0; i < 6; ++i) state[i] = m.before<uint32_t>("states")[i * kStates + thread];
                        for (size_t i = 0; i < 64; ++i) {
                          if (!near(numbers[i * kStates + thread], xorwow_next(state) * 2.3283064e-10, 1e-6)) return false;
                        }
                        return true;
                      });
                    }));
  all.push_back(launch("monte_carlo_pi", monte_carlo_pi, 1056, 256,
                       {zeros<uint64_t>("inside", 1), value("seed", 12345u), value("points", 256)})
                    .with_shared(4)
                    .checked([](const Memory& m) {
                      int64_t expected = 0;
                      for (unsigned thread = 0; thread < 1056 * 256; ++thread) {
                        unsigned state = (thread + 1) * 2654435761u ^ 12345u;
                        for (int i = 0; i < 256; ++i) expected += monte_carlo_inside(state);
                      }
                      return std::abs(static_cast<int64_t>(m.after<uint64_t>("inside")[0]) - expected) <
                             1000;  // rounding at the circle
                    }));
}

inline void add_integers(Launches& all) {
  constexpr int kNumbers = 1 << 24;
  all.push_back(
      launch("integer_division", integer_division, kNumbers / 256, 256,
             {array("x", kNumbers, bits(1)), zeros<int2>("parts", kNumbers), value("divisor", 12345), value("n", kNumbers)})
          .checked([](const Memory& m) {
            const auto parts = m.after<int2>("parts");
            return sampled(parts.size(), [&](size_t i) {
              const int x = static_cast<int>(bits(1)(i));
              return parts[i].x == x / 12345 && parts[i].y == x % 12345;
            });
          }));
  const auto wide = [](size_t i) { return static_cast<int64_t>(uint64_t{random_bits(1, i)} << 32 | random_bits(2, i)); };
  all.push_back(launch("integer_division_64", integer_division_64, kNumbers / 4 / 256, 256,
                       {array("x", kNumbers / 4, wide), zeros<int64_t>("quotient", kNumbers / 4),
                        value("divisor", 12345678901234ll), value("n", kNumbers / 4)})
                    .with_note("x: uniform 64-bit numbers and a wide divisor: every division goes the long way.")
                    .checked([=](const Memory& m) {
                      const auto quotient = m.after<int64_t>("quotient");
                      return sampled(quotient.size(),
                                     [&](size_t i) { return quotient[i] == wide(i) / 12345678901234 + wide(i) % 12345678901234; });
                    }));
  all.push_back(launch("hash_64", hash_64, kNumbers / 2 / 256, 256,
                       {array("x", kNumbers / 2, wide), zeros<uint64_t>("hashes", kNumbers / 2), value("rounds", 4),
                        value("n", kNumbers / 2)})
                    .checked([=](const Memory& m) {
                      const auto hashes = m.after<uint64_t>("hashes");
                      return sampled(hashes.size(), [&](size_t i) {
                        auto hash = static_cast<uint64_t>(wide(i));
                        for (uint64_t round = 0; round < 4; ++round) {
                          hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
                          hash = (hash ^ hash >> 29) * 0xc4ceb9fe1a85ec53;
                          const auto high = static_cast<uint64_t>(static_cast<unsigned __int128>(hash) * 0x9e3779b97f4a7c15 >> 64);
                          hash ^= high + round;
                        }
                        return hashes[i] == hash;
                      });
                    }));
  constexpr int kSide = 768;
  all.push_back(launch("max_plus", max_plus, dim3(kSide / 16, kSide / 16), dim3(16, 16),
                       {array("a", kSide * kSide, below(1, 1000)), array("b", kSide * kSide, below(2, 1000)),
                        zeros<int>("c", kSide * kSide), value("n", kSide), value("floor", -1)})
                    .with_shared(2176)
                    .checked([](const Memory& m) {
                      const auto c = m.after<int>("c");
                      return sampled(c.size(), [&](size_t i) {
                        int most = -1;
                        for (size_t l = 0; l < kSide; ++l) {
                          most = std::max(most, below(1, 1000)(i / kSide * kSide + l) + below(2, 1000)(l * kSide + i % kSide));
                        }
                        return c[i] == most;
                      });
                    }));
  constexpr int kTargets = 1 << 17, kLetters = 64;
  const auto letter = [](uint64_t seed) { return [=](size_t i) { return static_cast<char>("ACGT"[random_bits(seed, i) % 4]); }; };
  all.push_back(
      launch("smith_waterman", smith_waterman, kTargets / 128, 128,
             {array("query", kQueryLetters, letter(1)), array("targets", kTargets * kLetters, letter(2)),
              zeros<int>("scores", kTargets), value("letters", kLetters), value("match", 2), value("mismatch", -1),
              value("gap", -1), value("n", kTargets)})
          .checked([](const Memory& m) {
            const auto scores = m.after<int>("scores");
            return sampled(kTargets, [&](size_t target) {
              int cells[kLetters + 1][kQueryLetters + 1] = {}, best = 0;
              for (int i = 1; i <= kLetters; ++i) {
                for (int j = 1; j <= kQueryLetters; ++j) {
                  const bool same = m.before<char>("query")[j - 1] == m.before<char>("targets")[(i - 1) * kTargets + target];
                  cells[i][j] = std::max({0, cells[i - 1][j - 1] + (same ? 2 : -1), cells[i - 1][j] - 1, cells[i][j - 1] - 1});
                  best = std::max(best, cells[i][j]);
                }
              }
              return scores[target] == best;
            });
          }));
}

inline void add_local_memory(Launches& all) {
  constexpr int kThreads = 1 << 18;
  all.push_back(
      launch("local_array", local_array, kThreads / 256, 256,
             {array("x", 64 * kThreads, below(1, 16)), zeros<int>("modes", kThreads), value("values", 64), value("n", kThreads)})
          .with_note("x: random: lanes index 16 words of local memory each at random.")
          .checked([](const Memory& m) {
            const auto modes = m.after<int>("modes");
            return sampled(modes.size(), [&](size_t i) {
              int counts[16] = {};
              for (size_t at = 0; at < 64; ++at) ++counts[m.before<int>("x")[at * kThreads + i]];
              return modes[i] == std::max_element(counts, counts + 16) - counts;
            });
          }));
  constexpr int kSpilling = 264 * 1024;
  all.push_back(launch("register_spill", register_spill, kSpilling / 256, 256,
                       {array("x", kSpilledWords * kSpilling, bits(1)), zeros<unsigned>("y", kSpilling), value("rounds", 32)})
                    .checked([](const Memory& m) {
                      const auto y = m.after<unsigned>("y");
                      return sampled(y.size(), [&](size_t thread) {
                        unsigned words[kSpilledWords], mixed = 0;
                        for (size_t i = 0; i < kSpilledWords; ++i) words[i] = m.before<unsigned>("x")[i * kSpilling + thread];
                        for (int round = 0; round < 32; ++round) register_spill_round(words);
                        for (const unsigned each : words) mixed = mixed * 31 + each;
                        return y[thread] == mixed;
                      });
                    }));
}

inline void add_arithmetic(Launches& all) {
  add_bodies(all);
  add_random_numbers(all);
  add_integers(all);
  add_local_memory(all);
}

}  // namespace kernels
