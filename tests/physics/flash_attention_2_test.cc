// FlashAttention-2 against published throughputs: data/flash_attention_2.csv. Nothing is fitted to them. Clocks are those of the GPU
// files: A100 at 1410 MHz, its boost clock, H100 at 1600, the sustained one of its GEMM rows. The published time of a pass holds its
// kernels and their launches: forward one, backward three (dot(O, dO) and clearing dQ, the pass, dQ to 16 bits).

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

const std::string kAttention = "kernel.attention.flash_attention_2.";

configs::Result simulate_pass(Settings settings, const std::string& pass) {
  settings.push_back(kAttention + "pass=" + pass);
  return simulate(WARPFOLD_PHYSICS_DATA "flash_attention_2.textproto", settings);
}

struct Compared {
  Row row;
  double time_error;  // simulated time / published time - 1
  std::string bound;  // busiest resource of the pass itself
  double bound_utilization;
};

Settings settings_of(const Row& row) {
  Settings settings = {"gpu_file=../../../configs/gpus/" + row.text("gpu") + ".textproto"};
  for (const std::string name : {"type", "batch", "heads", "kv_heads", "queries", "head_dim", "causal"}) {
    settings.push_back(kAttention + "shape." + name + "=" + row.text(name));
  }
  return settings;
}

double published_us(const Row& row) {
  const double products = row.text("pass") == "forward" ? 1 : row.text("pass") == "backward" ? 2.5 : 3.5;
  const double causal = row.text("causal") == "true" ? 0.5 : 1;
  const double flops = 4 * row.number("queries") * row.number("queries") * row.number("head_dim") * row.number("heads") *
                       row.number("batch") * products * causal;
  return flops / (row.number("tflops") * 1e6);
}

Compared compare(const Row& row) {
  std::vector<std::string> passes;
  if (row.text("pass") != "backward") passes = {"FORWARD"};
  if (row.text("pass") != "forward") passes.insert(passes.end(), {"BACKWARD_PREPARE", "BACKWARD", "BACKWARD_CONVERT"});
  double us = 0;
  Compared compared{row, 0, "", 0};
  for (const std::string& pass : passes) {
    const configs::Result result = simulate_pass(settings_of(row), pass);
    us += result.kernels(0).time_us();
    if (pass != "FORWARD" && pass != "BACKWARD") continue;
    compared.bound = busiest(result).name();
    compared.bound_utilization = busiest(result).utilization();
  }
  compared.time_error = us / published_us(row) - 1;
  return compared;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
std::vector<double> absolute(std::vector<double> values) {
  for (double& value : values) value = std::abs(value);
  std::ranges::sort(values);
  return values;
}

class FlashAttention2 : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const Row& row : read_rows("flash_attention_2.csv")) compared.push_back(compare(row));
  }

  static std::vector<double> errors(const std::string& gpu, const std::string& pass) {
    std::vector<double> of;
    for (const Compared& is : compared) {
      if (is.row.text("gpu") == gpu && is.row.text("pass") == pass) of.push_back(is.time_error);
    }
    return of;
  }

  static inline std::vector<Compared> compared;
};

TEST_F(FlashAttention2, EveryRowIsReportedAndNoneIsFarOff) {
  std::cout << "| row | GPU | pass | head_dim | queries | batch x heads | causal | published | simulated | time | busiest |\n";
  for (const Compared& is : compared) {
    const Row& row = is.row;
    std::cout << "| " << row.text("id") << " | " << row.text("gpu") << " | " << row.text("pass") << " | " << row.text("head_dim")
              << " | " << row.text("queries") << " | " << row.text("batch") << " x " << row.text("heads") << " | "
              << (row.text("causal") == "true" ? "yes" : "") << " | " << row.text("tflops") << " | "
              << row.number("tflops") / (1 + is.time_error) << " | " << 100 * is.time_error << " % | " << is.bound << " "
              << 100 * is.bound_utilization << " % |\n";
    EXPECT_THAT(is.time_error, AllOf(Ge(-0.4), Le(0.4))) << row.text("id");
  }
}

TEST_F(FlashAttention2, SummaryByGpuAndPass) {
  std::cout << "| GPU | pass | rows | mean | median | p90 | max | bias |\n";
  for (const std::string gpu : {"a100_sxm", "h100_sxm"}) {
    for (const std::string pass : {"forward", "backward", "both"}) {
      const std::vector<double> of = errors(gpu, pass);
      if (of.empty()) continue;
      const std::vector<double> size = absolute(of);
      std::cout << "| " << gpu << " | " << pass << " | " << of.size() << " | " << 100 * mean(size) << " % | "
                << 100 * size[size.size() / 2] << " % | " << 100 * size[size.size() * 9 / 10] << " % | " << 100 * size.back()
                << " % | " << 100 * mean(of) << " % |\n";
    }
  }
}

}  // namespace
}  // namespace warpfold::test
