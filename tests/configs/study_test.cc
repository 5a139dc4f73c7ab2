#include <gtest/gtest.h>

#include "configs/model.h"
#include "scratch.h"

namespace warpfold::configs {
namespace {

constexpr const char* kAxes =
    "scenario_file: \"s.textproto\"\n"
    "axis { name: \"seq\" value: \"1\" value: \"2\" }\n"
    "axis { name: \"rounds\" value: \"5\" value: \"7\" }\n"
    "policy: SEQUENTIAL\n";

class StudyFile : public InScratchFolder {
 protected:
  static std::string error_of(const std::string& text) {
    write("study.textproto", text);
    const auto study = load_study("study.textproto");
    return study ? "no error" : study.error().text();
  }
  // A mistake in the only figure, on line 6.
  static std::string figure_error(const std::string& fields) { return error_of(std::string(kAxes) + "figure {\n" + fields + " }"); }
};

TEST_F(StudyFile, IsTakenAsItIs) {
  std::filesystem::create_directory("deep");
  write("deep/study.textproto",
        std::string(kAxes) +
            "figure { name: \"f\" x: \"seq\" series: \"rounds\" quantity { total_time: SEQUENTIAL } }\n"
            "figure { name: \"g\" kind: MAP x: \"seq\" y: \"rounds\" quantity { total_time: SEQUENTIAL } }");
  const Study study = load_study("deep/study.textproto").value();
  EXPECT_EQ(study.name(), "study");
  EXPECT_EQ(study.scenario_file(), "deep/s.textproto");
}

// Each value of each axis is a setting that the study's scenario takes.
TEST(StudyFiles, LoadAndVaryWhatTheirScenariosHave) {
  size_t values = 0;
  for (const auto& entry : std::filesystem::directory_iterator(gpu_path("../studies"))) {
    const auto study = load_study(entry.path().string());
    ASSERT_TRUE(study) << study.error().text();
    for (const Axis& axis : study->axis()) {
      for (const std::string& value : axis.value()) {
        if (study->has_layer()) {
          const auto model = load_model(study->layer().model(), {axis.name() + "=" + value});
          EXPECT_TRUE(model) << model.error().text();
          ++values;
          continue;
        }
        EXPECT_EQ(scenario_error(study->scenario_file(), {axis.name() + "=" + value}), "no error") << entry.path();
        ++values;
      }
    }
  }
  EXPECT_GE(values, 40);
}

TEST_F(StudyFile, OfALayerNamesTheMistakeAndItsPlace) {
  const std::string axes = "axis { name: \"batch\" value: \"1\" }\n";
  const std::string layer = "layer { model: \"gpt2\" }\n" + axes;
  const auto quantity = [&](const std::string& fields) {
    return error_of(layer + "figure { name: \"f\" x: \"batch\"\nquantity { " + fields + " } }");
  };
  EXPECT_EQ(error_of("layer { gpu: \"a100_sxm\" }\n" + axes), "study.textproto:1:1: layer: model is missing");
  EXPECT_EQ(error_of("scenario_file: \"s\"\n" + layer), "study.textproto:1:1: a study is of a layer or of a scenario, not of both");
  EXPECT_EQ(error_of(layer + "policy: SEQUENTIAL"), "study.textproto:3:1: policies are of scenarios, not of layers");
  EXPECT_EQ(quantity("total_time: SEQUENTIAL"), "study.textproto:4:1: a quantity of a layer is layer { measure: ... }");
  EXPECT_EQ(quantity("layer { of { kind: \"contractoin\" } }"),
            "study.textproto:4:25: no class of operators called \"contractoin\"; did you mean \"contraction\"?");
  EXPECT_EQ(quantity("layer { version: \"fast\" }"),
            "study.textproto:4:20: a version is one of unfused, stacked, fused, not \"fast\"");
  EXPECT_EQ(quantity("layer { version: \"fused\" }"), "study.textproto:4:20: version \"fused\" needs fused: true of the layer");
  EXPECT_EQ(error_of(layer + "figure { name: \"f\" kind: ROOFLINE\nx: \"batch\" quantity { layer {} } }"),
            "study.textproto:4:1: a ROOFLINE has no x; it shows kernels at one point, or over a series");
  EXPECT_EQ(figure_error("name: \"f\" kind: ROOFLINE"), "study.textproto:6:11: a ROOFLINE shows the kernels of a layer");
  EXPECT_EQ(figure_error("name: \"f\" x: \"seq\" fixed { axis: \"rounds\" value: \"5\" }\nquantity { layer {} }"),
            "study.textproto:7:12: the study is of a scenario, not of a layer");
  EXPECT_EQ(error_of("layer { model: \"gtp2\" }\n" + axes + "figure { name: \"f\" x: \"batch\" quantity { layer {} } }"),
            "study.textproto:1:9: there is neither a file \"gtp2\" nor a model of that name; did you mean \"gpt2\"?");
}

TEST_F(StudyFile, NamesTheMistakeAndItsPlace) {
  EXPECT_EQ(error_of("policy: SEQUENTIAL"), "study.textproto:1:1: scenario_file is missing");
  EXPECT_EQ(error_of("scenario_file: \"s\""), "study.textproto:1:1: no axis: a study varies something");
  EXPECT_EQ(error_of("scenario_file: \"s\"\naxis { name: \"seq\" }"), "study.textproto:2:1: axis \"seq\" has no value");
  EXPECT_EQ(error_of("scenario_file: \"s\"\naxis { name: \"a\" value: \"1\" }\naxis { name: \"a\" value: \"1\" }"),
            "study.textproto:3:8: a second axis called \"a\"");
  EXPECT_EQ(error_of("scenario_file: \"s\"\naxis { name: \"a\" value: \"1\"\nvalue: \"1\" }"),
            "study.textproto:3:1: axis \"a\" has 1 twice");
  EXPECT_EQ(error_of("scenario_file: \"s\"\naxis { name: \"a\" value: \"1\" }\npolicy: SEQUENTIAL\npolicy: SEQUENTIAL"),
            "study.textproto:4:1: SEQUENTIAL is given twice");
}

TEST_F(StudyFile, FiguresSayWhereEveryAxisIs) {
  const std::string total = " quantity { total_time: SEQUENTIAL }";
  EXPECT_EQ(figure_error("x: \"seq\""), "study.textproto:5:1: a figure has no name");
  EXPECT_EQ(figure_error("name: \"a/b\" x: \"seq\""),
            "study.textproto:6:1: a figure's name is a file's: no / and no space, not \"a/b\"");
  EXPECT_EQ(figure_error("name: \"f\"" + total), "study.textproto:5:1: figure \"f\": x is missing");
  EXPECT_EQ(figure_error("name: \"f\" x: \"sec\"" + total), "study.textproto:6:11: no axis called \"sec\"; did you mean \"seq\"?");
  EXPECT_EQ(figure_error("name: \"f\" kind: MAP x: \"seq\" y: \"seq\"" + total),
            "study.textproto:6:30: axis \"seq\" is used twice");
  EXPECT_EQ(figure_error("name: \"f\" x: \"seq\"" + total),
            "study.textproto:5:1: figure \"f\" says nothing of axis \"rounds\": give it a fixed value");
  EXPECT_EQ(figure_error("name: \"f\" x: \"seq\" fixed { axis: \"rounds\" value: \"1024\" }" + total),
            "study.textproto:6:43: axis \"rounds\" has no value \"1024\"; known: 5, 7");
  EXPECT_EQ(figure_error("name: \"f\" x: \"seq\" series: \"rounds\"" + total + total),
            "study.textproto:6:20: LINES with a series show one quantity");
  EXPECT_EQ(figure_error("name: \"f\" x: \"seq\" series: \"rounds\""),
            "study.textproto:6:20: LINES with a series show one quantity");
  EXPECT_EQ(figure_error("name: \"f\" kind: MAP x: \"seq\" y: \"rounds\" quantity { label: \"l\" }"),
            "study.textproto:6:42: a quantity is one of speedup, total_time, kernel_time, kernel_alone, kernel_slowdown, "
            "stored_bits_mb, energy_j, region");
  EXPECT_EQ(figure_error("name: \"f\" kind: MAP x: \"seq\" y: \"rounds\" quantity { total_time: CARVE_OUT }"),
            "study.textproto:6:53: the study does not simulate policy CARVE_OUT");
}

}  // namespace
}  // namespace warpfold::configs
