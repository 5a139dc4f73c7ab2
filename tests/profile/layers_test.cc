// Tables of names with layers of a network: launches of several rules that take the values of a sequence together, conditions on a
// launch, checks of its sizes; and the table of ResNet-50's training step.

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

LaunchShape launch(const std::string& name, std::array<uint32_t, 3> grid, const std::string& op = {}, uint32_t threads = 128,
                   uint32_t shared_memory_bytes = 0) {
  LaunchShape shape{.name = name, .grid = grid, .block = {threads, 1, 1}, .registers_per_thread = 40, .op = {}};
  shape.shared_memory_bytes = shared_memory_bytes;
  shape.op.name = op;
  return shape;
}

Profile profile_of(const std::vector<LaunchShape>& launches) {
  Profile profile;
  for (const LaunchShape& each : launches) {
    profile.launches.push_back({.shape = static_cast<uint32_t>(profile.shapes.size()), .stream = 7, .us = 1});
    profile.launches.back().start_us = static_cast<double>(profile.shapes.size());
    profile.shapes.push_back(each);
  }
  return profile;
}

// A size of each launch, or the reason that it has none.
std::vector<std::string> sizes_of_all(const NameTable& names, Profile profile, const std::string& size) {
  tell_apart(names, profile);
  std::vector<std::string> found;
  for (const Launch& each : profile.launches) {
    const LaunchShape& shape = profile.shapes[each.shape];
    const Sizes sizes = sizes_of(names.find(shape), shape);
    found.push_back(sizes.missing.empty() ? sizes.values.at(size) : sizes.missing);
  }
  return found;
}

const std::string kLayers =
    R"(sequence { name: "layers" size { name: "width" value: ["10", "20", "30"] } size { name: "two" value: "width * 2" } }
    rule { pattern: "gemm" sizes: STATED sequence: "layers" }
    rule { pattern: "winograd" sizes: STATED sequence: "layers" }
    rule { pattern: "layout" sizes: STATED sequence: "layers" place: BEFORE }
    rule { pattern: "norm" sizes: STATED sequence: "layers" place: AFTER })";

TEST(Layers, RulesOfASequenceCountTogether) {
  const NameTable names = table(kLayers);
  const Profile profile = profile_of({launch("layout", {1, 1, 1}), launch("gemm", {1, 1, 1}), launch("norm", {1, 1, 1}),
                                      launch("winograd", {1, 1, 1}), launch("norm", {1, 1, 1}), launch("layout", {1, 1, 1}),
                                      launch("gemm", {1, 1, 1}), launch("norm", {1, 1, 1}), launch("gemm", {1, 1, 1})});
  EXPECT_THAT(sizes_of_all(names, profile, "width"), ElementsAre("10", "10", "10", "20", "20", "30", "30", "30", "10"));
  EXPECT_EQ(sizes_of_all(names, profile, "two")[6], "60");
}

// Layers of equal sizes are one kernel.
TEST(Layers, EqualLayersShareAShape) {
  const NameTable names = table(R"(sequence { name: "layers" size { name: "n" value: ["1", "2", "1"] } }
      rule { pattern: "gemm" sizes: STATED sequence: "layers" })");
  Profile profile = profile_of({launch("gemm", {1, 1, 1})});
  for (int i = 0; i < 3; ++i) profile.launches.push_back(profile.launches.front());
  tell_apart(names, profile);
  std::vector<uint32_t> shapes;
  for (const Launch& each : profile.launches) shapes.push_back(each.shape);
  EXPECT_THAT(shapes, ElementsAre(0, 1, 0, 0));
}

TEST(Layers, AConditionChoosesTheRule) {
  const NameTable names = table(R"(rule { family: "images" pattern: "layout" when: "grid_z == 32 and grid_x > 1" }
      rule { family: "filter" pattern: "layout" })");
  EXPECT_EQ(names.find(launch("layout", {2, 1, 32})).rule->family(), "images");
  EXPECT_EQ(names.find(launch("layout", {1, 1, 32})).rule->family(), "filter");
}

TEST(Layers, ALaunchOfAnotherLayerIsOpaque) {
  const NameTable names = table(R"(sequence { name: "layers" size { name: "n" value: ["10", "20"] } }
      rule { pattern: "gemm" sizes: STATED sequence: "layers" check: "grid_x == n" })");
  EXPECT_THAT(sizes_of_all(names, profile_of({launch("gemm", {10, 1, 1}), launch("gemm", {10, 1, 1})}), "n"),
              ElementsAre("10", "grid 10 x 1 x 1 is not one of the layer that its turn states: grid_x == n"));
}

TEST(Layers, MistakesHaveAPlace) {
  const std::string layers = R"(sequence { name: "layers" size { name: "n" value: ["1", "2"] } })";
  EXPECT_THAT(mistake("rule { pattern: \"f\"\n when: \"grid_x =\" }"), HasSubstr("my.textproto:2:2: when: "));
  EXPECT_THAT(mistake("rule { pattern: \"f\"\n when: \"n == 1\" }"), HasSubstr("no \"n\""));
  EXPECT_THAT(mistake("rule { sizes: STATED\n sequence: \"l\" }"),
              HasSubstr("my.textproto:2:2: no sequence of this table is named \"l\""));
  EXPECT_THAT(mistake("rule { sizes: STATED\n place: AFTER }"), HasSubstr("my.textproto:2:2: place belongs to a sequence"));
  EXPECT_THAT(mistake(layers + "rule {\n sequence: \"layers\" }"),
              HasSubstr("my.textproto:2:2: size, near, sequence and check belong"));
  EXPECT_THAT(mistake("rule {\n check: \"grid_x == 1\" }"), HasSubstr("my.textproto:2:2: size, near, sequence and check belong"));
  EXPECT_THAT(mistake(layers + "rule { sizes: STATED sequence: \"layers\"\n size { name: \"m\" value: [\"1\", \"2\"] } }"),
              HasSubstr("my.textproto:2:2: size \"m\": values in turn belong to the rule's sequence"));
  EXPECT_THAT(mistake(layers + "rule { sizes: STATED sequence: \"layers\"\n check: \"m == 1\" }"),
              HasSubstr("my.textproto:2:2: check: "));
  EXPECT_THAT(mistake("sequence { size { name: \"n\" value: \"1\" } }"),
              HasSubstr("my.textproto:1:1: sequence \"\": a sequence needs a name"));
  EXPECT_THAT(mistake("sequence { name: \"s\" size { name: \"n\" } }"), HasSubstr("a size needs a name and a value"));
  EXPECT_THAT(mistake("sequence { name: \"s\" size { name: \"n\" value: \"grid_x\" } }"), HasSubstr("no \"grid_x\""));
  EXPECT_THAT(mistake(R"(sequence { name: "s" size { name: "n" value: ["1", "2", "3"] } size { name: "m" value: ["1", "2"] } })"),
              HasSubstr("size \"m\" has 2 values, not 1 or 3"));
  std::string many = "sequence { name: \"s\" size { name: \"n\"";
  for (int i = 0; i < 4097; ++i) many += " value: \"1\"";
  EXPECT_THAT(mistake(many + " } }"), HasSubstr("more than 4096 layers"));
}

// ResNet-50
// ------------------------------------------------------------------------------------------------------------------------------
const std::string kForward = "aten::cudnn_convolution", kBackward = "aten::convolution_backward";

class ResNet : public testing::Test {
 protected:
  static NameTable names() {
    auto loaded = NameTable::load(WARPFOLD_SOURCE_DIR "/configs/profiles/resnet50_training.textproto");
    if (!loaded) throw std::runtime_error(loaded.error().text());
    return std::move(*loaded);
  }
  static std::vector<Reading> read(Profile profile, const std::string& gpu = "a100_sxm_40gb") {
    const NameTable table = names();
    tell_apart(table, profile);
    const auto loaded = configs::load_gpu(WARPFOLD_SOURCE_DIR "/configs/gpus/" + gpu + ".textproto");
    if (!loaded) throw std::runtime_error(loaded.error().text());
    validation::RowMapper mapper(WARPFOLD_SOURCE_DIR "/configs/gpus", {});
    std::vector<Reading> readings;
    for (const Launch& each : profile.launches)
      readings.push_back(read_launch(table, profile.shapes[each.shape],
                                     {*loaded, true, WARPFOLD_SOURCE_DIR "/configs/kernels/operators"}, mapper));
    return readings;
  }
  static const configs::AmpereGemm& gemm(const Reading& reading) {
    if (!reading.run) throw std::runtime_error(reading.opaque);
    return reading.run->scenario.kernel(0).ampere_gemm();
  }
};

// The first layers of the forward pass: 7 x 7 on the FMA pipe, 1 x 1 as a product an image, 3 x 3 as an implicit product.
TEST_F(ResNet, ForwardTakesTheLayersInTheirOrder) {
  const auto readings = read(profile_of(
      {launch("cudnn_infer_ampere_scudnn_128x64_relu_xregs_large_nn_v1", {3136, 1, 1}, kForward),
       launch("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>(", {64, 1, 1}, "", 512, 144),
       launch("void max_pool_forward_nchw<float, float>(", {25088, 1, 1}, "", 256),
       launch("cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4", {8, 2, 32}, kForward),
       launch("void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (", {98, 2, 32}, kForward, 256, 4224),
       launch("void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (", {1, 2, 64}, kForward, 256, 4224),
       launch("sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize256x64x32_stage3_warpsize4x2x1_g1_"
              "tensor16x8x8_execute_kernel_cudnn_infer",
              {1, 392, 1}, kForward, 256),
       launch("cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4", {8, 2, 32}, kForward)}));
  EXPECT_EQ(gemm(readings[0]).m(), 32 * 112 * 112);
  EXPECT_EQ(gemm(readings[0]).k(), 3 * 49);
  EXPECT_EQ(gemm(readings[0]).type(), configs::FP32);
  EXPECT_EQ(readings[1].reads_as, "fp32 32 x 64 x 12544 pixels, read twice");
  EXPECT_TRUE(readings[1].run) << readings[1].opaque;
  EXPECT_EQ(readings[2].reads_as, "fp32 2048 planes of 112 x 112, windows of 3 x 3, stride 2");
  EXPECT_TRUE(readings[2].run) << readings[2].opaque;
  EXPECT_EQ(gemm(readings[3]).m(), 56 * 56);
  EXPECT_EQ(gemm(readings[3]).n(), 64);
  EXPECT_EQ(gemm(readings[3]).grouped().groups(), 32);
  EXPECT_EQ(gemm(readings[3]).b_repeats(), 32);
  EXPECT_EQ(gemm(readings[3]).tile_m(), 256);
  EXPECT_EQ(readings[4].reads_as, "fp32 input, 32 x 64 x 3136");
  EXPECT_EQ(readings[5].reads_as, "fp32 filter, 64 x 64 x 9");
  EXPECT_TRUE(readings[5].run) << readings[5].opaque;
  EXPECT_EQ(gemm(readings[6]).m(), 32 * 56 * 56);
  EXPECT_EQ(gemm(readings[6]).k(), 64 * 9);
  EXPECT_EQ(gemm(readings[6]).a_repeats(), 9);
  // The fourth layer has 256 output channels, which this grid does not cover.
  EXPECT_THAT(readings[7].opaque, HasSubstr("grid 8 x 2 x 32 is not one of the layer that its turn states"));
}

// The last layers, backward: batch norm, gradient of the input, gradient of the weights in parts of k.
TEST_F(ResNet, BackwardStartsAtTheLastLayer) {
  const auto readings = read(profile_of(
      {launch("void cudnn::bn_bw_1C11_singleread<float, 512, true, 1, 2, 0>(", {2048, 1, 1}, "", 512, 16656),
       launch(
           "sm80_xmma_dgrad_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32_stage5_warpsize2x2x1_g1_tensor16x8x8_"
           "execute_kernel_cudnn_infer",
           {4, 25, 1}, kBackward),
       launch("void cudnn::ops::nhwcToNchwKernel<float, float, float, true, false, (", {2, 16, 32}, kBackward, 256, 4224),
       launch("void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (", {2, 64, 32}, kBackward, 256, 4224),
       launch("cutlass_tensorop_s1688wgrad_optimized_tf32_256x128_16x3_nhwc_align4", {8, 4, 3}, kBackward, 256),
       launch("void cudnn::ops::nhwcToNchwKernel<float, float, float, true, false, (", {1, 16, 2048}, kBackward, 256, 4224),
       launch("void cudnn::bn_bw_1C11_singleread<float, 512, true, 1, 2, 0>(", {512, 1, 1}, "", 512, 16656)}));
  EXPECT_EQ(readings[0].reads_as, "fp32 32 x 2048 x 49 pixels, read once");
  EXPECT_TRUE(readings[0].run) << readings[0].opaque;
  // The recorded tile is 128 x 64: rows and columns change places.
  EXPECT_EQ(gemm(readings[1]).n(), 32 * 49);
  EXPECT_EQ(gemm(readings[1]).m(), 512);
  EXPECT_EQ(gemm(readings[1]).k(), 2048);
  EXPECT_EQ(readings[2].reads_as, "fp32 gradient of the input, 32 x 512 x 49");
  EXPECT_EQ(readings[3].reads_as, "fp32 input or gradient, 32 x 2048 x 49");
  EXPECT_EQ(gemm(readings[4]).k(), (32 * 49 + 2) / 3);
  EXPECT_EQ(gemm(readings[4]).grouped().groups(), 3);
  EXPECT_EQ(readings[5].reads_as, "fp32 gradient of the filter, 2048 x 512 x 1");
  EXPECT_EQ(readings[6].reads_as, "fp32 32 x 512 x 49 pixels, read once");  // the layer before
}

// A V100's Winograd products count as layers; its fused kernel has no generator, but counts.
TEST_F(ResNet, LayersOfAV100) {
  const auto readings =
      read(profile_of({launch("cudnn_infer_volta_scudnn_128x64_relu_xregs_large_nn_v1", {3136, 1, 1}, kForward),
                       launch("volta_sgemm_64x64_nn", {49, 1, 32}, kForward, 64),
                       launch("cudnn_infer_volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", {64, 7, 4}, kForward, 256),
                       launch("volta_sgemm_64x64_nn", {49, 4, 32}, kForward, 64)}),
           "v100_32gb");
  EXPECT_EQ(gemm(readings[0]).tile_n(), 64);
  EXPECT_EQ(gemm(readings[1]).n(), 64);
  EXPECT_EQ(gemm(readings[1]).grouped().groups(), 32);
  EXPECT_THAT(readings[2].opaque, HasSubstr("Winograd"));
  EXPECT_EQ(gemm(readings[3]).n(), 256);
}

// A change of layout in a layer of stride 2 has the pixels of its own tiles: 28 x 28 of the gradient, 56 x 56 of the input.
TEST_F(ResNet, LayoutsOfStridedLayers) {
  std::vector<LaunchShape> launches;
  // Backward, 40 layers lie before the one of 128 channels with stride 2.
  for (int layer = 0; layer < 40; ++layer) launches.push_back(launch("wgrad_alg0_engine", {1, 1, 1}, kBackward));
  for (const uint32_t tiles : {25, 98})
    launches.push_back(
        launch("void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (", {tiles, 4, 32}, kBackward, 256));
  const auto readings = read(profile_of(launches));
  EXPECT_EQ(readings[40].reads_as, "fp32 input or gradient, 32 x 128 x 784");
  EXPECT_EQ(readings[41].reads_as, "fp32 input or gradient, 32 x 128 x 3136");
  EXPECT_TRUE(readings[41].run) << readings[41].opaque;
}

TEST(AlexNet, LayersPoolingAndLinearLayersHaveOrdersOfTheirOwn) {
  const auto names = NameTable::load(WARPFOLD_SOURCE_DIR "/configs/profiles/alexnet_inference.textproto");
  ASSERT_TRUE(names) << names.error().text();
  const Profile profile = profile_of(
      {launch("cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1", {3025, 1, 1}), launch("ampere_gcgemm_64x64_nt", {3, 2, 544}),
       launch("sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_"
              "stage4_warpsize2x2x1_g1_tensor16x8x8_execute_kernel_cudnn",
              {3, 169, 1})});
  EXPECT_THAT(sizes_of_all(*names, profile, "outputs"), ElementsAre("64", "192", "384"));
  EXPECT_THAT(sizes_of_all(*names,
                           profile_of({launch("max_pool_forward_nchw<float, float>(", {23328, 1, 1}),
                                       launch("max_pool_forward_nchw<float, float>(", {16224, 1, 1})}),
                           "results"),
              ElementsAre("5971968", "4153344"));
  EXPECT_THAT(sizes_of_all(*names,
                           profile_of({launch("ampere_sgemm_32x32_sliced1x4_tn", {128, 4, 1}),
                                       launch("ampere_sgemm_32x32_sliced1x4_tn", {32, 4, 1})}),
                           "depth"),
              ElementsAre("9216",
                          "grid 32 x 4 x 1 is not one of the layer that its turn states: 32 * grid_x >= columns and 32 * "
                          "grid_x < columns + 32 and 32 * grid_y == rows"));
}

}  // namespace
}  // namespace warpfold::profile
