// TileLang's GEMM over K (tests/validation/data/h800_tilelang.csv) in two parts: the cost of a launch for any K, and the cost of
// each step of K. Nothing is fitted to these rows; docs/validation/gemm.md has the table and the attempts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tests/physics/support.h"
#include "tests/source_dir.h"
#include "tools/validation/map_row.h"

namespace warpfold::test {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

// The GPU file's clock is the sustained clock at the power limit. Each of these figures comes from 20 ms of launches, for which no
// clock was published: 1830 MHz is the clock for which NVIDIA states tensor peaks (989.4 TFLOPS).
constexpr int kSustainedMhz = 1600;
constexpr int kBurstMhz = 1830;

struct Point {
  std::string id;
  std::string type;
  double k;
  double published_us;
  double simulated_us;
  std::string bound;
  double error() const { return simulated_us / published_us - 1; }
};

// One kernel for all K, so that K alone changes: 128 x 256 with one tile a CTA, the largest in the library's search space that
// fits.
void hold_kernel(configs::HopperGemm& gemm) {
  const bool fp8 = gemm.type() == configs::FP8;
  gemm.clear_tile();
  gemm.clear_library();
  gemm.set_tile_m(128);
  gemm.set_tile_n(256);
  gemm.set_tile_k(fp8 ? 128 : 64);
  gemm.set_schedule(configs::COOPERATIVE);
  gemm.set_persistent(false);
  gemm.set_cluster_m(1);
  gemm.set_cluster_n(1);
  gemm.set_swizzle(8);
  if (!fp8) return;
  gemm.set_fp8_accumulation(configs::FAST);
  gemm.set_output_type(configs::FP8);
}

Point simulate_point(const validation::MeasuredRow& row, int mhz) {
  validation::RowMapper mapper(WARPFOLD_SOURCE_DIR "/configs/gpus", {"gpu.clock_mhz=" + std::to_string(mhz)});
  const validation::Comparison comparison = mapper.map(row).value();
  configs::Scenario scenario = comparison.runs.front().scenario;
  hold_kernel(*scenario.mutable_kernel(0)->mutable_hopper_gemm());
  const configs::Result result = simulate(scenario);
  // Between two events lie the kernel and its launch.
  const double launch_us = scenario.gpu().kernel_launch_cycles() / static_cast<double>(mhz);
  return {row.id(),
          row.text("dtype"),
          row.number("K").value(),
          comparison.measured,
          result.kernels(0).time_us() + launch_us,
          busiest(result).name()};
}

struct Line {
  double overhead_us;
  double us_per_k;
};

// Least squares of relative deviations: the rows span a factor of 30.
Line line_through(const std::vector<Point>& points, const std::string& type, double Point::* time) {
  double weight = 0, k = 0, us = 0, kk = 0, kus = 0;
  for (const Point& point : points) {
    if (point.type != type) continue;
    const double w = 1 / (point.*time * point.*time);
    weight += w;
    k += w * point.k;
    us += w * point.*time;
    kk += w * point.k * point.k;
    kus += w * point.k * point.*time;
  }
  const double slope = (weight * kus - k * us) / (weight * kk - k * k);
  return {(us - slope * k) / weight, slope};
}

class KSweep : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto rows = validation::read_measured_rows(WARPFOLD_SOURCE_DIR "/tests/validation/data/h800_tilelang.csv").value();
    for (const validation::MeasuredRow& row : rows) {
      sustained.push_back(simulate_point(row, kSustainedMhz));
      burst.push_back(simulate_point(row, kBurstMhz));
    }
  }

  static Line published(const std::string& type) { return line_through(burst, type, &Point::published_us); }
  static Line simulated(const std::vector<Point>& points, const std::string& type) {
    return line_through(points, type, &Point::simulated_us);
  }

  static inline std::vector<Point> sustained;
  static inline std::vector<Point> burst;
};

TEST_F(KSweep, EveryRowTakesThePublishedTimeAtTheTensorPeaksClock) {
  std::cout << "| row | type | K | published us | simulated us | time error | at the sustained clock us | time error |\n";
  for (size_t i = 0; i < burst.size(); ++i) {
    const Point& point = burst[i];
    std::cout << "| " << point.id << " | " << point.type << " | " << point.k << " | " << point.published_us << " | "
              << point.simulated_us << " | " << 100 * point.error() << " % | " << sustained[i].simulated_us << " | "
              << 100 * sustained[i].error() << " % |\n";
    // Known gap: the shortest main loop has its first loads at the ports' rate, with nothing of DRAM's turning round (deviation
    // D61).
    const double most = point.type == "fp8" && point.k == 256 ? 0.13 : 0.12;
    EXPECT_THAT(point.error(), AllOf(Ge(-most), Le(most))) << point.type << " " << point.k;
  }
  EXPECT_EQ(burst.size(), 14);
}

// FP16 writes 67 MB more than FP8 in as many waves. On silicon that costs 6.7 us, 10 TB/s: the rate of L2, not of DRAM (23 us).
TEST_F(KSweep, MoreOutputCostsWhatL2TakesForIt) {
  const double silicon_us = published("fp16").overhead_us - published("fp8").overhead_us;
  for (const auto* points : {&sustained, &burst}) {
    const double us = simulated(*points, "fp16").overhead_us - simulated(*points, "fp8").overhead_us;
    std::cout << "67 MB more output: " << us << " us, silicon " << silicon_us << "\n";
    EXPECT_NEAR(us, silicon_us, 2);  // 13 % of 16 us, which DRAM would take longer
  }
}

// Known gap: 12-20 % of the fixed part, 5 to 8 us of 14 to 16 waves of CTAs, are missing at either clock (docs/validation/gemm.md).
TEST_F(KSweep, KnownGapFixedOverheadIsUpToAFifthTooSmall) {
  for (const auto* points : {&sustained, &burst}) {
    for (const std::string type : {"fp16", "fp8"}) {
      const Line silicon = published(type);
      const Line line = simulated(*points, type);
      std::cout << type << ": fixed " << line.overhead_us << " us, silicon " << silicon.overhead_us << "; for 1024 of K "
                << 1024 * line.us_per_k << " us, silicon " << 1024 * silicon.us_per_k << "\n";
      EXPECT_THAT(line.overhead_us / silicon.overhead_us, AllOf(Ge(0.8), Le(1.0))) << type;
    }
  }
}

// Known gap: a step of K is bound by L2, and at the sustained clock L2 as configured is slower than on silicon.
TEST_F(KSweep, KnownGapStepsOfKAreTooSlowAtTheSustainedClock) {
  for (const std::string type : {"fp16", "fp8"}) {
    EXPECT_THAT(simulated(sustained, type).us_per_k / published(type).us_per_k, AllOf(Ge(1.12), Le(1.25))) << type;
    EXPECT_THAT(simulated(burst, type).us_per_k / published(type).us_per_k, AllOf(Ge(0.95), Le(1.12))) << type;
  }
  for (const Point& point : sustained) EXPECT_EQ(point.bound, "l2_read") << point.type << " " << point.k;
}

}  // namespace
}  // namespace warpfold::test
