#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <ranges>

#include "imported_operators.h"
#include "tests/workloads/kernels.h"

// The operators of configs/kernels/operators move the bytes of their formulas, with as many instructions for each further row.

namespace warpfold::sass {
namespace {

using testing::EndsWith;

// The bytes of memory that an operator touches: `matrices` of rows x columns elements, and vectors of a row's length in elements.
// Also words of four bytes per row, words of four bytes per column of each CTA, and eighths of a byte per element. Instructions
// read or write a matrix `accesses` times together.
struct Formula {
  const char* name;
  uint64_t element_bytes;
  uint64_t matrices;
  uint64_t accesses;
  uint64_t row_vectors = 0;
  uint64_t words_a_row = 0;
  uint64_t parts = 0;
  uint64_t eighths = 0;
  uint64_t sectors_a_row = 0;  // beside the matrix's accesses: the target's logit, by one warp or by each of 32
};

void PrintTo(const Formula& formula, std::ostream* out) { *out << formula.name; }

class Operators : public testing::TestWithParam<Formula> {};

TEST_P(Operators, MoveWhatTheirFormulaSays) {
  const Formula& of = GetParam();
  const auto kernel = imported_rows(of.name, kRows);
  ASSERT_TRUE(kernel) << kernel.error().text();
  uint64_t touched = 0;
  uint64_t accesses = 0;
  for (const ArrayReport& array : kernel->report.arrays) {
    touched += array.touched;
    if (array.touched == kElements * of.element_bytes) accesses += array.requested;
  }
  EXPECT_EQ(touched, kElements * of.element_bytes * of.matrices + kColumns * of.element_bytes * of.row_vectors +
                         4 * kRows * of.words_a_row + 4 * kCtas * kColumns * of.parts + kElements / 8 * of.eighths);
  EXPECT_EQ(accesses, kElements * of.element_bytes * of.accesses + 32 * kRows * of.sectors_a_row);
}

TEST_P(Operators, IssueAsManyInstructionsForEachFurtherRow) {
  const auto issued = [](uint64_t rows) {
    return traces::issued_instructions(imported_rows(GetParam().name, rows).value().kernel);
  };
  const uint64_t one = issued(kRows), two = issued(2 * kRows), three = issued(3 * kRows);
  // Lanes that leave a loop in another pass issue a BSYNC more or less.
  EXPECT_NEAR(static_cast<double>(three - two) / static_cast<double>(two - one), 1, 1e-4);
  // A thread loads, converts, computes and stores an element in a few instructions, of exact exponentials and divisions in some 40;
  // CTAs of 1,024 threads have half their threads idle on rows this short.
  const double each = 32.0 * static_cast<double>(two - one) / kElements;
  EXPECT_GT(each, 1);
  EXPECT_LT(each, 100);
}

constexpr Formula kFormulas[] = {
    {"rms_norm", 2, 2, 2, 1, 1},
    {"rms_norm_fp16", 2, 2, 2, 1, 1},
    {"rms_norm_fp32", 4, 2, 2, 1, 1},
    {"residual_rms_norm", 2, 4, 4, 1, 1},
    {"residual_rms_norm_fp32", 4, 4, 4, 1, 1},
    {"layer_norm", 2, 2, 2, 2, 2},
    {"layer_norm_fp32", 4, 2, 2, 2, 2},
    {"bias_dropout_residual_layer_norm", 2, 4, 4, 3, 2},
    {"modulate", 2, 2, 2, 2},
    {"rms_norm_backward", 2, 3, 3, 1, 1, 1},
    {"rms_norm_backward_fp32", 4, 3, 3, 1, 1, 1},
    {"layer_norm_backward", 2, 3, 3, 1, 2, 2},
    {"layer_norm_backward_fp32", 4, 3, 3, 1, 2, 2},
    {"softmax", 2, 2, 2},
    {"softmax_fp16", 2, 2, 2},
    {"softmax_fp32", 4, 2, 2},
    {"softmax_online", 2, 2, 3},
    {"softmax_online_fp32", 4, 2, 3},
    {"softmax_three_pass", 2, 2, 4},
    {"softmax_three_pass_fp32", 4, 2, 4},
    {"softmax_backward", 2, 3, 3},
    {"softmax_backward_fp32", 4, 3, 3},
    {"cross_entropy", 2, 1, 1, 0, 4, 0, 0, 1},
    {"cross_entropy_fp32", 4, 1, 1, 0, 4, 0, 0, 1},
    {"cross_entropy_in_place", 2, 1, 3, 0, 3, 0, 0, 32},
    {"cross_entropy_in_place_fp32", 4, 1, 3, 0, 3, 0, 0, 32},
    {"cross_entropy_backward", 2, 2, 2, 0, 4},
    {"cross_entropy_backward_fp32", 4, 2, 2, 0, 4},
    {"silu", 2, 2, 2},
    {"silu_fp16", 2, 2, 2},
    {"silu_fp32", 4, 2, 2},
    {"silu_backward", 2, 3, 3},
    {"silu_backward_fp16", 2, 3, 3},
    {"silu_backward_fp32", 4, 3, 3},
    {"gelu", 2, 2, 2},
    {"gelu_backward", 2, 3, 3},
    {"relu", 2, 2, 2},
    {"relu_backward", 2, 3, 3},
    {"relu_squared", 2, 2, 2},
    {"relu_squared_backward", 2, 3, 3},
    {"scale", 2, 2, 2},
    {"scale_fp32", 4, 2, 2},
    {"residual", 2, 3, 3},
    {"residual_fp32", 4, 3, 3},
    {"swiglu", 2, 3, 3},
    {"swiglu_fp32", 4, 3, 3},
    {"swiglu_backward", 2, 5, 5},
    {"swiglu_backward_fp32", 4, 5, 5},
    {"swiglu_stored", 2, 4, 4},
    {"swiglu_backward_stored", 2, 6, 6},
    {"multiply_backward", 2, 5, 5},
    {"rms_norm_backward_residual", 2, 4, 4, 1, 1},
    {"layer_norm_backward_residual", 2, 4, 4, 1, 2},
    {"layer_norm_backward_residual_dropout", 2, 5, 5, 1, 2, 0, 1},
    {"bias_dropout_residual_layer_norm_stored", 2, 4, 4, 3, 2, 0, 1},
    {"bias_gelu_stored", 2, 3, 3, 1},
    {"sgd", 2, 3, 5},
    {"sgd_fp32", 4, 3, 5},
    {"adam", 2, 4, 7},
    {"adam_fp32", 4, 4, 7},
    {"dropout", 2, 2, 2, 0, 0, 0, 1},
    {"dropout_stored", 2, 2, 2, 0, 0, 0, 1},
    {"bias", 2, 2, 2, 1},
    {"bias_fp32", 4, 2, 2, 1},
    {"bias_gelu", 2, 2, 2, 1},
    {"bias_gelu_dropout", 2, 2, 2, 1, 0, 0, 1},
    {"bias_relu_dropout", 2, 2, 2, 1, 0, 0, 1},
    {"bias_dropout_residual", 2, 3, 3, 1, 0, 0, 1},
    {"gate", 2, 3, 3, 1},
    {"rope", 2, 2, 2, 0, 64},  // cosines and sines of 64 BF16 each a row
    {"rope_backward", 2, 2, 2, 0, 64},
    {"row_sums", 2, 1, 1, 0, 1},
    {"row_sums_fp32", 4, 1, 1, 0, 1},
    {"transpose", 2, 2, 2},
    {"torch_add", 2, 3, 3},
    {"torch_add_fp32", 4, 3, 3},
    {"torch_multiply", 2, 3, 3},
    {"torch_multiply_fp32", 4, 3, 3},
    {"torch_relu", 2, 2, 2},
    {"torch_relu_fp32", 4, 2, 2},
    {"torch_square", 2, 2, 2},
    {"torch_square_fp32", 4, 2, 2},
    {"torch_silu", 2, 2, 2},
    {"torch_silu_fp32", 4, 2, 2},
    {"torch_gelu", 2, 2, 2},
    {"torch_gelu_fp32", 4, 2, 2},
    {"torch_rms_norm", 2, 2, 3, 1, 1},
    {"torch_rms_norm_fp32", 4, 2, 3, 1, 1},
    {"torch_layer_norm", 2, 2, 3, 2, 2},
    {"torch_layer_norm_fp32", 4, 2, 3, 2, 2},
    {"torch_layer_norm_backward_input", 2, 3, 5, 1, 2},
    {"torch_softmax", 2, 2, 2},
    {"torch_softmax_fp32", 4, 2, 2},
    {"torch_log_softmax", 2, 2, 2},
    {"torch_log_softmax_fp32", 4, 2, 2},
    {"torch_row_sums_fp32", 4, 1, 1, 0, 1},
    {"torch_row_maximum_fp32", 4, 1, 1, 0, 1},
    {"sarathi_rms_norm", 2, 2, 3, 1},
    {"sarathi_silu_multiply", 2, 3, 1},  // the factors' array has two matrices
    {"vllm_rms_norm", 2, 2, 3, 1},
    {"vllm_add_rms_norm", 2, 2, 5, 1},
    {"vllm_silu_multiply", 2, 3, 1},
    {"vllm_silu_multiply_pairs", 2, 3, 1},
    {"inductor_rms_norm", 2, 2, 3, 1, 1},
    {"inductor_layer_norm", 2, 2, 3, 2, 2},
    {"inductor_residual_rms_norm", 2, 3, 5, 1, 1},
    {"inductor_softmax", 2, 2, 3},
    {"inductor_relu_squared", 2, 2, 2},
    {"inductor_swiglu", 2, 3, 3},
    {"cast_fp8_blocks", 2, 1, 1, 0, 64, 0, 8},  // two scales a warp, each pair counted as a sector of its own
};
INSTANTIATE_TEST_SUITE_P(Listed, Operators, testing::ValuesIn(kFormulas),
                         [](const auto& test) { return std::string(test.param.name); });

// Tokens are data: each row of the table is taken to be another one.
TEST(Operators, GatherRowsFromMemory) {
  const auto gather = imported("embedding", {"parameter.rows.value=512", "parameter.columns.value=2048"});
  ASSERT_TRUE(gather) << gather.error().text();
  EXPECT_EQ(array_of(*gather, "table").requested, kElements * 2);
  EXPECT_EQ(array_of(*gather, "table").dram, kElements * 2);
  EXPECT_EQ(array_of(*gather, "out").touched, kElements * 2);
}

TEST(Operators, GatherOneRowAgainAndAgain) {
  const auto gather = imported("torch_index_one_row", {"parameter.rows.value=512", "parameter.columns.value=2048"});
  ASSERT_TRUE(gather) << gather.error().text();
  EXPECT_EQ(array_of(*gather, "x").touched, kColumns * 2);
  EXPECT_EQ(array_of(*gather, "x").requested, kElements * 2);
  EXPECT_EQ(array_of(*gather, "out").touched, kElements * 2);
}

// Queries and keys of a product's rows, in place; values stay as they are. A head's angles are those of its token.
TEST(Operators, TurnHeadsInPlace) {
  for (const std::string name : {"sarathi_rope", "vllm_rope"}) {
    const auto turned = imported(name, {"parameter.rows.value=512", "parameter.heads.value=12", "parameter.kv_heads.value=4",
                                        "parameter.stride.value=2560"});
    ASSERT_TRUE(turned) << turned.error().text();
    EXPECT_EQ(array_of(*turned, "x").requested, kElements * 2 * 2) << name;
    EXPECT_EQ(array_of(*turned, "angles").touched, kRows * 128 * 2) << name;
    EXPECT_EQ(array_of(*turned, "angles").requested, kElements * 2) << name;
  }
}

// Of a token's heads, the queries' or the keys', each a CTA of sixteen threads.
TEST(Operators, NormaliseHeadsOfARow) {
  const auto heads =
      imported("vllm_head_norm", {"parameter.rows.value=512", "parameter.heads.value=16", "parameter.stride.value=2048"});
  ASSERT_TRUE(heads) << heads.error().text();
  EXPECT_EQ(array_of(*heads, "x").touched, kElements * 2);
  EXPECT_EQ(array_of(*heads, "out").requested, kElements * 2);
}

TEST(Operators, SumColumnsInParts) {
  const auto sums =
      imported("column_sums", {"parameter.rows.value=512", "parameter.columns.value=2048", "parameter.parts.value=4"});
  ASSERT_TRUE(sums) << sums.error().text();
  EXPECT_EQ(array_of(*sums, "x").requested, kElements * 2);
  EXPECT_EQ(array_of(*sums, "sums").touched, 4 * 4 * kColumns);
}

TEST(Operators, AddUpGradientsOnTheirWay) {
  const std::vector<std::string> sizes{"parameter.rows.value=512", "parameter.columns.value=2048", "parameter.parts.value=4"};
  for (const std::string name : {"dropout_backward_bias", "gelu_backward_bias"}) {
    const auto sums = imported(name, sizes);
    ASSERT_TRUE(sums) << sums.error().text();
    EXPECT_EQ(array_of(*sums, "gradient").requested, kElements * 2) << name;
    EXPECT_EQ(array_of(*sums, "out").requested, kElements * 2) << name;
    EXPECT_EQ(array_of(*sums, "sums").touched, 4 * 4 * kColumns) << name;
  }
  const auto weights = imported("layer_norm_backward_weight", sizes);
  ASSERT_TRUE(weights) << weights.error().text();
  EXPECT_EQ(array_of(*weights, "x").requested, kElements * 2);
  EXPECT_EQ(array_of(*weights, "weight_parts").touched, 4 * 4 * kColumns);
  EXPECT_EQ(array_of(*weights, "bias_parts").touched, 4 * 4 * kColumns);
}

// Twice: for the sums and for the results. A warp's lanes read 128 bytes side by side.
TEST(Operators, ReduceColumnsThatLieARowApart) {
  for (const std::string name : {"rms_norm_columns", "layer_norm_columns", "softmax_columns"}) {
    const auto norm = imported(name, {"parameter.length.value=512", "parameter.columns.value=2048"});
    ASSERT_TRUE(norm) << norm.error().text();
    EXPECT_EQ(array_of(*norm, "x").requested, kElements * 2 * 2) << name;
    EXPECT_EQ(array_of(*norm, "x").touched, kElements * 2) << name;
    EXPECT_EQ(array_of(*norm, "out").requested, kElements * 2) << name;
  }
}

TEST(Operators, ReadLongRowsTwice) {
  const auto norm = imported("rms_norm", {"parameter.rows.value=64", "parameter.columns.value=65536"});
  ASSERT_TRUE(norm) << norm.error().text();
  EXPECT_EQ(norm->report.function, "rms_norm_two_pass_bf16_512");
  EXPECT_EQ(array_of(*norm, "x").requested, uint64_t{2} * 64 * 65536 * 2);
}

TEST(Operators, MultiplyMatricesByTiles) {
  const std::vector<std::string> sizes{"parameter.rows.value=256", "parameter.columns.value=512", "parameter.depth.value=128"};
  const auto naive = imported("matmul_naive", sizes);
  const auto tiled = imported("matmul_tiled", sizes);
  ASSERT_TRUE(naive && tiled);
  // A warp reads a row of B, and one element of A in a sector of 32 bytes; of tiles each CTA reads its own, once.
  EXPECT_EQ(array_of(*naive, "b").requested, uint64_t{256} * 512 * 128 * 4);
  EXPECT_EQ(array_of(*naive, "a").requested, uint64_t{256} * 512 / 32 * 128 * 32);
  EXPECT_EQ(array_of(*tiled, "a").requested, uint64_t{256} * 128 * 4 * 512 / 32);
  EXPECT_EQ(array_of(*tiled, "b").requested, uint64_t{128} * 512 * 4 * 256 / 32);
  EXPECT_EQ(array_of(*tiled, "c").touched, uint64_t{256} * 512 * 4);
}

// Sizes fill neither tiles nor stages. Shared memory is that of cuBLAS's kernels in traces.
TEST(Operators, MultiplyThroughRegisters) {
  struct Product {
    std::string launch, function, product;
    uint64_t rows, columns, depth, warps, shared_bytes;  // of a tile, of a CTA
  };
  constexpr uint64_t kM = 304, kN = 208, kK = 202, kBatch = 3;
  for (const Product& of : {Product{"register_gemm", "256x128_tn_align1", "HMMA.1688.F32.BF16", 128, 256, 32, 8, 49152},
                            Product{"register_gemm", "128x128_nn_align1", "HMMA.1688.F32.BF16", 128, 128, 32, 4, 32768},
                            Product{"register_gemm", "wmma_32x32_128x2_tn_align2", "HMMA.16816.F32.BF16", 32, 32, 128, 4, 33792},
                            Product{"register_gemm", "wmma_32x32_32x1_nn_align1", "HMMA.16816.F32.BF16", 32, 32, 32, 4, 5120},
                            Product{"copy_gemm", "256x128_64x3_tn_align2", "HMMA.16816.F32.BF16", 128, 256, 64, 8, 147456}}) {
    const auto text = [](uint64_t number) { return std::to_string(number); };
    const auto product = imported(of.launch, {"function=" + of.launch + "_" + of.function, "block.x=" + text(of.warps * 32),
                                              "shared_memory_bytes=" + text(of.shared_bytes), "grid_of.x.divide=" + text(of.rows),
                                              "grid_of.y.divide=" + text(of.columns), "parameter.rows.value=" + text(kM),
                                              "parameter.columns.value=" + text(kN), "parameter.depth.value=" + text(kK),
                                              "parameter.batch.value=" + text(kBatch)});
    ASSERT_TRUE(product) << of.function << ": " << product.error().text();
    EXPECT_EQ(array_of(*product, "a").touched, kBatch * kM * kK * 2) << of.function;
    EXPECT_EQ(array_of(*product, "b").touched, kBatch * kN * kK * 2) << of.function;
    EXPECT_EQ(array_of(*product, "c").touched, kBatch * kM * kN * 2) << of.function;
    const auto tiles = [](uint64_t size, uint64_t tile) { return (size + tile - 1) / tile; };
    const uint64_t k_of_product = of.product == "HMMA.1688.F32.BF16" ? 8 : 16;
    const uint64_t ctas = tiles(kM, of.rows) * tiles(kN, of.columns) * kBatch;
    EXPECT_EQ(counts_of(product->kernel).at(of.product),
              ctas * of.rows / 16 * of.columns / 8 * tiles(kK, of.depth) * of.depth / k_of_product)
        << of.function;
  }
}

TEST(Operators, RunBesideAGemm) {
  const traces::Kernel gemm = generated("ampere_gemm { m: 4096 n: 4096 k: 2048 }");
  for (const std::string name : {"rms_norm", "softmax", "swiglu", "dropout", "adam"}) {
    const auto kernel = imported(name, {});
    ASSERT_TRUE(kernel) << kernel.error().text();
    const sim::Outcome pair = simulated({&gemm, &kernel->kernel}, a100());
    const auto cycles = [&](size_t of) { return static_cast<double>(pair.kernels[of].end_cycle - pair.kernels[of].start_cycle); };
    EXPECT_GT(cycles(0), 0.999 * static_cast<double>(time_of(gemm, a100()))) << name;
    EXPECT_GT(cycles(1), time_of(kernel->kernel, a100())) << name;
  }
}

TEST(LaunchSizes, SayWhatIsMissing) {
  EXPECT_THAT(message_of(imported("softmax_backward_fp32", {"parameter.columns.value=8192"})),
              EndsWith("softmax_backward_fp32.textproto:6:31: no choice is for more than 4096 columns"));
  EXPECT_EQ(message_of(imported("rms_norm", {"parameter.rows.value=0"})),
            "--set parameter.rows.value=0: a size follows from \"rows\"; it must be at least 1");
  EXPECT_THAT(message_of(import_lines("EXIT ;\n", R"(
    architecture: "sm_80" grid_of { x { per: "row" } } block { x: 32 } parameter { name: "rows" value: 4 })")),
              EndsWith("no parameter with a value is called \"row\"; did you mean \"rows\"?"));
}

// Products that ptxas replaces by calls on sm_120: two products of 8 bits for one of 4, or a call beside the product.
TEST(ReplacedProducts, CallASubroutineEach) {
  constexpr uint64_t kWarps = 864, kIterations = 16;
  const auto issued = [](const std::string& function, const std::string& name) {
    const auto made = import_files("configs/kernels/mma_replaced_sm_120.sass", "configs/kernels/mma_replaced.textproto",
                                   {"function=" + function, "parameter.iterations.value=" + std::to_string(kIterations)});
    EXPECT_TRUE(made) << made.error().text();
    return made ? workloads::issued(made->kernel, name) : 0;
  };
  for (const char* function : {"u4_u4_8x1", "s4_s4_8x1"}) {
    EXPECT_EQ(issued(function, "IMMA.16832"), kWarps * kIterations * 8 * 2) << function;
    EXPECT_EQ(issued(function, "CALL"), kWarps * kIterations * 8) << function;
  }
  EXPECT_EQ(issued("u4_s4_8x2", "IMMA.16832.U8.S8"), kWarps * kIterations * 8 * 2 * 2);
  EXPECT_EQ(issued("s4_u4_1x1", "IMMA.16832.S8.U8"), kWarps * kIterations * 2);
  // Packets whose sums are not stored keep the call, not the product.
  EXPECT_EQ(issued("sparse_f16_k16_8x1", "CALL"), kWarps * kIterations * 8);
  EXPECT_EQ(issued("sparse_f16_k16_8x1", "HMMA.SP.16816"), kWarps * kIterations);
  EXPECT_EQ(issued("sparse_u4_u4_8x1", "CALL"), kWarps * kIterations * 8 * 3);
}

}  // namespace
}  // namespace warpfold::sass
