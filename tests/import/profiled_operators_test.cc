#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "imported_operators.h"

// Operators that `profile` makes of launches: DeepSeek's, PyTorch's and cuDNN's kernels move the bytes of their sizes.

namespace warpfold::sass {
namespace {

// A cast reads two bytes of an element and writes one, and a scale for 128 elements, whose sectors may be touched for one word.
TEST(ProfiledOperators, OfDeepSeeksCastsHoldThreeBytesAnElement) {
  for (const char* name : {"deepseek_cast_tokens", "deepseek_cast_channels"}) {
    const auto kernel = imported_rows(name, kRows);
    ASSERT_TRUE(kernel) << kernel.error().text();
    EXPECT_EQ(array_of(*kernel, "x").touched, 2 * kElements) << name;
    EXPECT_EQ(array_of(*kernel, "out").touched, kElements) << name;
    EXPECT_LT(array_of(*kernel, "scales").touched, kElements / 8) << name;
  }
}

// A tile of 128 x 128 is read and written once; the norm of 7,168 columns reads or writes a row four times with the residual.
TEST(ProfiledOperators, OfDeepSeeksTranspositionsAndNormAreTouchedOnce) {
  const auto bytes = imported("deepseek_transpose_bytes", {"parameter.columns.value=4096"});
  ASSERT_TRUE(bytes) << bytes.error().text();
  EXPECT_EQ(array_of(*bytes, "x").touched, 128 * 4096);
  EXPECT_EQ(array_of(*bytes, "out").touched, 128 * 4096);
  const auto words = imported("deepseek_transpose_words", {"parameter.rows.value=1024"});
  ASSERT_TRUE(words) << words.error().text();
  EXPECT_EQ(array_of(*words, "out").touched, 1024 * 128 * 4);
  const auto norm = imported("deepseek_norm_rows", {"parameter.rows.value=512", "grid.x=64"});
  ASSERT_TRUE(norm) << norm.error().text();
  for (const char* array : {"x", "residual", "sum", "out"}) EXPECT_EQ(array_of(*norm, array).touched, 512 * 14336) << array;
}

TEST(ProfiledOperators, TransposeByStrides) {
  const auto bf16 = imported("torch_transpose", {"parameter.elements.value=1048576", "parameter.columns.value=2048",
                                                 "parameter.rows_divisor.value=512", "parameter.rows_shift.value=9"});
  ASSERT_TRUE(bf16) << bf16.error().text();
  EXPECT_EQ(array_of(*bf16, "x").touched, kElements * 2);
  EXPECT_EQ(array_of(*bf16, "x").requested, kElements * 32);
  EXPECT_EQ(array_of(*bf16, "out").requested, kElements * 2);
}

// 64 x 512 x 32 elements, fastest first; the argument has the first two extents the other way round, as lanes that read a sector
// each.
TEST(ProfiledOperators, PassByStrides) {
  for (const std::string name : {"copy", "scale", "add"}) {
    for (const std::string type : {"", "_fp32"}) {
      const uint64_t bytes = type.empty() ? 2 : 4;
      const auto pass = imported("torch_strided_" + name + type, {});
      ASSERT_TRUE(pass) << pass.error().text();
      EXPECT_EQ(array_of(*pass, "x").touched, kElements * bytes) << name << type;
      EXPECT_EQ(array_of(*pass, "x").requested, kElements * bytes) << name << type;
      EXPECT_EQ(array_of(*pass, "out").requested, kElements * bytes) << name << type;
      if (name == "add") {
        EXPECT_EQ(array_of(*pass, "y").requested, kElements * bytes) << type;
      }
      const auto transposed = imported("torch_strided_" + name + type, {"parameter.x_0.value=" + std::to_string(512 * bytes),
                                                                        "parameter.x_1.value=" + std::to_string(bytes),
                                                                        "parameter.x_2.value=" + std::to_string(64 * 512 * bytes)});
      ASSERT_TRUE(transposed) << transposed.error().text();
      EXPECT_EQ(array_of(*transposed, "x").touched, kElements * bytes) << name << type;
      EXPECT_EQ(array_of(*transposed, "x").requested, kElements * 32) << name << type;
    }
  }
}

// A fourth loop adds nine instructions to an element: the division, the remainder, a multiplication for each tensor, the loop's
// end.
TEST(ProfiledOperators, PassByStridesDividesForEachExtent) {
  const auto three = imported("torch_strided_copy", {});
  const auto four =
      imported("torch_strided_copy", {"parameter.extents.value=4", "parameter.divisor_2.value=16", "parameter.shift_2.value=4",
                                      "parameter.divisor_3.value=2", "parameter.shift_3.value=1", "parameter.out_3.value=1048576",
                                      "parameter.x_3.value=1048576"});
  ASSERT_TRUE(three) << three.error().text();
  ASSERT_TRUE(four) << four.error().text();
  EXPECT_EQ(array_of(*four, "out").touched, kElements * 2);
  const uint64_t more = traces::issued_instructions(four->kernel) - traces::issued_instructions(three->kernel);
  EXPECT_EQ(more, kElements / 32 * 9);
}

// Rows are read three times and written once. A row of 3,137 elements is read by single elements: one for the head and three turns
// for the rest. Rows of 8,192 elements are a turn of vectors, with fewer instructions an element.
TEST(ProfiledOperators, SoftmaxOfRowsReadsVectorsOnlyInWholeTurns) {
  for (const std::string name : {"torch_softmax_rows", "torch_log_softmax_rows"}) {
    const auto rows = [&](const std::string& columns, const std::string& pitch, const std::string& begin) {
      return imported(name, {"parameter.rows.value=64", "parameter.columns.value=" + columns, "parameter.pitch.value=" + pitch,
                             "parameter.x_begin.array_offset=" + begin, "parameter.out_begin.array_offset=" + begin});
    };
    const auto odd = rows("3137", "3144", "8"), whole = rows("8192", "8192", "0");
    ASSERT_TRUE(odd) << odd.error().text();
    ASSERT_TRUE(whole) << whole.error().text();
    EXPECT_EQ(array_of(*whole, "x").requested, 64 * 8192 * 2 * 3);
    EXPECT_EQ(array_of(*whole, "out").requested, 64 * 8192 * 2);
    EXPECT_LT(traces::issued_instructions(whole->kernel) / 8192, traces::issued_instructions(odd->kernel) / 3137 / 2);
    const auto words =
        imported(name + "_fp32", {"parameter.rows.value=64", "parameter.columns.value=4096", "parameter.pitch.value=4096"});
    ASSERT_TRUE(words) << words.error().text();
    EXPECT_EQ(array_of(*words, "x").requested, 64 * 4096 * 4 * 3);
  }
}

// A batch norm reads a channel's planes twice, or once if it keeps them in shared memory. A change of layout reads and writes each
// element once. A max pooling by windows of 3 x 3 reads at most nine pixels a result. One image of 64 channels.
TEST(ProfiledOperators, OfConvolutionalNetworksReadWhatTheirSourceSays) {
  constexpr uint64_t kPixels = 56 * 56, kBytes = 64 * kPixels * 4;
  const std::vector<std::string> kept{"function=batch_norm_kept", "shared_memory_bytes=14480"},
      backward_kept{"function=batch_norm_backward_kept", "shared_memory_bytes=29072"};
  for (const auto& [name, settings, readings] : {std::tuple{"vision_batch_norm", std::vector<std::string>{}, 2U},
                                                 {"vision_batch_norm", kept, 1U},
                                                 {"vision_batch_norm_backward", {}, 2U},
                                                 {"vision_batch_norm_backward", backward_kept, 1U},
                                                 {"vision_layout", {}, 1U},
                                                 {"vision_layout", {"function=nhwc_to_nchw"}, 1U}}) {
    const auto kernel = imported(name, settings);
    ASSERT_TRUE(kernel) << kernel.error().text();
    SCOPED_TRACE(std::string(name) + " " + std::to_string(readings));
    EXPECT_EQ(array_of(*kernel, "x").requested, kBytes * readings);
    EXPECT_EQ(array_of(*kernel, "out").requested, kBytes);
  }
  for (const char* function : {"function=nchw_to_nhwc_half", "function=nhwc_to_nchw_half"}) {
    const auto kernel = imported("vision_layout_half", {function});
    ASSERT_TRUE(kernel) << kernel.error().text();
    EXPECT_EQ(array_of(*kernel, "x").requested, kBytes / 2) << function;
    EXPECT_EQ(array_of(*kernel, "out").requested, kBytes / 2) << function;
  }
  const auto pooling = imported("vision_max_pool", {"parameter.results.value=200704", "parameter.planes.value=64"});
  ASSERT_TRUE(pooling) << pooling.error().text();
  EXPECT_EQ(array_of(*pooling, "out").requested, 200704 * 4);
  EXPECT_EQ(array_of(*pooling, "chosen").requested, 200704 * 8);
  EXPECT_EQ(array_of(*pooling, "x").touched, 64 * 112 * 112 * 4);
  const auto backward = imported("vision_max_pool_backward", {});
  ASSERT_TRUE(backward) << backward.error().text();
  EXPECT_EQ(array_of(*backward, "out").requested, 64 * 112 * 112 * 4);
  EXPECT_EQ(array_of(*backward, "gradient").touched, 64 * 56 * 56 * 4);
}

// Chunks of 65,536 elements, of which five of 16 have half as many. Adam reads four arrays and writes three.
TEST(ProfiledOperators, OverListsOfTensorsReadWholeAndPartialChunks) {
  constexpr uint64_t kBytes = (11 * 65536 + 5 * 32768) * 4;
  const std::vector<std::string> chunks{"parameter.chunks.value=16", "parameter.whole.value=11"};
  for (const auto& [name, read, both] : {std::tuple{"multi_tensor_adam", "gradient", std::vector{"weights", "first", "second"}},
                                         {"multi_tensor_add", "y", std::vector{"x"}},
                                         {"multi_tensor_scale", "", std::vector{"x"}}}) {
    const auto kernel = imported(name, chunks);
    ASSERT_TRUE(kernel) << kernel.error().text();
    SCOPED_TRACE(name);
    if (*read != 0) {
      EXPECT_EQ(array_of(*kernel, read).requested, kBytes);
    }
    for (const char* array : both) EXPECT_EQ(array_of(*kernel, array).requested, 2 * kBytes) << array;
  }
}

// Dense rows of 601 elements begin at each of eight places of a vector in turn. A sample of CTAs, each with its own turns,
// has as many instructions a CTA as eight rows that are executed one by one.
TEST(ProfiledOperators, SoftmaxOfDenseRowsIsSampled) {
  const auto rows = [](const std::string& count) {
    return imported("torch_softmax_rows",
                    {"parameter.rows.value=" + count, "parameter.columns.value=601", "parameter.pitch.value=601", "block.x=64"});
  };
  const auto few = rows("8"), many = rows("8000");
  ASSERT_TRUE(few) << few.error().text();
  ASSERT_TRUE(many) << many.error().text();
  EXPECT_GT(many->report.sampled_ctas, 0);
  const auto expected = 1000.0 * static_cast<double>(traces::issued_instructions(few->kernel));
  EXPECT_NEAR(static_cast<double>(traces::issued_instructions(many->kernel)), expected, 0.01 * expected);
}

// Indices are divided by extents that the importer does not know: answers state the sectors. An input whose lanes read a sector
// each reads every sector as often as it has elements. A vector's elements are stored one by one.
TEST(ProfiledOperators, ConcatenateByDivisions) {
  constexpr uint64_t kEach = 4579328;
  for (const std::string type : {"", "_fp32"}) {
    const uint64_t bytes = type.empty() ? 2 : 4;
    uint64_t least = UINT64_MAX;
    for (const uint64_t variant : {4, 3, 2, 1}) {
      const auto strided = imported("torch_concatenate" + type, {"parameter.variant.value=" + std::to_string(variant)});
      const auto dense = imported("torch_concatenate" + type, {"parameter.variant.value=" + std::to_string(variant + 4)});
      ASSERT_TRUE(strided) << strided.error().text();
      ASSERT_TRUE(dense) << dense.error().text();
      for (const auto* each : {&*strided, &*dense}) {
        EXPECT_EQ(array_of(*each, "out").requested, 2 * kEach * bytes);
        EXPECT_EQ(array_of(*each, "in_0").touched, kEach * bytes);
        EXPECT_EQ(array_of(*each, "in_2").requested, 0);
      }
      const uint64_t issued = traces::issued_instructions(strided->kernel);
      EXPECT_LT(issued, least) << "an extent less is a division less";
      EXPECT_LT(traces::issued_instructions(dense->kernel), issued);
      least = issued;
    }
    const auto lanes = imported("torch_concatenate" + type, {"choice.3.answer.0.sectors=32"});
    ASSERT_TRUE(lanes) << lanes.error().text();
    EXPECT_EQ(array_of(*lanes, "in_0").requested, kEach * 32);
    EXPECT_EQ(array_of(*lanes, "in_0").dram, kEach * bytes);
    const auto vectors = imported("torch_concatenate" + type, {"parameter.variant.value=12"});
    ASSERT_TRUE(vectors) << vectors.error().text();
    EXPECT_EQ(array_of(*vectors, "in_1").requested, kEach * bytes);
  }
}

TEST(ProfiledOperators, SelectRowsByDivisions) {
  for (const std::string type : {"", "_fp32"}) {
    const uint64_t bytes = type.empty() ? 2 : 4, elements = 8192 * 1024;
    const auto rows = imported("torch_index_select" + type, {});
    ASSERT_TRUE(rows) << rows.error().text();
    EXPECT_EQ(array_of(*rows, "x").touched, elements * bytes);
    EXPECT_EQ(array_of(*rows, "out").requested, elements * bytes);
    EXPECT_EQ(array_of(*rows, "index").requested, elements);  // a sector a warp
  }
}

}  // namespace
}  // namespace warpfold::sass
