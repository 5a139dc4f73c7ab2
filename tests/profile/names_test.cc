// Names of kernels: families, tiles, and sizes that the grid checks.

#include <gmock/gmock.h>

#include "tools/profile/independence.h"
#include "tools/profile/name_table.h"
#include "tools/profile/occupied.h"
#include "tools/profile/sizes.h"
#include "workloads/ampere_gemm/plan.h"

namespace warpfold::profile {
namespace {

using Names = std::vector<std::string>;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kCutlass =
    "void "
    "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8>(cutlass_80_tensorop_bf16_s16816gemm_"
    "relu_bf16_128x64_64x6_tn_align8::Params)";
constexpr const char* kAdd =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, "
    "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)";

std::string family(const std::string& name) {
  const NamedKernel named = NameTable::embedded().find(name);
  return named.rule == nullptr ? "" : named.rule->family();
}

Sizes sizes(const LaunchShape& shape) { return sizes_of(NameTable::embedded().find(shape.name), shape); }

TEST(Names, TilesOfATranspositionCoverItsGrid) {
  const LaunchShape shape{.name = "void cuda::per_channel_cast_and_transpose<256, 128, false, false, true, false, true>(int)",
                          .grid = {56, 32, 1},
                          .block = {256, 1, 1},
                          .registers_per_thread = 40,
                          .shared_memory_bytes = 33792,
                          .op = {}};
  EXPECT_EQ(family(shape.name), "DeepSeek's cast and transposition");
  const Sizes tiles = sizes(shape);
  EXPECT_THAT(tiles.missing, IsEmpty());
  EXPECT_EQ(tiles.values.at("columns"), "7168");
  EXPECT_EQ(tiles.values.at("rows"), "4096");
}

TEST(Names, APassWhoseNameIsCutOffHasTheOperatorsType) {
  LaunchShape shape{
      .name = "at::native::vectorized_elementwise_kernel<4, at::native::tanh_kernel_cuda(at::TensorIteratorBase&)::{lamb",
      .grid = {1024, 1, 1},
      .block = {128, 1, 1},
      .registers_per_thread = 20,
      .shared_memory_bytes = 0,
      .op = {.name = "aten::tanh", .inputs = {{1024, 512}}, .types = {"float"}}};
  const Sizes pass = sizes(shape);
  EXPECT_THAT(pass.missing, IsEmpty());
  EXPECT_EQ(pass.values.at("elements"), "524288");
  EXPECT_EQ(pass.values.at("element_bytes"), "4");
  EXPECT_EQ(pass.values.at("operation"), "SCALE");
  shape.op = {};
  EXPECT_EQ(sizes(shape).missing, "neither the name nor the operator says the type of its elements");
}

// "{lambda(floa" says the type; the number of a case does for copies, whose cases are known. Case 4 of a sigmoid is no type alone.
TEST(Names, ACutNameKeepsItsType) {
  const std::string vectorized = "at::native::vectorized_elementwise_kernel<4, at::native::",
                    lambdas = "(at::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::";
  LaunchShape shape{
      .name = vectorized + "tanh_kernel_cuda" + lambdas + "{lambda(floa", .grid = {18750, 1, 1}, .block = {128, 1, 1}};
  EXPECT_EQ(sizes(shape).values.at("element_bytes"), "4");
  EXPECT_EQ(sizes(shape).values.at("operation"), "SCALE");
  shape.name = vectorized + "sigmoid_kernel_cuda" + lambdas + "{lambda(d";
  EXPECT_EQ(sizes(shape).values.at("element_bytes"), "8");
  shape.name = vectorized + "tanh_backward_kernel_cuda" + lambdas + "{lambda(f";
  EXPECT_EQ(sizes(shape).values.at("operation"), "ADD");
  for (const char* cut : {"{lambda(", "{lambda(c10::", "{la", ""}) {
    shape.name = vectorized + "sigmoid_kernel_cuda" + lambdas + cut;
    EXPECT_EQ(sizes(shape).missing, "neither the name nor the operator says the type of its elements") << cut;
  }

  const std::string strided =
      "at::native::gpu_kernel_impl<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}"
      "::operator()() const::";
  shape.name = "at::native::elementwise_kernel<128, 4, " + strided + "{lambda()#12}::operator()() const::{l";
  EXPECT_EQ(sizes(shape).values.at("element_bytes"), "2");
  shape.name = "at::native::elementwise_kernel<128, 2, " + strided + "{lambda()#7}::ope";
  EXPECT_EQ(sizes(shape).values.at("element_bytes"), "4");
  shape.name = "at::native::elementwise_kernel<128, 2, " + strided + "{lambda()#3}::ope";
  EXPECT_EQ(sizes(shape).missing, "neither the name nor the operator says the type of its elements");
  shape.name = "at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(fl";
  EXPECT_EQ(family(shape.name), "ATen conversion");
}

TEST(Names, TileStagesTypeAndLayoutOfCutlass) {
  const NamedKernel named = NameTable::embedded().find(kCutlass);
  ASSERT_NE(named.rule, nullptr);
  EXPECT_EQ(named.rule->family(), "CUTLASS GEMM (mma.sync)");
  EXPECT_EQ(named.groups.at("type"), "bf16");
  EXPECT_EQ(named.groups.at("tile_m"), "128");
  EXPECT_EQ(named.groups.at("tile_n"), "64");
  EXPECT_EQ(named.groups.at("tile_k"), "64");
  EXPECT_EQ(named.groups.at("stages"), "6");
  EXPECT_EQ(named.groups.at("layout"), "tn");
}

TEST(Names, AFamilyForEachLibrary) {
  EXPECT_EQ(
      family("sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas"),
      "cuBLAS GEMM (wgmma)");
  EXPECT_EQ(family("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT"), "cuBLAS GEMM (nvjet)");
  EXPECT_EQ(family("nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT"), "cuBLAS GEMM (nvjet, Blackwell)");
  EXPECT_EQ(family("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4>()"), "CUTLASS GEMM (mma.sync, TF32)");
  EXPECT_EQ(family("volta_sgemm_128x32_nt"), "cuBLAS GEMM (FP32)");
  EXPECT_EQ(family("ampere_sgemm_32x32_sliced1x4_tn"), "cuBLAS GEMM (FP32)");
  EXPECT_EQ(family("maxwell_sgemm_128x64_raggedMn_tn"), "cuBLAS GEMM (FP32)");
  EXPECT_EQ(
      family("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_kernel__"
             "5x_cublas"),
      "cuBLAS GEMM (FP32)");
  EXPECT_EQ(family("cutlass::Kernel<cutlass_80_simt_sgemm_128x256_8x4_tn_align1>(int)"), "CUTLASS GEMM (FP32)");
  EXPECT_EQ(family("volta_dgemm_64x64_nn"), "cuBLAS GEMM (FP32, FP64, complex)");
  EXPECT_EQ(family("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"), "NCCL");
  EXPECT_EQ(family("triton_poi_fused_add_0"), "Triton");
  EXPECT_EQ(
      family(
          "at::native::_scatter_gather_elementwise_kernel<128, 4, at::native::_cuda_scatter_gather_internal_kernel<true, float>"),
      "index, gather, scatter, embedding");
  EXPECT_EQ(
      family("split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_cta_per_row_1<float, float, float, 1ul>(int)"),
      "index, gather, scatter, embedding");
  EXPECT_EQ(family("bounds_check_indices_kernel<long>(int)"), "FBGEMM");
  EXPECT_EQ(family("my_kernel(float*)"), "");
}

// In linear time, and without a stack frame a letter: names come from files.
TEST(Names, LongNamesAreMatched) { EXPECT_EQ(family(std::string(1 << 20, '<')), ""); }

TEST(Names, AWrongTableHasOneMessage) {
  const auto parsed = NameTable::parse("names.textproto", "rule { pattern: \"(\" }");
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().text(), HasSubstr("names.textproto:1:8: pattern \"(\": missing )"));
}

TEST(Names, ShortNames) {
  EXPECT_EQ(short_name("void at::native::(anonymous namespace)::f<int, g(int)>(int, float)", 40), "f<int, g(int)>");
  EXPECT_EQ(short_name(kCutlass, 30), "cutlass_80_tensorop_bf16_s1...");
  EXPECT_EQ(short_name("void cutlass::device_kernel<a::b::fp8::GemmKernel>(a::b::fp8::GemmKernel::Params)", 40), "fp8::GemmKernel");
  EXPECT_EQ(short_name("void cutlass::device_kernel<Gemm<a::b>>(int)", 40), "Gemm<a::b>");
  EXPECT_EQ(short_name("aaaaaa\xc3\xa4\xc3\xa4\xc3\xa4", 10), "aaaaaa...");
  EXPECT_EQ(short_name("", 30), "");
  EXPECT_EQ(short_name("(((", 30), "(((");
}

// A column-major library: 768 rows of its product are our columns, of 13 x 6 tiles, in a swizzle of 8.
TEST(Sizes, AProductIsTurnedAndItsGridChecked) {
  LaunchShape shape{.name = kCutlass, .grid = {104, 1, 1}, .block = {128, 1, 1}};
  shape.op = {"aten::addmm", {{768}, {788, 768}, {768, 768}, {}, {}}, {}};
  Sizes read = sizes(shape);
  EXPECT_EQ(read.values.at("m"), "768");
  EXPECT_EQ(read.values.at("n"), "788");
  EXPECT_EQ(read.values.at("k"), "768");
  EXPECT_THAT(read.notes, IsEmpty());
  shape.grid = {17, 1, 1};
  EXPECT_THAT(sizes(shape).notes, ElementsAre(HasSubstr("grid 17 x 1 x 1 holds no tiling of 768 x 788 by 128 x 64")));
}

TEST(Sizes, WithoutTheOperatorKIsMissing) {
  const LaunchShape shape{.name = kCutlass, .grid = {104, 1, 1}, .block = {128, 1, 1}};
  EXPECT_THAT(sizes(shape).missing, HasSubstr("k is neither in the kernel's name nor in its grid"));
}

TEST(Sizes, EmptyMatricesAreMissing) {
  LaunchShape shape{.name = kCutlass, .grid = {1, 1, 1}, .block = {128, 1, 1}};
  shape.op = {"aten::mm", {{0, 768}, {768, 768}}, {}};
  EXPECT_THAT(sizes(shape).missing, HasSubstr("is empty"));
}

TEST(Sizes, APassFollowsFromItsOperatorOrItsGrid) {
  LaunchShape shape{.name = kAdd, .grid = {1182, 1, 1}, .block = {128, 1, 1}};
  shape.op = {"aten::add", {{4, 197, 768}, {4, 197, 768}, {}}, {}};
  Sizes read = sizes(shape);
  EXPECT_EQ(read.values.at("elements"), "605184");
  EXPECT_EQ(read.values.at("operation"), "ADD");
  EXPECT_EQ(read.values.at("access_bytes"), "8");
  EXPECT_THAT(read.notes, IsEmpty());
  shape.op = {};
  read = sizes(shape);
  EXPECT_EQ(read.values.at("elements"), "605184");
  EXPECT_THAT(read.notes, ElementsAre(HasSubstr("follows from the grid")));
  // A vector is broadcast: one large array is read.
  shape.op = {"aten::add", {{4, 197, 768}, {768}, {}}, {}};
  EXPECT_EQ(sizes(shape).values.at("operation"), "SCALE");
  // No grid of this operator: the grid counts, and it is said.
  shape.op = {"aten::add", {{4, 197, 768000}}, {}};
  EXPECT_THAT(sizes(shape).notes, ElementsAre(HasSubstr("the grid counts"), HasSubstr("follows from the grid")));
}

TEST(RecordedTile, TheNearestHasAsManyElements) {
  const auto turned = workloads::nearest_recorded_tile(256, 128, 96);
  ASSERT_TRUE(turned);
  EXPECT_TRUE(turned->transposed);
  EXPECT_EQ(turned->tile.m, 128);
  EXPECT_EQ(turned->tile.n, 256);
  EXPECT_EQ(turned->tile.k * turned->tile.stages, 96);
  EXPECT_FALSE(workloads::nearest_recorded_tile(32, 32, 64));
  EXPECT_FALSE(workloads::nearest_recorded_tile(0, 32, 64));
}

TEST(Independence, IsStatedInEitherOrder) {
  Independence independence;
  ASSERT_TRUE(independence.add("gemm,soft.*max"));
  EXPECT_TRUE(independence.states(Names{"cunn_SoftMaxForward softmax"}, Names{"sm90_xmma_gemm"}));
  EXPECT_TRUE(independence.states(Names{"sm90_xmma_gemm"}, Names{"softmax"}));
  EXPECT_FALSE(independence.states(Names{"gemm"}, Names{"gemm"}));
  EXPECT_THAT(independence.add("gemm").error().text(), HasSubstr("expected two names with a comma between them"));
  EXPECT_THAT(independence.add("gemm,(").error().text(), HasSubstr("--independent gemm,(: missing )"));
}

// 0 to 10 and 5 to 12 overlap for 5; a gap of 3; a copy from 15 to 16.
TEST(Occupied, BusyOverlapAndGaps) {
  Profile profile;
  profile.launches = {{0, 7, 0, 10}, {1, 8, 5, 7}, {Launch::kCopy, 7, 15, 1}};
  const Occupied all = occupied(profile);
  EXPECT_EQ(all.span_us, 16);
  EXPECT_EQ(all.busy_us, 13);
  EXPECT_EQ(all.overlap_us, 5);
  EXPECT_EQ(all.gaps, 1);
  EXPECT_EQ(all.longest_gap_us, 3);
  ASSERT_EQ(all.together.size(), 1);
  EXPECT_EQ(all.together.at({0, 1}), 5);
  EXPECT_THAT(all.beside, ElementsAre(true, true, false));
}

// No GPU runs so many at a time; a trace may say so.
TEST(Occupied, ManyLaunchesAtATimeTakeLinearTime) {
  Profile profile;
  for (uint32_t l = 0; l < 200'000; ++l) profile.launches.push_back({l % 7, l, static_cast<double>(l), 1e9});
  const Occupied all = occupied(profile);
  EXPECT_EQ(all.busy_us, all.span_us);
  EXPECT_EQ(all.gaps, 0);
  EXPECT_EQ(all.together.size(), 28);
}

}  // namespace
}  // namespace warpfold::profile
