// Launches as kernels: each family of names becomes the workload that it should be, with its tile and sizes.

#include <gmock/gmock.h>

#include <string>

#include "read_launches.h"

namespace warpfold::profile {
namespace {

using testing::HasSubstr;

const Inputs kProduct{{4096, 2048}, {2048, 1024}};

TEST(Reading, NvjetOnHopper) {
  const configs::HopperGemm gemm =
      kernel(read("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT", {132, 1, 1}, {384, 1, 1}, kProduct)).hopper_gemm();
  EXPECT_EQ(gemm.m(), 1024);  // cuBLAS is column-major
  EXPECT_EQ(gemm.n(), 4096);
  EXPECT_EQ(gemm.k(), 2048);
  EXPECT_EQ(gemm.tile_m(), 128);
  EXPECT_EQ(gemm.tile_n(), 256);
  EXPECT_EQ(gemm.stages(), 4);
  EXPECT_EQ(gemm.cluster_m(), 2);
  EXPECT_EQ(gemm.schedule(), configs::COOPERATIVE);
  const Reading columns = read("nvjet_hsh_192x192_64x3_1x2_h_bz_coopB_TNT", {132, 1, 1}, {384, 1, 1}, kProduct);
  EXPECT_EQ(kernel(columns).hopper_gemm().schedule(), configs::COOPERATIVE_COLUMNS);
  EXPECT_EQ(kernel(columns).hopper_gemm().type(), configs::FP16);
}

// A grid of 30 x 4 has clusters of four along n, which divide 196 tiles; along m they would pad six tiles to eight.
TEST(Reading, RowsOfAGridOnHopperAreClustersAlongN) {
  const std::string name = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_k";
  const Inputs inputs{{25088, 3072}, {3072, 768}};
  const configs::HopperGemm rows = kernel(read(name, {30, 4, 1}, {384, 1, 1}, inputs)).hopper_gemm();
  EXPECT_EQ(rows.cluster_m(), 1);
  EXPECT_EQ(rows.cluster_n(), 4);
  const configs::HopperGemm row = kernel(read(name, {132, 1, 1}, {384, 1, 1}, inputs)).hopper_gemm();
  EXPECT_EQ(row.cluster_m(), 2);
  EXPECT_EQ(row.cluster_n(), 1);
}

TEST(Reading, NvjetOnBlackwell) {
  const configs::BlackwellGemm gemm =
      kernel(read("nvjet_tst_128x256_64x6_2x1_2cta_v_bz_TNT", {148, 1, 1}, {256, 1, 1}, kProduct, "b200")).blackwell_gemm();
  EXPECT_EQ(gemm.tile_m(), 128);
  EXPECT_EQ(gemm.tile_n(), 256);
  EXPECT_EQ(gemm.stages(), 6);
  EXPECT_EQ(gemm.cta_group(), 2);
}

// The same name is a wgmma kernel on Hopper. 888 x 2880 x 512 has 140 tiles, 20 of 144 by 7 of 128.
TEST(Reading, NvjetOfOneCtaOnBlackwell) {
  const std::string name = "nvjet_tst_144x128_64x6_2x1_v_bz_bias_TNN";
  const Inputs bias{{2880}, {888, 512}, {512, 2880}};
  const configs::BlackwellGemm gemm = kernel(read(name, {140, 1, 1}, {256, 1, 1}, bias, "b200")).blackwell_gemm();
  EXPECT_EQ(gemm.m(), 888);
  EXPECT_EQ(gemm.n(), 2880);
  EXPECT_EQ(gemm.k(), 512);
  EXPECT_EQ(gemm.tile_m(), 128);
  EXPECT_EQ(gemm.tile_n(), 144);
  EXPECT_EQ(gemm.cta_group(), 1);
  EXPECT_EQ(gemm.cluster_m(), 1);
  EXPECT_EQ(gemm.cluster_n(), 2);
  const std::string other = "nvjet_tst_128x256_64x4_2x1_v_bz_TNT";
  EXPECT_TRUE(kernel(read(other, {132, 1, 1}, {384, 1, 1}, kProduct)).has_hopper_gemm());
  const configs::BlackwellGemm upright = kernel(read(other, {148, 1, 1}, {256, 1, 1}, kProduct, "b200")).blackwell_gemm();
  EXPECT_EQ(upright.m(), 1024);
  EXPECT_EQ(upright.tile_m(), 128);
  EXPECT_EQ(upright.tile_n(), 256);
}

TEST(Reading, ABatchOnHopperIsGrouped) {
  const configs::HopperGemm gemm = kernel(read("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize2x1x1_k",
                                               {132, 1, 1}, {384, 1, 1}, {{8, 512, 256}, {8, 256, 1024}}))
                                       .hopper_gemm();
  EXPECT_EQ(gemm.grouped().groups(), 8);
  EXPECT_EQ(gemm.schedule(), configs::COOPERATIVE);
}

TEST(Reading, LoopsOfMmaSync) {
  const Reading exact =
      read("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x4_tn", {8, 32, 1}, {128, 1, 1}, kProduct, "a100_sxm");
  EXPECT_EQ(kernel(exact).ampere_gemm().tile_m(), 128);
  EXPECT_EQ(kernel(exact).ampere_gemm().stages(), 4);
  EXPECT_EQ(kernel(exact).footprint().registers_per_thread(), 40);
  EXPECT_EQ(kernel(exact).footprint().shared_memory_bytes(), 2048);
  EXPECT_TRUE(exact.notes.empty());
  // A tile that was recorded the other way round; parts of k as rows.
  const Reading tf32 = read("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x128_16x3_tn_align4>(int)", {4, 32, 2},
                            {256, 1, 1}, kProduct, "a100_sxm");
  const configs::AmpereGemm& gemm = kernel(tf32).ampere_gemm();
  EXPECT_EQ(gemm.tile_m(), 128);
  EXPECT_EQ(gemm.tile_n(), 256);
  EXPECT_EQ(gemm.type(), configs::TF32);
  EXPECT_EQ(gemm.tile_k(), 16);
  EXPECT_EQ(gemm.m() * gemm.n() * gemm.k(), 4096ULL * 2048 * 1024);
  EXPECT_EQ(gemm.k(), 1024);
  EXPECT_EQ(tf32.notes.size(), 1);
  const Reading few = read("cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8", {8, 2, 1}, {128, 1, 1},
                           {{768}, {4, 768}, {768, 768}});
  EXPECT_EQ(kernel(few).ampere_gemm().n(), 64);
  EXPECT_THAT(few.notes, testing::Contains("4 rows or columns are simulated as the 64 of a tile"));
  // Copies of as many bytes as the alignment has.
  const auto copy_bytes = [&](const std::string& name) {
    return kernel(read(name, {8, 32, 1}, {128, 1, 1}, kProduct)).ampere_gemm().copy_bytes();
  };
  EXPECT_EQ(copy_bytes("cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_32x4_tn_align2"), 4);
  EXPECT_EQ(copy_bytes("cutlass_80_tensorop_f16_s16816gemm_f16_128x128_32x4_nn_align4"), 8);
  EXPECT_EQ(copy_bytes("cutlass_80_tensorop_s1688gemm_128x128_16x4_nt_align1"), 4);
  EXPECT_EQ(copy_bytes("cutlass_80_tensorop_s1688tf32gemm_128x128_16x4_nt_align2"), 8);
  EXPECT_EQ(copy_bytes("cutlass_80_tensorop_s1688gemm_128x128_16x4_nt_align4"), 0);
  EXPECT_THAT(read("cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_32x4_tn_align1", {8, 32, 1}, {128, 1, 1}, kProduct).opaque,
              HasSubstr("copies of two bytes"));
}

// Products of one and two stages are a listing with the function of the name's tile, layout and alignment.
TEST(Reading, ProductsThroughRegisters) {
  const std::string entry = "void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_";
  const Inputs keys{{16, 5185, 64}, {16, 64, 5185}};
  const Reading odd = read(entry + "tn_align1>(int)", {328, 3, 16}, {256, 1, 1}, keys);
  const configs::KernelLaunch& launch = kernel(odd).listing().description();
  EXPECT_EQ(launch.function(), "register_gemm_256x128_tn_align1");
  EXPECT_EQ(launch.grid_of().x().divide(), 128);  // the name's second number, of rows
  EXPECT_EQ(launch.grid_of().y().divide(), 256);
  EXPECT_EQ(launch.block().x(), 256);
  EXPECT_EQ(kernel(odd).footprint().registers_per_thread(), 40);
  EXPECT_THAT(odd.notes, testing::ElementsAre(HasSubstr("without the library's swizzle")));
  EXPECT_EQ(odd.reads_as, "bf16 5185 x 5185 x 64, 16 times, 256x128_tn_align1");
  EXPECT_THAT(read(entry + "nt_align1>(int)", {328, 3, 16}, {256, 1, 1}, keys).opaque, HasSubstr("through registers"));
  const Reading parts = read("cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8", {5, 16, 2}, {128, 1, 1},
                             {{512}, {141, 512}, {512, 512}});
  EXPECT_EQ(kernel(parts).listing().description().function(), "register_gemm_wmma_32x32_128x2_tn_align8");
  const auto value = [&](const std::string& name) {
    for (const configs::KernelParameter& each : kernel(parts).listing().description().parameter()) {
      if (each.name() == name) return each.value();
    }
    return decltype(configs::KernelParameter().value()){0};
  };
  EXPECT_EQ(value("rows"), 141);
  EXPECT_EQ(value("columns"), 512);
  EXPECT_EQ(value("depth"), 256);
  EXPECT_EQ(value("batch"), 2);
  EXPECT_THAT(parts.notes, testing::Contains("2 parts of k are simulated as products of a batch"));
  const Reading copies = read("cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn_align2", {16, 15, 1}, {256, 1, 1},
                              {{30522}, {141, 512}, {512, 30522}});
  EXPECT_EQ(kernel(copies).listing().description().function(), "copy_gemm_256x128_64x3_tn_align2");
  // The listing also runs on another GPU.
  EXPECT_EQ(read(entry + "tn_align1>(int)", {328, 3, 16}, {256, 1, 1}, keys, "a100_sxm", false).opaque, "");
}

// Tile, threads and slices by the name and the block, products of a batch and parts of k by the grid.
TEST(Reading, ProductsOfFp32) {
  const configs::AmpereGemm batch =
      kernel(read("ampere_sgemm_128x128_nn", {3, 2, 40}, {256, 1, 1}, {{40, 200, 64}, {40, 64, 384}}, "a100_sxm")).ampere_gemm();
  EXPECT_EQ(batch.type(), configs::FP32);
  EXPECT_EQ(batch.m(), 384);
  EXPECT_EQ(batch.n(), 200);
  EXPECT_EQ(batch.k(), 64);
  EXPECT_EQ(batch.grouped().groups(), 40);
  EXPECT_EQ(batch.grouped().layout(), configs::BATCHED);
  EXPECT_EQ(batch.threads(), 256);
  const configs::AmpereGemm parts =
      kernel(read("volta_sgemm_64x32_sliced1x4_tn", {16, 16, 4}, {256, 1, 1}, {{512, 4096}, {4096, 1024}}, "v100_16gb"))
          .ampere_gemm();
  EXPECT_EQ(parts.k_slices(), 4);
  EXPECT_EQ(parts.split_k(), 4);
  EXPECT_EQ(parts.k(), 4096);
  // More products than a grid has in z.
  const Reading many =
      read("ampere_sgemm_128x128_nn", {2, 1, 65535}, {256, 1, 1}, {{70000, 128, 196}, {70000, 196, 196}}, "a100_sxm");
  EXPECT_EQ(kernel(many).ampere_gemm().grouped().groups(), 70000);
  EXPECT_TRUE(many.notes.empty());
}

TEST(Reading, FlashAttention2) {
  const std::string name =
      "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::half_t, Flash_kernel_traits<128, 128, "
      "64, 4, "
      "cutlass::half_t> >, false, true, false, false, true, true, false>(Flash_fwd_params)";
  const Reading reading = read(name, {8, 2, 16}, {128, 1, 1}, {{2, 1000, 16, 128}, {2, 1200, 4, 128}, {2, 1200, 4, 128}});
  const configs::AttentionShape& shape = kernel(reading).flash_attention_2().shape();
  EXPECT_EQ(shape.queries(), 1000);
  EXPECT_EQ(shape.keys(), 1200);
  EXPECT_EQ(shape.kv_heads(), 4);
  EXPECT_EQ(shape.type(), configs::FP16);
  EXPECT_TRUE(shape.causal());
  const Reading by_grid = read(name, {8, 2, 16}, {128, 1, 1}, {});
  EXPECT_EQ(kernel(by_grid).flash_attention_2().shape().queries(), 1024);
  ASSERT_EQ(by_grid.notes.size(), 1);
  const Reading other = read(name, {9, 2, 16}, {128, 1, 1}, {{2, 1000, 16, 128}, {2, 1200, 4, 128}});
  EXPECT_THAT(other.notes.at(0), HasSubstr("grid 9 x 2 x 16 is not tiles of 128 queries"));
}

TEST(Reading, RowsAreTheOperatorsListings) {
  const Reading norm = read("void at::native::vectorized_layer_norm_kernel<c10::BFloat16, float>(int)", {512, 1, 1}, {32, 4, 1},
                            {{2, 256, 1024}, {}, {1024}});
  EXPECT_EQ(kernel(norm).listing().description().function(), "torch_layer_norm_bf16");
  const Reading softmax =
      read("void at::native::cunn_SoftMaxForward<8, c10::BFloat16, float>(int)", {4096, 1, 1}, {1024, 1, 1}, {{4096, 5185}});
  EXPECT_EQ(kernel(softmax).listing().path(), "torch_softmax_sm_80.sass");
  EXPECT_EQ(kernel(softmax).listing().description().function(), "torch_softmax_rows_bf16");
  EXPECT_THAT(softmax.reads_as, HasSubstr("4096 rows of 5185"));
  const Reading of_words = read("void at::native::cunn_SoftMaxForward<4, float, float, float, SoftMaxForwardEpilogue>(int)",
                                {32768, 1, 1}, {512, 1, 1}, {{32768, 10240}});
  const auto& words = kernel(of_words).listing().description();
  EXPECT_EQ(words.function(), "torch_softmax_rows_fp32");
  EXPECT_EQ(words.block().x(), 512);
  EXPECT_THAT(read("void vectorized_layer_norm_kernel<float, float>(int)", {512, 1, 1}, {32, 4, 1}, {}).opaque,
              HasSubstr("rows and columns are not recorded"));
}

// A conversion reads another type than it writes, and the name says only one of them.
TEST(Reading, ConversionsAssumeTheWidthOfTheirArgument) {
  const std::string copy =
      "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)"
      "::{lambda()#2}::operator()() const::{lambda(long)#1}, std::array<char*, 2ul>, 4, ";
  const Reading cast =
      read(copy + "at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1> >(int)", {768, 1, 1}, {128, 1, 1}, {});
  EXPECT_EQ(cast.reads_as, "conversion to 393216 x 8 bytes");
  EXPECT_THAT(cast.notes, testing::Contains(HasSubstr("the argument is as wide as the result")));
  const Reading dense = read(copy + "at::native::memory::LoadWithoutCast>(int)", {768, 1, 1}, {128, 1, 1}, {});
  EXPECT_EQ(dense.reads_as, "copy of 393216 x 8 bytes");
}

const std::string kStrided = "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::";
const std::string kDirectCopy =
    "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda(c10::BFloat16)#1}>(";

std::string field(const Reading& reading, const std::string& name) {
  for (const auto& parameter : kernel(reading).listing().description().parameter()) {
    if (parameter.name() == name) return std::to_string(parameter.value());
  }
  return "none";
}

// [8, 12, 64, 3137] from [8, 3137, 12, 64] by its strides: loops of 3,137, 768 and 8.
TEST(Reading, StridedPassesHaveTheLoopsOfTheirTensors) {
  LaunchShape shape{.name = kStrided + kDirectCopy, .grid = {37644, 1, 1}, .block = {128, 1, 1}, .op = {}};
  shape.op.name = "aten::copy_";
  shape.op.inputs = {{8, 12, 64, 3137}, {8, 12, 64, 3137}, {}};
  shape.op.strides = {{2409216, 200768, 3137, 1}, {2409216, 64, 1, 768}, {}};
  const Reading copy = read(shape);
  EXPECT_EQ(kernel(copy).listing().description().function(), "torch_strided_copy_bf16");
  EXPECT_THAT(copy.reads_as, HasSubstr("copy of 19273728 x 2 bytes, 3 loops"));
  EXPECT_EQ(field(copy, "extents"), "3");
  EXPECT_EQ(field(copy, "divisor_0"), "3137");
  EXPECT_EQ(field(copy, "multiplier_0"), "1312997653");  // 2^32 (2^12 - 3137) / 3137 + 1
  EXPECT_EQ(field(copy, "shift_0"), "12");
  EXPECT_EQ(field(copy, "x_0"), "1536");
  EXPECT_EQ(field(copy, "out_1"), "6274");
  EXPECT_TRUE(copy.notes.empty());
  // Operators of older traces have no strides, or the launch is of another size.
  shape.op.strides.clear();
  EXPECT_THAT(read(shape).notes.at(0), HasSubstr("strides are not recorded"));
  EXPECT_EQ(field(read(shape), "extents"), "4");
  shape.grid = {100, 1, 1};
  EXPECT_THAT(read(shape).notes.at(0), HasSubstr("the size follows from the grid"));
  EXPECT_EQ(field(read(shape), "divisor_0"), "512");
}

TEST(Reading, StridedPassesByTheirFunctors) {
  const auto function = [](const std::string& name) {
    return kernel(read(name, {64, 1, 1}, {128, 1, 1}, {})).listing().description().function();
  };
  const std::string two = "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::";
  EXPECT_EQ(function(kStrided + "CUDAFunctor_add<c10::BFloat16> >("), "torch_strided_add_bf16");
  EXPECT_EQ(function(kStrided + "BUnaryFunctor<c10::Half, c10::Half, c10::Half, MulFunctor<float> > >("),
            "torch_strided_scale_bf16");
  EXPECT_EQ(function(kStrided + "neg_kernel_cuda()::{lambda(c10::BFloat16)#1}>("), "torch_strided_scale_bf16");
  EXPECT_EQ(function(two + "BinaryFunctor<float, float, float, MulFunctor<float> > >("), "torch_strided_add_fp32");
  EXPECT_EQ(function(two + kDirectCopy.substr(0, kDirectCopy.find("c10")) + "int)#1}>("), "torch_strided_copy_fp32");
  EXPECT_TRUE(kernel(read(two + "BinaryFunctor<double, double, double, MulFunctor<double> > >(", {64, 1, 1}, {128, 1, 1}, {}))
                  .has_elementwise());
}

// Names of [TL] with the listing of each: extents and strides by the name, rows by the operator's axes.
TEST(Reading, KernelsWithAnAxis) {
  const std::string space = "void at::native::(anonymous namespace)::";
  LaunchShape cat{
      .name = space + "CatArrayBatchedCopy<at::native::(anonymous namespace)::OpaqueType<2u>, unsigned int, 4, 64, 64>(int)",
      .grid = {264, 2, 1},
      .block = {512, 1, 1},
      .registers_per_thread = 25,
      .op = {}};
  cat.op = {.name = "aten::cat", .inputs = {{}, {}}, .types = {"TensorList", "Scalar"}};
  EXPECT_EQ(read(cat).opaque, "lists of tensors are not recorded");
  cat.op.list = {{16, 16, 559, 32}, {16, 16, 559, 32}};
  cat.op.list_strides = {{286208, 32, 512, 1}, {572416, 64, 1024, 1}};
  cat.op.values = {"", "-1"};
  const Reading joined = read(cat);
  EXPECT_EQ(joined.reads_as, "2 tensors to 9158656 x 2 bytes");
  EXPECT_EQ(field(joined, "variant"), "4");
  EXPECT_EQ(kernel(joined).footprint().registers_per_thread(), 25);
  EXPECT_EQ(joined.run->scenario.gpu().clock_mhz(), 1980);
  for (const auto& [name, variant] : {std::pair{"_contig<float, unsigned int, 4, 128, 1>", "8"},
                                      {"_aligned16_contig<float, unsigned int, 4, 128, 1>", "12"},
                                      {"<float, unsigned int, 4, 128, 1>", "8"}}) {
    cat.name = space + "CatArrayBatchedCopy" + name + "(int)";
    EXPECT_EQ(field(read(cat), "variant"), variant) << name;
  }
  LaunchShape mean{
      .name =
          "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, "
          "float>, unsigned int, float, 4> >(int)",
      .grid = {559, 1, 1},
      .block = {32, 16, 1},
      .op = {}};
  EXPECT_EQ(read(mean).opaque, "which extents it reduces is not recorded");
  mean.op = {.name = "aten::mean", .inputs = {{16, 559, 1024}, {}}, .types = {"float", "ScalarList"}};
  mean.op.values = {"", "[-1]"};
  EXPECT_EQ(kernel(read(mean)).listing().path(), "torch_sm_80.sass");
  EXPECT_EQ(read(mean).reads_as, "sums of 8944 rows of 1024");
  LaunchShape gather{.name = space + "indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true>(int)",
                     .grid = {1056, 1, 1},
                     .block = {128, 1, 1},
                     .op = {}};
  gather.op = {
      .name = "aten::index_select", .inputs = {{151936, 1024}, {}, {8944}}, .types = {"c10::BFloat16", "Scalar", "long int"}};
  EXPECT_EQ(kernel(read(gather)).listing().description().function(), "torch_index_select_half_word");
  EXPECT_THAT(read(gather).notes, testing::ElementsAre("the rows that it reads are distinct"));
}

TEST(Reading, DropoutHasTheElementsOfItsTensor) {
  const auto dropout = [](const std::string& of, const Inputs& inputs) {
    return read("void at::native::(anonymous namespace)::fused_dropout_kernel_vec<" + of + ", bool>(int)", {1056, 1, 1},
                {256, 1, 1}, inputs);
  };
  const Reading bf16 = dropout("c10::BFloat16, float, unsigned int, 1, 8", {{16, 512, 1024}, {}, {}});
  EXPECT_EQ(kernel(bf16).listing().description().function(), "torch_dropout_bf16");
  EXPECT_EQ(field(bf16, "elements"), "8388608");
  EXPECT_EQ(field(bf16, "ctas"), "1056");
  EXPECT_EQ(kernel(dropout("float, float, unsigned int, 1, 4", {{512, 1024}, {}, {}})).listing().description().function(),
            "torch_dropout_fp32");
  EXPECT_THAT(dropout("float, float, unsigned int, 1, 4", {}).opaque, HasSubstr("record the operators' shapes"));
  EXPECT_EQ(dropout("float, float, unsigned int, 1, 2", {{512, 1024}, {}, {}}).opaque, "whether its bits are kept is not recorded");
}

// Passes run at the highest clock; of another GPU the library's kernel is taken.
TEST(Reading, PassesAndOtherGpus) {
  const Reading pass = read("void vectorized_elementwise_kernel<4, FillFunctor<float>, at::detail::Array<char*, 1> >(int)",
                            {2048, 1, 1}, {128, 1, 1}, {{1024, 1024}});
  EXPECT_EQ(kernel(pass).elementwise().operation(), configs::FILL);
  EXPECT_EQ(kernel(pass).elementwise().elements(), 1024 * 1024);
  EXPECT_EQ(pass.run->scenario.gpu().clock_mhz(), 1980);
  const Reading other = read("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_k", {132, 1, 1},
                             {384, 1, 1}, kProduct, "b200", false);
  EXPECT_EQ(kernel(other).blackwell_gemm().library(), "cuBLAS");
  EXPECT_EQ(kernel(other).blackwell_gemm().tile(), configs::AUTO);
}

}  // namespace
}  // namespace warpfold::profile
