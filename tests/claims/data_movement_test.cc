// Ivanov et al., "Data Movement Is All You Need" (arXiv 2007.00072): operators of a BERT layer, their classes, and the savings of
// fusion.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "configs/read_file.h"
#include "tests/claims/claim.h"
#include "tests/claims/layer_model.h"
#include "tests/source_dir.h"
#include "tools/report/number_text.h"
#include "tools/validation/csv.h"
#include "workloads/layer/build.h"
#include "workloads/layer/fusion.h"

namespace warpfold::test {
namespace {

using layer::FusedKernel;
using layer::Graph;

// The layer as table III has it: projections stacked, softmax and its dropout one row.
struct Bert {
  Graph graph = layer::build_layer(model_called("bert_large"), {});
  std::map<std::string, FusedKernel> kernels;  // by the operators that they are, joined by " + "

  Bert() {
    for (const FusedKernel& each : layer::unfused(graph)) kernels[each.name] = each;
    for (const FusedKernel& each : layer::fuse(graph, layer::Epilogue::kScale)) {
      std::string all;
      for (const int member : each.operators) all += (all.empty() ? "" : " + ") + graph.operators[static_cast<size_t>(member)].name;
      kernels.try_emplace(all, each);
    }
  }

  double gflop(const FusedKernel& kernel) const { return static_cast<double>(layer::flops_of(graph, kernel)) / (1 << 30); }
  double inputs(const FusedKernel& kernel) const { return static_cast<double>(graph.words(kernel.inputs)) / 1e6; }
  double outputs(const FusedKernel& kernel) const { return static_cast<double>(graph.words(kernel.outputs)) / 1e6; }
  char class_of(const FusedKernel& kernel) const {
    char found = 'E';
    for (const int member : kernel.operators) {
      const layer::OperatorClass kind = graph.operators[static_cast<size_t>(member)].kind;
      if (kind == layer::OperatorClass::kContraction) return 'C';
      if (kind == layer::OperatorClass::kNormalisation) found = 'N';
    }
    return found;
  }
};

size_t decimals_of(const std::string& printed) {
  const size_t point = printed.find('.');
  return point == std::string::npos ? 0 : printed.size() - point - 1;
}

// The table cuts words off behind the printed digit (12.58 is 12.5) and rounds operations (0.0117 is 0.012).
std::string as_printed(const std::string& printed, double value, bool cut) {
  if (printed == "-") return value == 0 ? "-" : report::fixed(value, 3);
  if (printed.starts_with('<')) return value < std::stod(printed.substr(1)) ? printed : report::fixed(value, 3);
  const double unit = std::pow(10.0, static_cast<double>(decimals_of(printed)));
  const double scaled = value * unit;
  return report::fixed((cut ? std::floor(scaled) : std::round(scaled)) / unit, static_cast<int>(decimals_of(printed)));
}

validation::CsvTable table_3() {
  const std::string file = WARPFOLD_SOURCE_DIR "/tests/claims/data/bert_layer_table3.csv";
  return validation::parse_csv(file, read_file(file).value()).value();
}

TEST(DataMovement, EveryRowOfTable3ToThePrintedDigits) {
  const Bert bert;
  const validation::CsvTable table = table_3();
  size_t contradicted = 0;
  for (const auto& row : table.rows) {
    const auto at = [&](const std::string& name) {
      for (size_t c = 0; c < table.header.size(); ++c) {
        if (table.header[c].text == name) return row[c].text;
      }
      throw std::runtime_error("no column " + name);
    };
    const auto known = bert.kernels.find(at("kernel"));
    ASSERT_NE(known, bert.kernels.end()) << at("kernel");
    const auto compare = [&](const std::string& column, double value, bool cut) {
      const std::string computed = as_printed(at(column), value, cut);
      const std::string where = at("pass") + " " + at("operator") + ", " + column;
      if (at("differs").find(column) == std::string::npos) {
        EXPECT_EQ(computed, at(column)) << where;
        return;
      }
      ++contradicted;
      EXPECT_NE(computed, at(column)) << where << " is met: it is no contradiction";
      std::cout << where << ": printed " << at(column) << ", computed " << computed << ": " << at("reason") << "\n";
    };
    compare("gflop", bert.gflop(known->second), false);
    compare("inputs", bert.inputs(known->second), true);
    compare("outputs", bert.outputs(known->second), true);
    EXPECT_EQ(layer::name_of(bert.graph.operators[static_cast<size_t>(known->second.operators.front())].pass), at("pass"));
    // The gradient of a bias sums, which is why table I has it among the normalisations though table III marks it elementwise.
    const bool bias_gradient = at("operator").find("bias dW") != std::string::npos;
    EXPECT_EQ(std::string(1, bert.class_of(known->second)), bias_gradient ? "N" : at("class")) << at("operator");
    EXPECT_EQ(
        bert.graph.operators[static_cast<size_t>(known->second.operators.front())].attention && bert.class_of(known->second) != 'C',
        at("attention") == "1")
        << at("pass") << " " << at("operator");
  }
  EXPECT_EQ(table.rows.size(), 46U);
  EXPECT_EQ(contradicted, 9U);
}

TEST(DataMovement, ClassesHaveTheOperationsOfTables1And3) {
  const Bert bert;
  std::map<char, double> sums;
  double all = 0;
  const validation::CsvTable table = table_3();
  for (const auto& row : table.rows) {
    const FusedKernel& kernel = bert.kernels.at(row[7].text);
    sums[bert.class_of(kernel)] += bert.gflop(kernel);
    all += bert.gflop(kernel);
  }
  EXPECT_EQ(report::fixed(sums['C'], 3), "312.000");
  EXPECT_EQ(report::fixed(sums['N'], 3), "0.535");
  EXPECT_EQ(report::fixed(sums['E'], 3), "0.098");
  EXPECT_EQ(report::fixed(all, 3), "312.633");
  EXPECT_EQ(report::fixed(100 * sums['C'] / all, 2), "99.80");
  EXPECT_EQ(report::fixed(100 * sums['N'] / all, 2), "0.17");
  EXPECT_EQ(report::fixed(100 * sums['E'] / all, 2), "0.03");
}

// Names follow from operators and their neighbours; which operators each has is section IV of the paper.
TEST(DataMovement, FusionFindsTheTwelveKernels) {
  const Bert bert;
  std::map<std::string, std::set<std::vector<std::string>>> found;
  for (const FusedKernel& each : layer::fuse(bert.graph, layer::Epilogue::kScale)) {
    if (bert.class_of(each) == 'C') continue;
    std::vector<std::string> operators;
    for (const int member : each.operators) operators.push_back(bert.graph.operators[static_cast<size_t>(member)].name);
    found[each.name].insert(operators);
  }
  const std::map<std::string, std::set<std::vector<std::string>>> expected{
      {"AIB", {{"input bias"}}},
      {"BAIB", {{"input bias dW"}}},
      {"BAOB", {{"output bias dW"}}},
      {"BDRB", {{"bias 2 dW", "dropout 1 dX", "relu dX", "bias 1 dW"}}},
      {"BDRLN", {{"output bias", "dropout", "residual", "layernorm"}, {"bias 2", "dropout 2", "residual 2", "layernorm 2"}}},
      {"BEI", {{"add d input"}}},
      {"BLNRD", {{"layernorm 2 dX", "dropout 2 dX"}, {"layernorm dX", "dropout dX"}}},
      {"BRD", {{"bias 1", "relu", "dropout 1"}}},
      {"BS", {{"attention dropout dX", "softmax dX"}}},
      {"BSB", {{"layernorm 2 dW"}}},
      {"EBSB", {{"add d layernorm", "layernorm dW"}}},
      {"SM", {{"softmax", "attention dropout"}}},
  };
  EXPECT_EQ(found, expected);
}

TEST(DataMovement, FusionSaves) {
  const configs::LayerReport report = layer_of(model_called("bert_large"), gpu_called("v100_16gb"), {.fused = true});
  expect_between({"words moved that fusion saves, %", 22.91, report.words_saved_percent()}, 22.91 - 1.5, 22.91 + 1.5);
}

}  // namespace
}  // namespace warpfold::test
