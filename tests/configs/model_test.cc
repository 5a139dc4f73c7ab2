#include "configs/model.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "configs/operator_kernels.h"
#include "scratch.h"

namespace warpfold::configs {
namespace {

constexpr const char* kSizes =
    "batch: 2\n"
    "sequence: 256\n"
    "type: BF16\n"
    "hidden: 512\n"
    "heads: 8\n"
    "feed_forward: 1024\n"
    "activation: GELU\n";

class ModelFile : public InScratchFolder {
 protected:
  static std::string error_of(const std::string& text, const std::vector<std::string>& settings = {}) {
    write("m.textproto", text);
    const auto model = load_model("m.textproto", settings);
    return model ? "no error" : model.error().text();
  }
  // A mistake on line 8.
  static std::string fault_of(const std::string& line) { return error_of(kSizes + line); }
};

TEST_F(ModelFile, HasItsDefaultsFilledIn) {
  write("m.textproto", kSizes);
  const TransformerModel model = load_model("m.textproto", {"batch=3"}).value();
  EXPECT_EQ(model.name(), "m");
  EXPECT_EQ(model.batch(), 3U);
  EXPECT_EQ(model.kv_heads(), 8U);
  EXPECT_EQ(model.head_dim(), 64U);
  EXPECT_EQ(model.tensor_parallel(), 1U);
}

TEST_F(ModelFile, ChangesAnother) {
  write("base.textproto", kSizes);
  write("m.textproto", "base: \"base.textproto\"\nheads: 4");
  const TransformerModel model = load_model("m.textproto", {}).value();
  EXPECT_EQ(model.head_dim(), 128U);
  EXPECT_EQ(model.hidden(), 512U);
}

TEST_F(ModelFile, NamesTheMistakeAndItsPlace) {
  EXPECT_EQ(fault_of("haeds: 3"), "m.textproto:8:1: unknown field \"haeds\" in TransformerModel; did you mean \"heads\"?");
  EXPECT_EQ(fault_of("  kv_heads: 3"), "m.textproto:8:3: kv_heads must divide heads (8), not 3");
  EXPECT_EQ(error_of(kSizes, {"heads=7"}), "--set heads=7: heads must divide hidden (512), not 7; or state head_dim");
  EXPECT_EQ(fault_of("tensor_parallel: 3"), "m.textproto:8:1: tensor_parallel must divide heads (8), not 3");
  EXPECT_EQ(fault_of("tensor_parallel: 2"), "m.textproto:8:1: GPUs that share a layer need link_gb_per_s, above 0");
  EXPECT_EQ(fault_of("context_parallel: 3"), "m.textproto:8:1: context_parallel must divide sequence (256), not 3");
  EXPECT_EQ(fault_of("context_parallel: 16"), "m.textproto:8:1: context_parallel must divide kv_heads of a GPU (8), not 16");
  EXPECT_EQ(fault_of("layers: 0"), "m.textproto:8:1: layers must be from 1 to 67108864, not 0");
  EXPECT_EQ(fault_of("feed_forward_dropout: true"), "m.textproto:8:1: feed_forward_dropout needs dropout: true");
  EXPECT_EQ(fault_of("norm: ADAPTIVE_LAYER_NORM placement: BEHIND"),
            "m.textproto:8:27: ADAPTIVE_LAYER_NORM stands in front of attention and feed-forward: placement: BEFORE");
  EXPECT_EQ(error_of(kSizes, {"type=FP8"}), "--set type=FP8: type must be BF16 or FP16, not FP8");
  EXPECT_EQ(error_of(kSizes, {"activation=SWIGLU"}), "--set activation=SWIGLU: activation must be RELU, GELU or SILU, not SWIGLU");
  EXPECT_EQ(error_of(kSizes, {"head_dim=63", "rotary=true"}),
            "--set head_dim=63: rotary turns pairs of elements: head_dim must be even, not 63");
  EXPECT_EQ(error_of(kSizes, {"sequence=67108864"}),
            "--set sequence=67108864: batch x heads x sequence x sequence is more than 281474976710656 scores");
  EXPECT_EQ(error_of(kSizes, {"batch"}), "--set batch: expected PATH=VALUE");
  EXPECT_EQ(error_of(kSizes, {"base=x"}), "--set base=x: base is merged before settings and cannot be set");
  EXPECT_EQ(fault_of("sequence_parallel: true"),
            "m.textproto:8:1: sequence_parallel shares tokens among the GPUs of tensor_parallel, of which there is one");
  EXPECT_EQ(fault_of("data_parallel: 2"), "m.textproto:8:1: groups that add up gradients need data_link_gb_per_s, above 0");
  EXPECT_EQ(fault_of("zero_stage: 4"), "m.textproto:8:1: zero_stage must be from 0 to 3, not 4");
  EXPECT_EQ(fault_of("zero_stage: 1"),
            "m.textproto:8:1: zero_stage shares states among the groups of data_parallel, of which there is one");
  EXPECT_EQ(fault_of("copy_ctas: 65"), "m.textproto:8:1: copy_ctas must be up to 64, not 65");
  EXPECT_EQ(fault_of("data_link_latency_us: -1"), "m.textproto:8:1: data_link_latency_us must be at least 0");
  EXPECT_EQ(fault_of("link_latency_us: -1"), "m.textproto:8:1: link_latency_us must be at least 0");
}

TEST(ModelFiles, Load) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(gpu_path("../models"))) {
    const auto model = load_model(entry.path().string(), {});
    EXPECT_TRUE(model) << model.error().text();
    ++files;
  }
  EXPECT_GE(files, 9U);
}

class OperatorTable : public InScratchFolder {
 protected:
  static std::string error_of(const std::string& text) {
    write("t.textproto", text);
    const auto table = load_operator_kernels("t.textproto");
    return table ? "no error" : table.error().text();
  }
};

TEST_F(OperatorTable, NamesFilesRelativeToItself) {
  std::filesystem::create_directory("deep");
  write("deep/t.textproto", "kernel { operator: \"sgd\" listing: \"a.sass\" launch: \"a.textproto\" }");
  const OperatorKernels table = load_operator_kernels("deep/t.textproto").value();
  EXPECT_EQ(table.kernel(0).listing(), "deep/a.sass");
  EXPECT_EQ(table.kernel(0).launch(), "deep/a.textproto");
}

TEST_F(OperatorTable, NamesTheMistakeAndItsPlace) {
  EXPECT_EQ(error_of("kernel { }"), "t.textproto:1:1: a kernel of the table does no operator");
  EXPECT_EQ(error_of("kernel { operator: \"sgd\" }"), "t.textproto:1:1: a kernel of the table needs a launch");
  const std::string kernel = "kernel { operator: \"sgd\" listing: \"a\" launch: \"a\"\n";
  EXPECT_EQ(error_of(kernel + "size { } }"), "t.textproto:2:1: a size has no path");
  EXPECT_EQ(error_of(kernel + "size { path: \"grid.x\" divide: 0 } }"), "t.textproto:2:23: divide must be at least 1, not 0");
  EXPECT_EQ(error_of(kernel + "size { path: \"grid.x\" multiple_of: 0 } }"),
            "t.textproto:2:23: multiple_of must be at least 1, not 0");
  EXPECT_EQ(error_of(kernel + "size { path: \"grid.x\" operator_at: 1 } }"),
            "t.textproto:2:23: operator_at must be below 1, the number of operators, not 1");
  EXPECT_EQ(error_of(kernel + "only { of: ROWS } }"), "t.textproto:2:1: a range has neither least nor most");
  EXPECT_EQ(error_of(kernel + "only { least: 2 most: 1 } }"), "t.textproto:2:17: most must be at least 2, not 1");
  EXPECT_EQ(error_of(kernel + "only { most: 1 operator_at: 2 } }"),
            "t.textproto:2:16: operator_at must be below 1, the number of operators, not 2");
  EXPECT_EQ(error_of(kernel + "then { } }"), "t.textproto:2:1: a kernel of the table needs a launch");
  EXPECT_EQ(error_of(kernel + "then { launch: \"b\" size { } } }"), "t.textproto:2:20: a size has no path");
  EXPECT_EQ(error_of(kernel + "candidate: true then { launch: \"b\" } }"), "t.textproto:2:17: a candidate is one launch");
}

TEST_F(OperatorTable, RowsOfItsBaseFollow) {
  std::filesystem::create_directory("deep");
  write("t.textproto", "kernel { operator: \"sgd\" launch: \"a.textproto\" then { launch: \"b.textproto\" } }");
  write("deep/u.textproto", "base: \"../t.textproto\" kernel { operator: \"adam\" launch: \"c.textproto\" }");
  const OperatorKernels table = load_operator_kernels("deep/u.textproto").value();
  ASSERT_EQ(table.kernel_size(), 2);
  EXPECT_EQ(table.kernel(0).launch(), "deep/c.textproto");
  EXPECT_EQ(table.kernel(1).launch(), "a.textproto");
  EXPECT_EQ(table.kernel(1).then(0).launch(), "b.textproto");
  EXPECT_EQ(error_of("base: \"t.textproto\""), "t.textproto:1:1: more than 16 tables follow each other");
}

}  // namespace
}  // namespace warpfold::configs
