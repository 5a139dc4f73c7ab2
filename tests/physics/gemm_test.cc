// Hopper GEMMs against published throughputs: data/gemm_silicon.csv, which says how each kernel was chosen. Nothing is fitted to
// these figures. A shape counts as large where m, n and k are all at least 4096: then a tile has at least 32 k-blocks of FP8 and
// a wave of tiles is a small part of the matrix. The clock is the GPU file's sustained one for all rows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "tests/physics/support.h"

namespace warpfold::test {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

struct Compared {
  Row row;
  double time_error;  // simulated time / published time - 1
  double tensor;      // utilisation of the tensor pipe
  std::string bound;  // busiest resource
  double bound_utilization;

  bool large() const { return std::min({row.count("m"), row.count("n"), row.count("k")}) >= 4096; }
  uint64_t cluster_ctas() const { return row.count("cluster_m") * row.count("cluster_n"); }
};

// Fewer rows than a tile: A and B change places, as inference kernels do, and the few rows are padded to 32 columns.
Settings settings_of(const Row& row) {
  const std::string gemm = "kernel.gemm.hopper_gemm.";
  uint64_t m = row.count("m");
  uint64_t n = row.count("n");
  uint64_t tile_n = row.count("tile_n");
  if (m < row.count("tile_m")) {
    std::swap(m, n);
    n = std::max<uint64_t>(n, 32);
    tile_n = n;
  }
  Settings settings = {"gpu_file=../../../configs/gpus/" + row.text("gpu") + ".textproto", gemm + "m=" + std::to_string(m),
                       gemm + "n=" + std::to_string(n), gemm + "tile_n=" + std::to_string(tile_n)};
  for (const std::string name : {"k", "type", "tile_m", "tile_k", "cluster_m", "cluster_n", "persistent"}) {
    settings.push_back(gemm + name + "=" + row.text(name));
  }
  if (row.text("type") == "FP8") {
    settings.push_back(gemm + "output_type=" + row.text("output_type"));
    settings.push_back(gemm + "fp8_accumulation=" + row.text("fp8_accumulation"));
  }
  return settings;
}

Compared compare(const Row& row) {
  const configs::Result result = simulate(WARPFOLD_PHYSICS_DATA "gemm.textproto", settings_of(row));
  const double published_us = 2 * row.number("m") * row.number("n") * row.number("k") / (row.number("tflops") * 1e6);
  return {row, result.kernels(0).time_us() / published_us - 1, resource(result, "wgmma").utilization(), busiest(result).name(),
          busiest(result).utilization()};
}

class GemmOnHopper : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const Row& row : read_rows("gemm_silicon.csv")) compared.push_back(compare(row));
  }

  static inline std::vector<Compared> compared;
};

// The farthest is 64 x 7168 x 2048, whose 64-row tile fills twice as many SMs as the 128-row one that the generator has.
TEST_F(GemmOnHopper, EveryRowIsReportedAndNoneIsFarOff) {
  std::cout << "| row | kernel | type | m x n x k | published | simulated | time error | tensor pipe | busiest |\n";
  for (const Compared& is : compared) {
    const Row& row = is.row;
    std::cout << "| " << row.text("id") << " | " << row.text("kernel") << " | " << row.text("type") << " | " << row.text("m")
              << " x " << row.text("n") << " x " << row.text("k") << " | " << row.text("tflops") << " | "
              << row.number("tflops") / (1 + is.time_error) << " | " << 100 * is.time_error << " % | " << 100 * is.tensor << " % | "
              << is.bound << " " << 100 * is.bound_utilization << " % |" << (is.large() ? " large" : "") << "\n";
    EXPECT_THAT(is.time_error, AllOf(Ge(-0.5), Le(1.25))) << row.text("id");
  }
}

TEST_F(GemmOnHopper, LargeShapesTakeThePublishedTime) {
  int rows = 0;
  for (const Compared& is : compared) {
    if (!is.large() || is.cluster_ctas() == 1) continue;
    EXPECT_THAT(is.time_error, AllOf(Ge(-0.12), Le(0.12))) << is.row.text("id");
    ++rows;
  }
  EXPECT_EQ(rows, 8);
}

TEST_F(GemmOnHopper, LargeShapesIn256ColumnsAreBoundByTheTensorPipe) {
  int rows = 0;
  for (const Compared& is : compared) {
    if (!is.large() || is.cluster_ctas() == 1 || is.row.count("tile_n") != 256) continue;
    EXPECT_EQ(is.bound, "wgmma") << is.row.text("id");
    EXPECT_THAT(is.tensor, AllOf(Ge(0.85), Le(0.99))) << is.row.text("id");
    ++rows;
  }
  EXPECT_EQ(rows, 3);
}

// Known gaps (docs/validation.md): what a tile needs of L2 is more than the 38 bytes a cycle of an SM's share, so that L2 binds.
// Kernels without multicast are slower than published; those with narrow tiles and two-fold multicast take the published time
// at a lower use of the tensor pipe than the 85 % that is required.
TEST_F(GemmOnHopper, KnownGapLargeShapesWithLittleMulticastAreBoundByL2) {
  int rows = 0;
  for (const Compared& is : compared) {
    if (!is.large() || (is.cluster_ctas() > 1 && is.row.count("tile_n") == 256)) continue;
    EXPECT_EQ(is.bound, "l2_read") << is.row.text("id");
    EXPECT_THAT(is.tensor, AllOf(Ge(0.70), Le(0.85))) << is.row.text("id");
    if (is.cluster_ctas() == 1) {
      EXPECT_THAT(is.time_error, AllOf(Ge(0.12), Le(0.25))) << is.row.text("id");
    }
    ++rows;
  }
  EXPECT_EQ(rows, 7);
}

}  // namespace
}  // namespace warpfold::test
