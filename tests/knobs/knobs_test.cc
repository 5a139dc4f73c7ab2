// The table of fields is the schema's, docs/knobs.md lists the same fields, and a sample of the sweep has the anomalies that the
// page explains, no other.

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "configs/load.h"
#include "configs/resources.h"
#include "tests/source_dir.h"
#include "tools/knobs/explanations.h"
#include "tools/knobs/fields.h"
#include "tools/knobs/findings.h"
#include "tools/knobs/page.h"
#include "tools/knobs/sweep.h"

namespace warpfold::knobs {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kScenarios = WARPFOLD_SOURCE_DIR "/tools/knobs/scenarios";

configs::Gpu gpu(const std::string& name) {
  return configs::load_gpu(WARPFOLD_SOURCE_DIR "/configs/gpus/" + name + ".textproto").value();
}

TEST(Fields, EachHasOneMeaning) {
  const std::vector<std::string> fields = numeric_fields();
  EXPECT_GT(fields.size(), 120U);
  for (const std::string& field : fields) EXPECT_TRUE(meaning_of(field)) << field << " needs a row in tools/knobs/fields.cc";
}

TEST(Fields, RowsAreFieldsOfTheSchemaAndNoResources) {
  const std::vector<std::string> fields = numeric_fields();
  std::set<std::string_view> seen;
  for (const FieldRow& row : field_rows()) {
    EXPECT_THAT(fields, testing::Contains(row.path));
    EXPECT_TRUE(seen.insert(row.path).second) << row.path;
    for (const configs::ScalableResource& resource : configs::scalable_resources()) EXPECT_NE(resource.path, row.path);
  }
}

TEST(Fields, SettingsMultiply) {
  const configs::Gpu h100 = gpu("h100_sxm");
  EXPECT_THAT(settings_of(h100, "sm.memory_credits", 0.5), ElementsAre("gpu.sm.memory_credits=15"));
  EXPECT_THAT(settings_of(h100, "sm.tensor.scale", 1.1), ElementsAre("gpu.sm.tensor.scale=1.1"));
  EXPECT_THAT(settings_of(h100, "sm.warp_slots", 0.5), ElementsAre("gpu.sm.warp_slots=32", "gpu.sub_core.warp_slots=8"));
  EXPECT_THAT(settings_of(h100, "power.point.*.clock_mhz", 2), testing::SizeIs(7));
  EXPECT_THAT(settings_of(h100, "power.point.*.clock_mhz", 2), testing::Contains("gpu.power.point[0].clock_mhz=842"));
  EXPECT_THAT(settings_of(h100, "sm.memory_issue_interval_cycles", 0.9), IsEmpty());  // 1 stays 1
  EXPECT_THAT(settings_of(h100, "sm.tcgen05.columns_per_clk", 2), IsEmpty());         // Hopper has none
}

Sweep of_times(const std::string& field, std::vector<Run> runs) {
  return {.scenarios = {{"s", "", ""}}, .fields = {field}, .responses = {{field, "s", std::move(runs), ""}}};
}

TEST(Findings, AnAnomalyIsTheWorstPairOfAmounts) {
  // A rate: 10 % slower from 0.9 to 2, which 1 lies between.
  const auto rate = anomalies(of_times("sm.tensor.scale", {{0.5, 1.5}, {0.9, 0.98}, {1.1, 1.01}, {2, 1.078}}));
  ASSERT_EQ(rate.size(), 1U);
  EXPECT_EQ(rate[0].worse, 0.9);
  EXPECT_EQ(rate[0].better, 2);
  EXPECT_NEAR(rate[0].slower, 0.1, 1e-9);
  // Of a latency less is better.
  EXPECT_THAT(anomalies(of_times("l2.latency_scale", {{0.5, 0.9}, {2, 1.2}})), IsEmpty());
  EXPECT_THAT(anomalies(of_times("l2.latency_scale", {{0.5, 1.1}})), testing::SizeIs(1));
  // Within the bounds of folding, and of a field that only makes another machine.
  EXPECT_THAT(anomalies(of_times("sm.tensor.scale", {{2, 1.008, 0.004}})), IsEmpty());
  EXPECT_THAT(anomalies(of_times("timed_launch_us", {{2, 2}})), IsEmpty());
}

TEST(Findings, AFieldIsInertIfNothingMoves) {
  EXPECT_EQ(reach_of_fields(of_times("sm.tensor.scale", {{2, 1.0009}})).front().reach, Reach::kNothing);
  EXPECT_EQ(reach_of_fields(of_times("sm.tensor.scale", {{2, 0.998}})).front().reach, Reach::kMoves);
  EXPECT_EQ(reach_of_fields(of_times("sm.tensor.scale", {{2, 0.998}})).front().moved, 1U);
  EXPECT_EQ(reach_of_fields(of_times("sm.tensor.scale", {})).front().reach, Reach::kNotRun);
}

std::string page() {
  std::ifstream file(WARPFOLD_SOURCE_DIR "/docs/knobs.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

// The first column of the table behind a heading, without its quotation marks.
std::vector<std::string> first_column(const std::string& text, const std::string& heading) {
  std::vector<std::string> cells;
  const size_t begin = text.find("\n## " + heading + "\n");
  const size_t end = std::min(text.find("\n## ", begin + 1), text.size());
  for (size_t at = text.find("\n| `", begin); at < end; at = text.find("\n| `", at + 1)) {
    cells.push_back(text.substr(at + 4, text.find('`', at + 4) - at - 4));
  }
  return cells;
}

TEST(Page, ListsTheFieldsOfTheSchemaAndTheScenarios) {
  EXPECT_THAT(first_column(page(), "Every field"), ElementsAreArray(numeric_fields()));
  std::vector<std::string> names;
  for (const std::string& file : scenario_files(kScenarios)) names.push_back(configs::load_scenario(file, {}).value().name());
  EXPECT_THAT(first_column(page(), "Scenarios"), ElementsAreArray(names));
}

TEST(Page, ExplainsAll) {
  EXPECT_THAT(page(), testing::Not(HasSubstr("not explained")));
  for (const std::string& field : first_column(page(), "Inert fields")) EXPECT_TRUE(why_inert(field)) << field;
}

// Scenarios that take some hundredths of a second, fields of every group.
TEST(Sample, HasNoAnomalyThatThePageDoesNotExplain) {
  const std::vector<std::string> fields{"sm_count",
                                        "clock_mhz",
                                        "sub_core.issue.scale",
                                        "sub_core.fma_heavy.scale",
                                        "sm.tensor.scale",
                                        "sm.network.scale",
                                        "l2.scale",
                                        "l2.latency_scale",
                                        "dram.scale",
                                        "dram.latency_scale",
                                        "sm.memory_credits",
                                        "sm.shared_memory.bytes_per_clk",
                                        "power.cap_w",
                                        "timed_launch_us"};
  std::vector<std::string> files;
  for (const char* name : {"gemm_h100", "copy_h100", "loads_a100", "gemm_fp8_b200", "xqa_decode_h200", "qkv_philox_h100"}) {
    files.push_back(kScenarios + "/" + name + ".textproto");
  }
  const auto swept = sweep(files, fields, 2);
  ASSERT_TRUE(swept) << swept.error().text;
  for (const Anomaly& anomaly : anomalies(*swept)) {
    EXPECT_TRUE(mechanism_of(anomaly)) << anomaly.field << " x " << anomaly.better << " makes " << anomaly.scenario << " slower by "
                                       << 100 * anomaly.slower << " %";
  }
  for (const FieldReach& field : reach_of_fields(*swept)) {
    EXPECT_EQ(field.reach, field.field == "timed_launch_us" ? Reach::kNothing : Reach::kMoves) << field.field;
  }
}

}  // namespace
}  // namespace warpfold::knobs
