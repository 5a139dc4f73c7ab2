// FlashAttention-3 against published throughputs: data/flash_attention_3.csv. Nothing is fitted to these figures. The clock is the
// GPU file's sustained one for all rows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>

#include "tests/physics/support.h"

namespace warpfold::test {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

constexpr const char* kScenario = WARPFOLD_PHYSICS_DATA "attention_3.textproto";
const std::string kAttention = "kernel.attention.flash_attention_3.";

struct Compared {
  Row row;
  double time_error;  // simulated time / published time - 1
  double tensor, xu, shared_memory;

  bool judged() const { return row.text("judged") == "yes"; }
  double simulated() const { return row.number("tflops") / (1 + time_error); }
};

Settings settings_of(const Row& row) {
  Settings settings = {"gpu_file=../../../configs/gpus/" + row.text("gpu") + ".textproto"};
  for (const std::string name : {"type", "batch", "heads", "queries", "head_dim", "causal"}) {
    settings.push_back(kAttention + "shape." + name + "=" + row.text(name));
  }
  return settings;
}

Compared compare(const Row& row) {
  const configs::Result result = simulate(kScenario, settings_of(row));
  const double flops = 4 * row.number("batch") * row.number("heads") * row.number("queries") * row.number("queries") *
                       row.number("head_dim") / (row.text("causal") == "true" ? 2 : 1);
  return {row, result.kernels(0).time_us() / (flops / (row.number("tflops") * 1e6)) - 1, resource(result, "wgmma").utilization(),
          resource(result, "xu").utilization(), resource(result, "shared_memory").utilization()};
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

class FlashAttention3OnHopper : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const Row& row : read_rows("flash_attention_3.csv")) compared.push_back(compare(row));
  }

  // Of the judged rows: sizes of the errors, ascending.
  static std::vector<double> sizes() {
    std::vector<double> sizes;
    for (const Compared& is : compared) {
      if (is.judged()) sizes.push_back(std::abs(is.time_error));
    }
    std::ranges::sort(sizes);
    return sizes;
  }
  static std::vector<double> errors() {
    std::vector<double> errors;
    for (const Compared& is : compared) {
      if (is.judged()) errors.push_back(is.time_error);
    }
    return errors;
  }
  static const Compared& of(const std::string& id) {
    return *std::ranges::find_if(compared, [&](const Compared& is) { return is.row.text("id") == id; });
  }

  static inline std::vector<Compared> compared;
};

TEST_F(FlashAttention3OnHopper, EveryRowIsReported) {
  std::cout << "| row | type | head_dim | batch x heads x tokens | causal | published | simulated | time | tensor | XU | shared "
               "memory |\n";
  for (const Compared& is : compared) {
    const Row& row = is.row;
    std::cout << "| " << row.text("id") << (is.judged() ? "" : "*") << " | " << row.text("type") << " | " << row.text("head_dim")
              << " | " << row.text("batch") << " x " << row.text("heads") << " x " << row.text("queries") << " | "
              << (row.text("causal") == "true" ? "yes" : "") << " | " << row.text("tflops") << " | " << std::round(is.simulated())
              << " | " << std::showpos << std::round(1000 * is.time_error) / 10 << std::noshowpos << " % | "
              << std::round(100 * is.tensor) << " % | " << std::round(100 * is.xu) << " % | " << std::round(100 * is.shared_memory)
              << " % |\n";
    EXPECT_THAT(is.time_error, AllOf(Ge(-0.4), Le(0.3))) << row.text("id");
  }
  const std::vector<double> all = sizes();
  std::cout << "judged rows: " << all.size() << ", mean " << 100 * mean(all) << " %, median " << 100 * all[all.size() / 2]
            << " %, 90th percentile " << 100 * all[all.size() * 9 / 10] << " %, largest " << 100 * all.back() << " %, bias "
            << 100 * mean(errors()) << " %\n";
}

// Known gap (docs/validation.md): 10 % were asked for. Long fp16 sequences at head_dim 64 and 128 come out 15 to 24 % too fast,
// nearly all others within 10 %.
TEST_F(FlashAttention3OnHopper, KnownGapIsTooFastOnTheWhole) {
  EXPECT_EQ(sizes().size(), 31);
  EXPECT_THAT(mean(sizes()), AllOf(Ge(0.10), Le(0.12)));
  EXPECT_THAT(mean(errors()), AllOf(Ge(-0.09), Le(-0.05)));
}

// TileSight's table of Nsight Compute counters of the library's kernel on an H100: tensor pipe 74.8 %, XU 38.6 %, shared memory 51
// %. The size is not given; how the three stand to each other does not depend on it.
TEST_F(FlashAttention3OnHopper, UsesThePipesInTheMeasuredProportion) {
  for (const std::string id : {"S0460", "S0488"}) {
    EXPECT_NEAR(of(id).xu / of(id).tensor, 38.6 / 74.8, 0.02) << id;
    EXPECT_NEAR(of(id).shared_memory / of(id).tensor, 51.0 / 74.8, 0.08) << id;
  }
}

double throughput(const Settings& settings) {
  Settings all = {kAttention + "shape.batch=4", kAttention + "shape.queries=8448"};
  all.insert(all.end(), settings.begin(), settings.end());
  const double flops = 4.0 * 4 * 16 * 8448 * 8448 * 128;
  return flops / (simulate(kScenario, all).kernels(0).time_us() * 1e6);
}

// FlashAttention-3 paper, table 2: 661 TFLOPS; without overlap inside a warpgroup 582; without warp specialisation 570.
TEST(FlashAttention3Ablation, EveryPartOfTheDesignPays) {
  const double all = throughput({});
  const double no_overlap = throughput({kAttention + "intra_warpgroup_overlap=false"});
  const double not_specialised = throughput({kAttention + "warp_specialized=false"});
  std::cout << "ablation: " << all << ", no overlap within a warpgroup " << no_overlap << ", no warp specialisation "
            << not_specialised << " TFLOPS\n";
  EXPECT_GT(all, no_overlap);
  EXPECT_GT(no_overlap, not_specialised);
  EXPECT_NEAR(no_overlap / all, 582.0 / 661, 0.02);
  EXPECT_NEAR(not_specialised / all, 570.0 / 661, 0.08);
}

// The same in miniature, for builds in which the sizes above take minutes.
TEST(FlashAttention3Small, OverlapPays) {
  const auto time = [](const std::string& overlap) {
    return simulate(kScenario, {kAttention + "intra_warpgroup_overlap=" + overlap}).kernels(0).time_us();
  };
  EXPECT_LT(time("true"), time("false"));
}

}  // namespace
}  // namespace warpfold::test
