// A user's table of names: sizes that its rules state, values in turn, and launches near a launch.

#include <gmock/gmock.h>

#include <stdexcept>

#include "configs/load.h"
#include "tests/profile/name_tables.h"
#include "tests/source_dir.h"
#include "tools/profile/neighbours.h"
#include "tools/profile/reading.h"
#include "tools/profile/sizes.h"

namespace warpfold::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LaunchShape launch(const std::string& name, uint32_t grid_x, uint32_t shared_memory_bytes = 0) {
  return {.name = name,
          .grid = {grid_x, 2, 1},
          .block = {128, 1, 1},
          .registers_per_thread = 40,
          .shared_memory_bytes = shared_memory_bytes,
          .op = {}};
}

// A profile with a launch of each shape number, one a microsecond.
Profile profile_of(std::vector<LaunchShape> shapes, const std::vector<uint32_t>& launches) {
  Profile profile;
  profile.shapes = std::move(shapes);
  for (size_t l = 0; l < launches.size(); ++l)
    profile.launches.push_back({.shape = launches[l], .stream = 7, .start_us = static_cast<double>(l), .us = 1});
  return profile;
}
std::vector<uint32_t> shapes_of(const Profile& profile) {
  std::vector<uint32_t> shapes;
  for (const Launch& each : profile.launches) shapes.push_back(each.shape);
  return shapes;
}
Sizes sizes(const NameTable& names, const LaunchShape& shape) { return sizes_of(names.find(shape.name, shape.op.name), shape); }

TEST(StatedSizes, AreExpressionsOfTheLaunch) {
  const NameTable names = table(R"rule(rule { pattern: "gemm_(?P<tile>\\d+)" sizes: STATED
      size { name: "k" value: "(shared_memory_bytes - 1000) * 16" }
      size { name: "rows" value: "grid_x * tile" } size { name: "both" value: "rows + k" } })rule");
  const Sizes found = sizes(names, launch("gemm_128", 3, 1032));
  EXPECT_EQ(found.missing, "");
  EXPECT_EQ(found.values.at("k"), "512");
  EXPECT_EQ(found.values.at("rows"), "384");
  EXPECT_EQ(found.values.at("both"), "896");
  EXPECT_EQ(sizes(names, launch("gemm_128", 3, 1000)).missing,
            "size k, (shared_memory_bytes - 1000) * 16, is not a whole number from 1 on");
}

// Launches of all shapes of a rule take its values in one order; a launch of another rule takes none.
TEST(StatedSizes, TakeTurns) {
  const NameTable names = table(R"(rule { pattern: "gemm" sizes: STATED size { name: "n" value: ["10", "20", "30"] } }
      rule { pattern: "add" })");
  Profile profile = profile_of({launch("gemm", 1), launch("gemm", 2), launch("add", 1)}, {0, 2, 1, 0, 0, Launch::kCopy, 0});
  tell_apart(names, profile);
  EXPECT_THAT(shapes_of(profile), ElementsAre(0, 1, 2, 3, 0, Launch::kCopy, 4));
  std::vector<std::string> taken;
  for (const uint32_t shape : {0, 2, 3, 4}) taken.push_back(sizes(names, profile.shapes[shape]).values.at("n"));
  EXPECT_THAT(taken, ElementsAre("10", "20", "30", "20"));
}

TEST(StatedSizes, UseTheGridOfALaunchBeforeOrAfter) {
  for (const bool after : {false, true}) {
    const NameTable names =
        table(R"(rule { pattern: "gemm" sizes: STATED near { pattern: "cast" after: )" + std::string(after ? "true" : "false") +
              R"( } size { name: "rows" value: "near_grid_x * 4 + near_shared_memory_bytes" } })");
    Profile profile = profile_of({launch("cast", 5, 3), launch("gemm", 1), launch("cast", 6)}, {0, 1, 1, 2, 1});
    tell_apart(names, profile);
    std::vector<std::string> rows;
    for (const uint32_t shape : shapes_of(profile)) {
      if (profile.shapes[shape].name != "gemm") continue;
      const Sizes found = sizes(names, profile.shapes[shape]);
      rows.push_back(found.missing.empty() ? found.values.at("rows") : found.missing);
    }
    if (after) {
      EXPECT_THAT(rows, ElementsAre("24", "24", "no launch near it has the name that its rule expects"));
    } else {
      EXPECT_THAT(rows, ElementsAre("23", "23", "24"));
    }
  }
}

TEST(StatedSizes, ARuleMayNameTheOperator) {
  const NameTable names =
      table(R"(rule { family: "one" pattern: "gemm" operator: "^Linear" } rule { family: "other" pattern: "gemm" })");
  EXPECT_EQ(names.find("gemm", "LinearBackward").rule->family(), "one");
  EXPECT_EQ(names.find("gemm", "aten::mm").rule->family(), "other");
  EXPECT_EQ(names.find("gemm").rule->family(), "other");
}

TEST(StatedSizes, MistakesHaveAPlace) {
  EXPECT_THAT(mistake("rule {\n  pattern: \"(\"\n}"), HasSubstr("my.textproto:2:3: pattern \"(\": missing )"));
  EXPECT_THAT(mistake("rule { pattern: \"f\"\n operator: \"[\" }"), HasSubstr("my.textproto:2:2: pattern \"[\""));
  EXPECT_THAT(mistake("rule { sizes: STATED\n near { pattern: \"*\" } }"), HasSubstr("my.textproto:2:2: pattern \"*\""));
  EXPECT_THAT(mistake("rule { sizes: STATED\n size { name: \"k\" value: \"1 +\" } }"), HasSubstr("my.textproto:2:2: size \"k\": "));
  EXPECT_THAT(mistake("rule { sizes: STATED size { name: \"k\" } }"),
              HasSubstr("my.textproto:1:22: a size needs a name and a value"));
  EXPECT_THAT(mistake("rule { sizes: STATED\n size { name: \"k\" value: \"grid_q * 2\" } }"), HasSubstr("no \"grid_q\""));
  EXPECT_THAT(mistake("rule { sizes: STATED\n size { name: \"k\" value: \"near_grid_x\" } }"), HasSubstr("no \"near_grid_x\""));
  EXPECT_THAT(mistake("rule { size { name: \"k\" value: \"1\" } }"),
              HasSubstr("size, near, sequence and check belong to sizes: STATED"));
  EXPECT_THAT(mistake("rule { patern: \"f\" }"), HasSubstr("my.textproto:1:8: "));
  std::string many = "rule { sizes: STATED";
  for (const int count : {61, 71}) {
    many += " size { name: \"n" + std::to_string(count) + "\"";
    for (int i = 0; i < count; ++i) many += " value: \"1\"";
    many += " }";
  }
  EXPECT_THAT(mistake(many + " }"), HasSubstr("repeat after more than 4096 launches"));
}

// The table of DeepSeek-V3's training step: one layer's weight gradients, in the order of their launches.
TEST(StatedSizes, OfDeepSeeksWeightGradients) {
  const auto names = NameTable::load(WARPFOLD_SOURCE_DIR "/configs/profiles/deepseek_v3_training.textproto");
  ASSERT_TRUE(names) << names.error().text();
  LaunchShape gemm = launch("dpsk::grouped_gemm::cuda::fp8_dptp128c_acc::GemmKernel", 112, 203776);
  const LaunchShape cast{.name = "cuda::per_channel_cast_and_transpose<256, 128, true, true, true, false, true>",
                         .grid = {56, 271, 1},
                         .block = {256, 1, 1},
                         .op = {}};
  Profile profile = profile_of({cast, gemm}, {0, 1, 1});
  tell_apart(*names, profile);
  const Sizes shared = sizes(*names, profile.shapes[1]);
  EXPECT_EQ(shared.values.at("m") + " " + shared.values.at("n") + " " + shared.values.at("k"), "7168 2048 4096");
  const Sizes routed = sizes(*names, profile.shapes[2]);
  EXPECT_EQ(routed.values.at("m") + " " + routed.values.at("n") + " " + routed.values.at("k"), "2048 7168 8672");
  const auto gpu = configs::load_gpu(WARPFOLD_SOURCE_DIR "/configs/gpus/h800_sxm.textproto");
  ASSERT_TRUE(gpu) << gpu.error().text();
  validation::RowMapper mapper(WARPFOLD_SOURCE_DIR "/configs/gpus", {});
  Reading reading = read_launch(*names, profile.shapes[2], {*gpu, true, WARPFOLD_SOURCE_DIR "/configs/kernels/operators"}, mapper);
  ASSERT_TRUE(reading.run) << reading.opaque;
  const configs::HopperGemm& product = reading.run->scenario.kernel(0).hopper_gemm();
  EXPECT_EQ(product.k(), 8672);
  EXPECT_EQ(product.grid_ctas(), 224);  // this test's grid has 112 x 2 CTAs
  EXPECT_EQ(product.fp8_accumulation(), configs::VECTOR_SCALED);
}

// The embedded table's rules and words count behind a user's.
TEST(StatedSizes, AUsersTableComesFirst) {
  const auto names = NameTable::load(WARPFOLD_SOURCE_DIR "/configs/profiles/deepseek_v3_training.textproto");
  ASSERT_TRUE(names) << names.error().text();
  EXPECT_EQ(names->find("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT").rule->family(), "cuBLAS GEMM (nvjet)");
  EXPECT_EQ(names->find("dpsk::grouped_gemm::cuda::fp8_ptp128c::GemmKernel").rule->sizes(), STATED);
}

}  // namespace
}  // namespace warpfold::profile
