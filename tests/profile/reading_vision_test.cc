// Launches of a convolutional network's training step: convolutions, changes of layout, batch norms, optimizers.

#include <gmock/gmock.h>

#include <string>

#include "read_launches.h"

namespace warpfold::profile {
namespace {

using testing::HasSubstr;

// Convolutions with recorded tensors: image, filter, padding and stride.
LaunchShape convolution(const std::string& name, const std::array<uint32_t, 3>& grid, const Inputs& inputs,
                        const std::vector<std::string>& values, bool backward = false) {
  LaunchShape shape{.name = name, .grid = grid, .block = {128, 1, 1}, .registers_per_thread = 200, .shared_memory_bytes = 81920};
  shape.op.name = backward ? "aten::convolution_backward" : "aten::cudnn_convolution";
  shape.op.inputs = inputs;
  shape.op.values = values;
  return shape;
}

TEST(Reading, AConvolutionIsAnImplicitProduct) {
  // 3 channels take a tile of 32 for each of 16 x 16 positions; patches of a vision transformer do not overlap.
  const Reading patches =
      read(convolution("cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64_32x4_nhwc_align8", {16, 3, 1},
                       {{4, 3, 224, 224}, {768, 3, 16, 16}, {}, {}, {}, {}}, {"", "", "[0, 0]", "[16, 16]", "[1, 1]", ""}));
  EXPECT_EQ(kernel(patches).ampere_gemm().m(), 4 * 14 * 14);
  EXPECT_EQ(kernel(patches).ampere_gemm().n(), 768);
  EXPECT_EQ(kernel(patches).ampere_gemm().k(), 256 * 32);
  EXPECT_EQ(kernel(patches).ampere_gemm().a_repeats(), 1);
  EXPECT_EQ(kernel(patches).ampere_gemm().tile_m(), 256);
  EXPECT_EQ(patches.notes.back(), "3 input channels take a tile of 32 for each position of the filter");
  const std::string xmma =
      "_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16_stage4_warpsize2x2x1_g1_"
      "tensor16x8x8_execute_kernel_cudnn";
  const Inputs forward{{32, 128, 56, 56}, {256, 128, 3, 3}, {}, {}, {}, {}};
  const std::vector<std::string> numbers{"", "", "[1, 1]", "[2, 2]", "[1, 1]", ""};
  const Reading fprop = read(convolution("sm80_xmma_fprop" + xmma, {2, 196, 1}, forward, numbers), "a100_sxm");
  EXPECT_EQ(kernel(fprop).ampere_gemm().m(), 32 * 28 * 28);
  EXPECT_EQ(kernel(fprop).ampere_gemm().k(), 128 * 9);
  EXPECT_EQ(kernel(fprop).ampere_gemm().a_repeats(), 2);  // nine positions of every fourth pixel
  EXPECT_EQ(kernel(fprop).ampere_gemm().type(), configs::TF32);
  EXPECT_THAT(fprop.reads_as, HasSubstr("tf32 fprop 25088 x 256 x 1152, filter 3 x 3"));
  const Inputs backward{{32, 256, 28, 28}, {32, 128, 56, 56}, {256, 128, 3, 3}, {}, {}, {}, {}, {}};
  const std::vector<std::string> numbers_of_backward{"", "", "", "", "[2, 2]", "[1, 1]", "[1, 1]", ""};
  const Reading dgrad = read(convolution("sm80_xmma_dgrad" + xmma, {1, 784, 1}, backward, numbers_of_backward, true), "a100_sxm");
  EXPECT_EQ(kernel(dgrad).ampere_gemm().m(), 32 * 56 * 56);
  EXPECT_EQ(kernel(dgrad).ampere_gemm().n(), 128);
  EXPECT_EQ(kernel(dgrad).ampere_gemm().k(), 256 * 9 / 4);
  EXPECT_EQ(kernel(dgrad).ampere_gemm().a_repeats(), 9);
  const Reading wgrad = read(convolution("sm80_xmma_wgrad" + xmma, {9, 2, 12}, backward, numbers_of_backward, true), "a100_sxm");
  EXPECT_EQ(kernel(wgrad).ampere_gemm().m(), 256);
  EXPECT_EQ(kernel(wgrad).ampere_gemm().n(), 128 * 9);
  EXPECT_EQ(kernel(wgrad).ampere_gemm().k(), (25088 + 11) / 12);
  EXPECT_EQ(kernel(wgrad).ampere_gemm().grouped().groups(), 12);
  EXPECT_EQ(kernel(wgrad).ampere_gemm().b_repeats(), 2);
  const Reading other = read(convolution("sm80_xmma_fprop" + xmma, {3, 7, 1}, forward, numbers), "a100_sxm");
  EXPECT_EQ(other.notes.back(), "grid 3 x 7 x 1 holds no tiling of 25088 x 256 by 128 x 128");
}

TEST(Reading, AConvolutionWithoutItsTensorsIsOpaque) {
  const std::string name = "cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64_32x4_nhwc_align8";
  const Inputs inputs{{4, 64, 56, 56}, {64, 64, 3, 3}, {}, {}, {}, {}};
  const std::vector<std::string> numbers{"", "", "[1, 1]", "[1, 1]", "[1, 1]", ""};
  EXPECT_EQ(read(convolution(name, {16, 3, 1}, inputs, numbers)).opaque, "");
  const std::string missing =
      "image, filter or stride are not recorded, or it is no convolution of two dimensions and one group; record the operators' "
      "shapes (record_shapes=True), or state sizes (--names)";
  EXPECT_EQ(read(convolution(name, {16, 3, 1}, {}, {})).opaque, missing);
  EXPECT_EQ(read(convolution(name, {16, 3, 1}, inputs, {})).opaque, missing);  // no stride
  EXPECT_EQ(read(convolution(name, {16, 3, 1}, {{4, 64, 56, 56}, {64, 32, 3, 3}, {}, {}, {}, {}}, numbers)).opaque,
            missing);  // groups
  EXPECT_EQ(read(convolution(name, {16, 3, 1}, {{4, 64, 56}, {64, 64, 3}, {}, {}, {}, {}}, numbers)).opaque, missing);
  EXPECT_EQ(read(convolution(name, {16, 3, 1}, {{4, 64, 1, 1}, {64, 64, 9, 9}, {}, {}, {}, {}}, numbers)).opaque, missing);
  EXPECT_EQ(read(convolution(name, {16, 3, 1}, {{0, 64, 56, 56}, {64, 64, 3, 3}, {}, {}, {}, {}}, numbers)).opaque,
            "a matrix of the operator is empty, or larger than any");
}

// Kernels whose grids state their sizes (grid_sizes.h).
TEST(Reading, ChangesOfLayoutBatchNormsAndLists) {
  const Inputs filter{{4, 3, 224, 224}, {768, 3, 16, 16}};
  const auto of = [](const std::string& name, const std::array<uint32_t, 3>& grid, uint32_t threads, const Inputs& inputs = {}) {
    return read(name, grid, {threads, 1, 1}, inputs);
  };
  const auto function = [](const Reading& reading) { return kernel(reading).listing().description().function(); };
  const Reading words =
      of("void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>(int)", {98, 2, 32}, 256);
  EXPECT_EQ(function(words), "nchw_to_nhwc");
  EXPECT_EQ(words.reads_as, "fp32 32 x 64 x 3136 pixels");
  const std::string half = "<__nv_bfloat16, __nv_bfloat16, float, true, false, (cudnnKernelDataType_t)0>(int)";
  EXPECT_EQ(function(of("void cudnn::engines_precompiled::nchwToNhwcKernel" + half, {8, 1, 768}, 256, filter)),
            "nchw_to_nhwc_half");
  EXPECT_EQ(function(of("void cudnn::engines_precompiled::nhwcToNchwKernel" + half, {7, 24, 4}, 256)), "nhwc_to_nchw_half");
  EXPECT_EQ(function(of("void cudnn::ops::nhwcToNchwKernel<float, float, float, true, false, (cudnnKernelDataType_t)0>(int)",
                        {7, 16, 32}, 256)),
            "nhwc_to_nchw");
  EXPECT_THAT(of("void cudnn::ops::nchwToNhwcKernel<float, __half, float, false>(int)", {7, 16, 32}, 256).opaque,
              HasSubstr("this change of layout was not recorded"));

  const Reading norm =
      of("void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 32, true, 1>(float)", {512, 1, 1}, 512, {{32, 512, 28, 28}});
  EXPECT_EQ(function(norm), "batch_norm_backward_32");
  EXPECT_EQ(norm.reads_as, "fp32 32 x 512 x 784 pixels, read twice");
  EXPECT_EQ(function(of("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 128, true, 1, true>(int)", {64, 1, 1}, 512,
                        {{32, 64, 56, 56}})),
            "batch_norm_128");
  LaunchShape kept{.name = "void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>(cudnn::bn_fw_tr_1C11_args<float>)",
                   .grid = {2048, 1, 1},
                   .block = {512, 1, 1},
                   .shared_memory_bytes = 8336};
  EXPECT_EQ(function(read(kept)), "batch_norm_kept");
  kept.name = "void cudnn::bn_bw_1C11_singleread<float, 512, true, 1, 2, 0>(cudnn::bn_bw_1C11_args<float>)";
  kept.shared_memory_bytes = 16656;
  const Reading backward = read(kept);
  EXPECT_EQ(function(backward), "batch_norm_backward_kept");
  EXPECT_EQ(backward.reads_as, "fp32 1 x 2048 x 1792 pixels, read once");

  const Reading adam =
      of("void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float, float>(int)", {320, 1, 1}, 512);
  EXPECT_EQ(function(adam), "chunks_adam");
  EXPECT_EQ(adam.reads_as, "Adam of 19791872 elements in 320 chunks");
  const std::string space = "at::native::(anonymous namespace)::", list = "void " + space + "multi_tensor_apply_kernel<" + space;
  EXPECT_EQ(function(of(list + "TensorListMetadata<2>, " + space +
                            "BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float>(int)",
                        {282, 1, 1}, 512)),
            "chunks_add");
  const std::string scale = "BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float>(int)";
  EXPECT_EQ(function(of(list + "TensorListMetadata<1>, " + space + scale, {320, 1, 1}, 512)), "chunks_scale");
  EXPECT_THAT(of(list + "TensorListMetadata<1, true>, " + space + scale, {320, 1, 1}, 512).opaque, HasSubstr("may be partial"));
  EXPECT_EQ(of("multi_tensor_apply_kernel<TensorListMetadata<5>, LAMBFunctor<float>>", {320, 1, 1}, 512).opaque,
            "this kernel over lists of tensors was not recorded");
}

}  // namespace
}  // namespace warpfold::profile
