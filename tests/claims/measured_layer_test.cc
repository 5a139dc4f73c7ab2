// Ivanov et al., "Data Movement Is All You Need" (arXiv 2007.00072): measured times of a BERT layer's operators on a V100, in
// PyTorch and as fused kernels, against the simulated ones (docs/validation/bert_layer.md). Nothing is fitted to them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "configs/load.h"
#include "configs/read_file.h"
#include "tests/claims/claim.h"
#include "tests/claims/layer_model.h"
#include "tests/source_dir.h"
#include "tools/report/number_text.h"
#include "tools/validation/csv.h"

namespace warpfold::test {
namespace {

struct Row {
  std::string pass, name, kind, group;
  double pytorch_us, speedup;
  std::vector<std::string> operators;
};

std::vector<Row> measured() {
  const std::string file = WARPFOLD_SOURCE_DIR "/tests/claims/data/bert_layer_times.csv";
  const validation::CsvTable table = validation::parse_csv(file, read_file(file).value()).value();
  std::vector<Row> rows;
  for (const auto& cells : table.rows) {
    Row& row = rows.emplace_back(Row{cells[0].text,
                                     cells[1].text,
                                     cells[2].text,
                                     cells[4].text,
                                     std::stod(cells[3].text),
                                     cells[6].text.empty() ? 0 : std::stod(cells[6].text),
                                     {}});
    std::istringstream names(cells[7].text);
    for (std::string name; std::getline(names, name, ';');) row.operators.push_back(name);
  }
  return rows;
}

// A V100 SXM2 of 16 GB runs at 1312 MHz unless its applications clock is set (`nvidia-smi -q`: default applications clocks 1312 and
// 877 MHz; NVIDIA/nvidia-docker issue 914). The paper states no clock.
configs::Gpu lassen() {
  configs::Gpu gpu = gpu_called("v100_16gb");
  gpu.set_clock_mhz(1312);
  return gpu;
}

configs::LayerReport simulated(const std::string& kernels) {
  return layer_of(model_called("bert_large"), lassen(), {.simulate = true, .fused = true, .kernels = kernels});
}
// Versions of a report: unfused, projections stacked, fused.
const configs::LayerReport& eager() {
  static const configs::LayerReport report = simulated("eager_v100");
  return report;
}
const configs::LayerReport& fused() {
  static const configs::LayerReport report = simulated("data_movement_v100");
  return report;
}

double eager_us(const std::vector<std::string>& operators) {
  double sum = 0;
  for (const std::string& name : operators) sum += kernel_called(eager().versions(1), name).simulated_us();
  return sum;
}

// All kernels of a report are simulated: no time is the roofline's.
TEST(MeasuredLayer, EveryOperatorIsSimulated) {
  EXPECT_DOUBLE_EQ(eager().versions(1).simulated_percent(), 100);
  EXPECT_DOUBLE_EQ(fused().versions(2).simulated_percent(), 100);
}

// Table I of the paper; gradients of biases are among the normalisations there.
TEST(MeasuredLayer, ClassesHaveTheSharesOfTable1) {
  std::map<std::string, double> sums;
  double all = 0;
  for (const Row& row : measured()) {
    const double us = eager_us(row.operators);
    sums[row.kind] += us;
    all += us;
    std::cout << row.pass << " " << row.name << ": PyTorch " << report::fixed(row.pytorch_us, 0) << " us, simulated "
              << report::fixed(us, 1) << " us, " << report::fixed(100 * (us / row.pytorch_us - 1), 0) << " %\n";
  }
  expect_between({"contractions, % of the time in PyTorch", 61.0, 100 * sums["C"] / all}, 56.0, 66.0);
  expect_between({"normalisations, % of the time in PyTorch", 25.5, 100 * sums["N"] / all}, 20.5, 30.5);
  expect_between({"elementwise operators, % of the time in PyTorch", 13.5, 100 * sums["E"] / all}, 8.5, 18.5);
  expect_within_percent({"operators one by one in PyTorch, us", 8110, all}, 15);
}

TEST(MeasuredLayer, FusedKernelsTakeAsLong) {
  expect_within_percent({"fused kernels and products, us", 6739, fused().versions(2).time_us()}, 15);
}

// Of five tiles the fastest counts. A product of 64 columns leaves half of a tile of 128 empty.
TEST(MeasuredLayer, TheFastestTileIsTaken) {
  EXPECT_EQ(kernel_called(fused().versions(2), "gamma").kernel(), "volta_gemm_128x64");
  EXPECT_LT(kernel_called(fused().versions(2), "gamma").simulated_us(), 0.9 * eager_us({"gamma"}));
}

// Projections as one product read the input once, and fill the last wave: 345 us for three products, 275 for one.
TEST(MeasuredLayer, StackedProjectionsAreFaster) {
  const auto time = [](int version, std::initializer_list<const char*> names) {
    double sum = 0;
    for (const char* name : names) sum += kernel_called(fused().versions(version), name).simulated_us();
    return sum;
  };
  const double apart = time(0, {"Q", "K", "V"}), stacked = time(1, {"Q K V"});
  expect_within_percent({"Q, K and V one by one, forward, us", 345, apart}, 10);
  expect_within_percent({"Q, K and V as one product, forward, us", 275, stacked}, 12);
  expect_between({"Q, K and V one by one over stacked, forward", 345.0 / 275, apart / stacked}, 1.1, 1.4);
  const double backward = time(0, {"Q dX", "K dX", "V dX", "Q dW", "K dW", "V dW"}) / time(1, {"Q K V dX", "Q K V dW"});
  expect_between({"Q, K and V one by one over stacked, backward", 342.0 / 291, backward}, 1.0, 1.5);
}

// A kernel of the fused layer that does the group's operators.
const configs::LayerKernel& kernel_of_group(const std::set<std::string>& operators) {
  for (const configs::LayerKernel& kernel : fused().versions(2).kernels()) {
    std::set<std::string> own(kernel.operators().begin(), kernel.operators().end());
    if (std::ranges::includes(operators, own) && kernel.kind() != "contraction") return kernel;
  }
  throw std::runtime_error("no fused kernel does " + *operators.begin());
}

// Some fused kernels are slower, some faster, than PyTorch's operators in sequence.
TEST(MeasuredLayer, FusedKernelsGainAndLoseAlike) {
  std::map<std::string, std::vector<Row>> groups;
  for (const Row& row : measured()) {
    if (!row.group.empty()) groups[row.group].push_back(row);
  }
  ASSERT_EQ(groups.size(), 14U);
  std::vector<std::string> other_way;
  for (const auto& [name, rows] : groups) {
    std::set<std::string> operators;
    for (const Row& row : rows) operators.insert(row.operators.begin(), row.operators.end());
    const double alone = eager_us({operators.begin(), operators.end()});
    const double speedup = alone / kernel_of_group(operators).simulated_us();
    const double published = rows.front().speedup;
    std::cout << name << ": speed-up " << report::fixed(published, 2) << ", simulated " << report::fixed(speedup, 2) << "\n";
    if ((speedup > 1) != (published > 1)) other_way.push_back(name);
  }
  EXPECT_THAT(other_way, testing::ElementsAre("BAOB", "BSB"));  // 12 of 14 gain or lose in both (D104)
}

// NVIDIA developer forum 79781: cuBLAS on a V100 PCIe (1380 MHz), 8192 x 8192 x 8192 in FP16, about 101 TFLOPS with a tile of 128 x
// 128.
TEST(MeasuredProduct, OfAV100ReachesThePublishedRate) {
  configs::Gpu gpu = gpu_called("v100_16gb");
  gpu.set_clock_mhz(1380);
  const double us =
      simulated_us_of_listing(gpu, "configs/kernels/operators/volta_gemm_128x128.textproto",
                              {"parameter.rows.value=8192", "parameter.columns.value=8192", "parameter.depth.value=8192"});
  expect_within_percent({"8192 x 8192 x 8192 on a V100 at 1380 MHz, TFLOPS", 101, 2 * std::pow(8192.0, 3) / us / 1e6}, 6.5);
}

}  // namespace
}  // namespace warpfold::test
