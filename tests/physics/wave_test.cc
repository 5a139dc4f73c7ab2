// Wave quantisation: an SM holds `occupancy` CTAs at a time, so that the time over the number of CTAs is a staircase with a step
// behind every whole number of CTAs (persistent: tiles) an SM. A step is lower where few SMs have work in the last wave, since the
// others leave them their part of L2 and DRAM. The shapes are grids of whole tiles around those numbers; docs/validation/gemm.md
// has the table.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tests/physics/support.h"

namespace warpfold::test {
namespace {

// A grid of tiles. Square ones, as far as the number has factors: a single row of tiles would be bound by DRAM.
struct Grid {
  uint64_t rows;
  uint64_t columns;
};

struct Kind {
  std::string name;
  std::string scenario;
  std::string kernel;
  uint64_t sms;
  uint64_t occupancy;
  uint64_t tile_n;
  Settings settings;
};

Kind hopper(const std::string& name, uint64_t occupancy, uint64_t tile_n, const Settings& more) {
  const std::string kernel = "kernel.gemm.hopper_gemm.";
  Settings settings = {kernel + "k=2048", kernel + "tile_n=" + std::to_string(tile_n),
                       kernel + "cluster_m=1"};  // no rounding to whole clusters
  for (const std::string& setting : more) settings.push_back(kernel + setting);
  return {name, "gemm.textproto", kernel, 132, occupancy, tile_n, settings};
}

class Waves {
 public:
  explicit Waves(Kind kind) : kind_(std::move(kind)) {}

  // Tiles that the busiest SM works through.
  uint64_t per_sm(const Grid& grid) const { return (grid.rows * grid.columns + kind_.sms - 1) / kind_.sms; }

  bool whole(const Grid& grid) const { return grid.rows * grid.columns % kind_.sms == 0; }

  double cycles(const Grid& grid) const {
    Settings settings = kind_.settings;
    settings.push_back(kind_.kernel + "m=" + std::to_string(grid.rows * 128));
    settings.push_back(kind_.kernel + "n=" + std::to_string(grid.columns * kind_.tile_n));
    const configs::Result result = simulate(WARPFOLD_PHYSICS_DATA + kind_.scenario, settings);
    EXPECT_EQ(result.kernels(0).occupancy().ctas_per_sm_limit(), kind_.occupancy);
    return static_cast<double>(result.kernels(0).cycles());
  }

  // Of whole waves; the last wave takes less where only some SMs have work, and no less than a wave with one CTA less an SM.
  void expect(const Grid& grid, double cycles_expected, double tolerance, double one_less) const {
    const double is = cycles(grid);
    std::cout << "| " << kind_.name << " | " << grid.rows * grid.columns << " (" << grid.rows << " x " << grid.columns << ") | "
              << per_sm(grid) << " | " << is << " | " << cycles_expected << " | " << 100 * (is / cycles_expected - 1) << " % |\n";
    const std::string what = kind_.name + ": " + std::to_string(grid.rows) + " x " + std::to_string(grid.columns);
    if (whole(grid)) {
      EXPECT_NEAR(is / cycles_expected, 1, tolerance) << what;
    } else {
      EXPECT_LT(is, cycles_expected * (1 + tolerance)) << what;
      EXPECT_GT(is, one_less) << what;
    }
  }

 private:
  Kind kind_;
};

// CTAs of other rows and columns read another share from DRAM; nothing else differs between two CTAs of a kernel.
constexpr double kSameWork = 0.001;
// Two CTAs of an SM do not end in the same cycle: the next wave's first CTA starts while this one's last is in its epilogue. That
// is a part of an epilogue in a CTA of 32 k-blocks. On an A100 the issue slot goes to one of the two behind every gap (decision
// 40): they end apart by much of a CTA, and one's epilogue lies beside the other's products.
constexpr double kPairsEndApart = 0.03;
constexpr double kPairsOfOneFirstEndApart = 0.14;

TEST(WaveQuantisation, OneCtaAnSmTakesAsLongAsItsWavesTogether) {
  const Waves waves(hopper("H100, 128 x 256", 1, 256, {"persistent=false"}));
  const double wave = waves.cycles({11, 12});  // 132 CTAs
  for (const Grid& grid : {Grid{6, 11}, {10, 13}, {11, 12}, {7, 19}, {12, 22}, {5, 53}, {14, 19}, {18, 22}, {19, 21}})
    waves.expect(grid, static_cast<double>(waves.per_sm(grid)) * wave, kSameWork,
                 static_cast<double>(waves.per_sm(grid) - 1) * wave);
}

// 1, 2 or 3 CTAs are left for a last wave, which L2 does not bind: it takes as long as that of half the SMs, whatever came before.
TEST(WaveQuantisation, AFewCtasLeftHaveL2ForThemselves) {
  const Waves waves(hopper("H100, 128 x 256", 1, 256, {"persistent=false"}));
  const double wave = waves.cycles({11, 12});
  const double few = waves.cycles({6, 11});
  EXPECT_LT(few, 0.85 * wave);
  for (const Grid& grid : {Grid{7, 19}, {5, 53}, {14, 19}, {19, 21}})
    EXPECT_NEAR(waves.cycles(grid) / (static_cast<double>(waves.per_sm(grid) - 1) * wave + few), 1, kSameWork);
}

// CTAs of the last, partial wave have an SM alone, one CTA instead of two.
void expect_pairs(const Waves& waves, double end_apart, const Grid& one_each, const Grid& two_each,
                  const std::vector<Grid>& grids) {
  const double alone = waves.cycles(one_each);
  const double pair = waves.cycles(two_each);
  EXPECT_GT(pair, 1.5 * alone);  // both are bound by something that the two share
  EXPECT_LT(pair, 2.0 * alone);  // and hide each other's latencies
  for (const Grid& grid : grids) {
    const uint64_t ctas = waves.per_sm(grid);
    const auto staircase = [&](uint64_t steps) {
      return static_cast<double>(steps / 2) * pair + static_cast<double>(steps % 2) * alone;
    };
    waves.expect(grid, staircase(ctas), ctas <= 2 ? kSameWork : end_apart, (1 - end_apart) * staircase(ctas - 1));
  }
}

TEST(WaveQuantisation, TwoCtasAnSmTakeWavesOfPairs) {
  // Half of the registers, and (233472 - 2 x 1024) / 2 bytes of shared memory.
  const Waves waves(
      hopper("H100, 128 x 128", 2, 128, {"persistent=false", "registers_per_thread=80", "shared_memory_limit_bytes=115712"}));
  expect_pairs(waves, kPairsEndApart, {11, 12}, {12, 22},
               {{10, 13}, {11, 12}, {7, 19}, {12, 22}, {5, 53}, {14, 19}, {18, 22}, {19, 21}, {22, 24}, {23, 23}});
}

TEST(WaveQuantisation, OnTheA100Too) {
  const Waves waves({"A100, 128 x 128", "wave_a100.textproto", "kernel.gemm.ampere_gemm.", 108, 2, 128, {}});
  expect_pairs(waves, kPairsOfOneFirstEndApart, {9, 12}, {12, 18},
               {{6, 9}, {9, 12}, {10, 11}, {12, 18}, {7, 31}, {14, 16}, {18, 18}, {13, 25}, {18, 24}, {19, 23}});
}

// A persistent CTA loads the next tile while it stores the previous one, so that every further tile costs only the main loop. L2
// binds the loop: 32 k-blocks of (128 + 256) x 64 x 2 bytes at 5050 / 132 bytes a cycle.
TEST(WaveQuantisation, PersistentCtasTakeTheMainLoopForEveryFurtherTile) {
  const Waves waves(hopper("H100, 128 x 256, persistent", 1, 256, {}));
  const double first = waves.cycles({11, 12});  // 132 tiles
  const double further = 32 * (128 + 256) * 64 * 2 / (5050.0 / 132);
  for (const Grid& grid : {Grid{6, 11}, {10, 13}, {11, 12}, {7, 19}, {12, 22}, {5, 53}, {14, 19}, {18, 22}, {19, 21}})
    waves.expect(grid, first + static_cast<double>(waves.per_sm(grid) - 1) * further, kSameWork,
                 waves.per_sm(grid) == 1 ? 0 : first + static_cast<double>(waves.per_sm(grid) - 2) * further);
}

}  // namespace
}  // namespace warpfold::test
