#include <gmock/gmock.h>

#include <sstream>

#include "configs/layer.pb.h"
#include "program.h"

namespace warpfold::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class LayerStudy : public Program {
 protected:
  static constexpr const char* kStudy =
      "layer { model: \"gpt2\" gpu: \"a100_sxm\" forward: true fused: true }\n"
      "axis { name: \"sequence\" value: \"128\" value: \"256\" }\n"
      "axis { name: \"gpu.sm_count\" value: \"54\" value: \"108\" }\n"
      "figure { name: \"shares\" x: \"sequence\" fixed { axis: \"gpu.sm_count\" value: \"108\" }\n"
      "  quantity { label: \"products\" layer { of { kind: \"contraction\" } over {} } }\n"
      "  quantity { label: \"time\" layer { version: \"fused\" } }\n"
      "  quantity { label: \"words\" layer { measure: LAYER_WORDS_M version: \"fused\" } } }\n"
      "figure { name: \"mfu\" kind: MAP x: \"sequence\" y: \"gpu.sm_count\" quantity { label: \"MFU\" layer { measure: LAYER_MFU } "
      "} }\n"
      "figure { name: \"roofs\" kind: ROOFLINE series: \"gpu.sm_count\" fixed { axis: \"sequence\" value: \"256\" }\n"
      "  quantity { label: \"kernels\" layer {} } }\n";

  std::string error_with(const std::string& old, const std::string& now) {
    std::string text = kStudy;
    write("study.textproto", text.replace(text.find(old), old.size(), now));
    const Ended ended = run({"study", "study.textproto", "--output", "out"});
    EXPECT_EQ(ended.exit_code, 2);
    return ended.err;
  }
  std::vector<std::vector<std::string>> rows(const std::string& file) const {
    std::vector<std::vector<std::string>> found;
    std::istringstream text(read(file));
    for (std::string line; std::getline(text, line);) {
      std::istringstream cells(line);
      found.emplace_back();
      for (std::string cell; std::getline(cells, cell, ',');) found.back().push_back(cell);
    }
    return found;
  }
};

// The figures are those of `warpfold layer` at each point, and points that are there are not simulated again.
TEST_F(LayerStudy, SaysWhatTheLayerSays) {
  write("study.textproto", kStudy);
  const Ended ended = run({"study", "study.textproto", "--output", "out"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("out/roofs.svg"));
  const auto shares = rows("out/shares.csv");
  ASSERT_EQ(shares[0], (std::vector<std::string>{"sequence", "gpu.sm_count", "estimator", "products", "time", "words"}));
  ASSERT_EQ(shares[2][0], "256");
  ASSERT_EQ(shares[2][2], "simulation");
  const auto report = message<configs::LayerReport>(
      {"layer", "gpt2", "--gpu", "a100_sxm", "--forward", "--fused", "--set", "sequence=256", "--set", "gpu.sm_count=108"});
  const double fused = report.versions(2).time_us();
  const double unfused = report.versions(0).time_us();
  double products = 0;
  for (const configs::LayerKernel& kernel : report.versions(0).kernels()) {
    if (kernel.kind() == "contraction") products += kernel.time_us();
  }
  EXPECT_NEAR(std::stod(shares[2][4]), fused, 0.1);
  EXPECT_NEAR(std::stod(shares[2][3]), products / unfused, 1e-3);
  EXPECT_EQ(rows("out/mfu.csv").size(), 1 + 3 * 4);
  EXPECT_THAT(read("out/roofs.csv"), HasSubstr("256,54,simulation,norm 1,forward,normalisation,"));
  EXPECT_THAT(read("out/roofs.gp"), HasSubstr("tensor cores"));
  const std::string before = read("out/shares.csv");
  ASSERT_EQ(run({"study", "study.textproto", "--output", "out"}).exit_code, 0);
  EXPECT_EQ(read("out/shares.csv"), before);
}

// As of a scenario: without figures all points are simulated, for --format.
TEST_F(LayerStudy, NeedsNoFigure) {
  write("study.textproto",
        "layer { model: \"gpt2\" gpu: \"a100_sxm\" forward: true no_simulation: true }\n"
        "axis { name: \"sequence\" value: \"128\" value: \"256\" }\n");
  const Ended ended = run({"study", "study.textproto", "--output", "out", "--format", "csv"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(StartsWith("sequence,version,kernel,"), HasSubstr("\n128,"), HasSubstr("\n256,")));
}

TEST_F(LayerStudy, NamesThePlaceOfAMistake) {
  EXPECT_THAT(error_with("\"sequence\" value: \"128\"", "\"sequence\" value: \"0\""), StartsWith("study.textproto:2:"));
  EXPECT_THAT(error_with("value: \"54\"", "value: \"-1\""), StartsWith("study.textproto:3:29: study study at sequence="));
  EXPECT_THAT(error_with("kind: \"contraction\"", "operator: \"Q K V projection\""),
              StartsWith("study.textproto:5:3: study study, figure shares: the layer has no operator called \"Q K V projection\""));
  EXPECT_THAT(error_with("gpu: \"a100_sxm\"", "gpu: \"a100_sxn\""), StartsWith("study.textproto:1:"));
}

TEST_F(LayerStudy, VariesGpusAndModels) {
  write("study.textproto",
        "layer { model: \"gpt2\" forward: true no_simulation: true }\n"
        "axis { name: \"gpu\" value: \"h100_sxm\" value: \"h200_sxm\" }\n"
        "axis { name: \"model\" value: \"gpt2\" value: \"llama2_7b\" }\n"
        "figure { name: \"time\" x: \"model\" series: \"gpu\" quantity { label: \"us\" layer {} } }\n");
  ASSERT_EQ(run({"study", "study.textproto", "--output", "out"}).exit_code, 0);
  const auto times = rows("out/time.csv");
  ASSERT_EQ(times.size(), 5);
  EXPECT_EQ(times[1][2], "roofline");
  EXPECT_GT(std::stod(times[2][3]), 2 * std::stod(times[1][3]));
  EXPECT_LT(std::stod(times[3][3]), std::stod(times[1][3]));  // an H200 has more bandwidth
}

}  // namespace
}  // namespace warpfold::cli
