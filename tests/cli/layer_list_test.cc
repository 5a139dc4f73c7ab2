// warpfold layer of a model that lists its operators: the kernels made of them, and the refusals.

#include <gmock/gmock.h>

#include <stdexcept>

#include "configs/layer.pb.h"
#include "program.h"

namespace warpfold::cli {
namespace {

using testing::HasSubstr;

class ListedLayer : public Program {
 protected:
  // Twelve lines; operators begin on line 10.
  static constexpr const char* kBlock =
      "type: BF16\n"
      "dimension { name: \"b\" size: 2 } dimension { name: \"j\" size: 256 } dimension { name: \"i\" size: 512 }\n"
      "dimension { name: \"h\" size: 8 } dimension { name: \"g\" size: 4 } dimension { name: \"p\" size: 64 }\n"
      "tensor { name: \"x\" dimension: \"b\" dimension: \"j\" dimension: \"i\" given: true }\n"
      "tensor { name: \"w\" dimension: \"i\" role: WEIGHT_TENSOR }\n"
      "tensor { name: \"n\" dimension: \"b\" dimension: \"j\" dimension: \"i\" }\n"
      "tensor { name: \"W\" dimension: \"i\" dimension: \"h\" dimension: \"p\" role: WEIGHT_TENSOR }\n"
      "tensor { name: \"q\" dimension: \"b\" dimension: \"j\" dimension: \"h\" dimension: \"p\" }\n"
      "tensor { name: \"y\" dimension: \"b\" dimension: \"j\" dimension: \"h\" dimension: \"p\" }\n"
      "operator { name: \"scale\" work: \"silu\" input: \"q\" output: \"y\" }\n"
      "operator { name: \"project\" work: \"product\" input: \"n\" input: \"W\" output: \"q\" }\n"
      "operator { name: \"norm\" work: \"rms_norm\" input: \"x\" input: \"w\" output: \"n\" }\n";

  Ended layer(const std::string& text, std::vector<std::string> more = {}) const {
    write("m.textproto", text);
    more.insert(more.begin(), {"layer", "m.textproto"});
    return run(more);
  }
  configs::LayerReport report(const std::string& model, std::vector<std::string> more) const {
    more.insert(more.begin(), {"layer", model});
    return message<configs::LayerReport>(more);
  }
  std::string refusal(const std::string& text, const std::vector<std::string>& more = {"--no-simulation"}) const {
    write("m.textproto", text);
    std::vector<std::string> arguments{"layer", "m.textproto"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return refused(arguments);
  }
  std::string with(const std::string& old, const std::string& now) const {
    std::string text = kBlock;
    return text.replace(text.find(old), old.size(), now);
  }
};

TEST_F(ListedLayer, IsSimulatedInTheOrderOfItsTensors) {
  write("m.textproto", kBlock);
  const configs::LayerReport made = report("m.textproto", {"--fused"});
  ASSERT_EQ(made.versions(0).kernels_size(), 3);
  EXPECT_EQ(made.versions(0).kernels(0).name(), "norm");
  EXPECT_EQ(made.versions(0).kernels(1).name(), "project");
  EXPECT_EQ(made.versions(0).kernels(1).flops(), 2ULL * 2 * 256 * 512 * 512);
  EXPECT_EQ(made.versions(0).kernels(0).reduced(), "i 512");
  EXPECT_EQ(made.versions(0).simulated_percent(), 100);
  EXPECT_THAT(layer(kBlock, {"--no-simulation"}).out, HasSubstr("m on H100 SXM5 80GB: one layer of 1, 3 operators\n"));
}

TEST_F(ListedLayer, IsCheckedLikeEveryFile) {
  write("m.textproto", kBlock);
  EXPECT_THAT(run({"check", "m.textproto"}).out, HasSubstr("model card m of 3 operators"));
  write("m.textproto", with("\"silu\"", "\"sliu\""));
  const Ended wrong = run({"check", "m.textproto"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("m.textproto:10:26: no operator called \"sliu\""));
  EXPECT_THAT(run({"compare", "block", "--model", "palm-8b"}).err, HasSubstr("lists its operators: a block needs a model card"));
}

// The list of PaLM's block: products of 2 x tokens x parameters, attention's scores, and sums of two branches.
TEST_F(ListedLayer, CountsWhatABlockComputes) {
  const configs::LayerReport made = report("palm_8b", {"--no-simulation", "--fused"});
  uint64_t products = 0;
  for (const configs::LayerKernel& each : made.versions(0).kernels()) products += each.kind() == "contraction" ? each.flops() : 0;
  EXPECT_EQ(products, 2ULL * 2048 * (2 * 4096 * 4096 + 2 * 4096 * 256 + 3 * 4096 * 16384));
  EXPECT_LT(made.versions(2).kernels_size(), made.versions(0).kernels_size());  // both sums are one kernel
}

TEST_F(ListedLayer, RefusesWhatIsNoOperator) {
  EXPECT_EQ(refusal(with("\"silu\"", "\"sliu\"")), "m.textproto:10:26: no operator called \"sliu\"; did you mean \"silu\"?\n");
  EXPECT_EQ(refusal(with("work: \"silu\"", "")), "m.textproto:10:1: operator \"scale\" has no work\n");
  EXPECT_EQ(refusal(with("\"silu\"", "\"all_reduce\"")),
            "m.textproto:10:26: transfers follow from tensor_parallel, context_parallel and data_parallel of a model card\n");
  EXPECT_EQ(refusal(with("\"silu\"", "\"silu\" kind: \"contraction\"")),
            "m.textproto:10:39: \"silu\" is of class elementwise, not \"contraction\"\n");
  EXPECT_EQ(refusal(with("\"silu\"", "\"residual\"")), "m.textproto:10:1: residual reads 2 tensors, not 1\n");
  EXPECT_EQ(refusal(with("name: \"scale\"", "name: \"norm\"")), "m.textproto:12:12: a second operator called \"norm\"\n");
  EXPECT_EQ(refusal(std::string(kBlock) + "hidden: 512\n"), "m.textproto:13:1: a model that lists its operators has no hidden\n");
  EXPECT_EQ(refusal("type: BF16\ndimension { name: \"b\" size: 2 }\n"),
            "m.textproto:1:1: dimensions and tensors without an operator\n");
  EXPECT_EQ(refusal(with("BF16", "FP8")), "m.textproto:1:1: type must be BF16 or FP16, not FP8\n");
}

TEST_F(ListedLayer, RefusesACycle) {
  EXPECT_EQ(refusal(with("input: \"x\" input: \"w\"", "input: \"z\" input: \"w\"") +
                    "tensor { name: \"z\" dimension: \"b\" dimension: \"j\" dimension: \"i\" }\n"
                    "operator { name: \"back\" work: \"residual\" input: \"n\" input: \"x\" output: \"z\" }\n"),
            "m.textproto:12:1: a cycle: \"norm\" waits for \"back\" waits for \"norm\"\n");
}

TEST_F(ListedLayer, RefusesATensorThatNothingMakes) {
  EXPECT_EQ(refusal(with(" given: true", "")),
            "m.textproto:12:42: no operator makes \"x\"; given: true where it comes from outside\n");
  EXPECT_EQ(refusal(with("output: \"y\"", "output: \"n\"")), "m.textproto:12:64: \"n\" is made by \"scale\" already\n");
  EXPECT_EQ(refusal(with("output: \"n\"", "output: \"x\"")), "m.textproto:12:64: \"x\" comes from outside: no operator makes it\n");
  EXPECT_EQ(refusal(with("input: \"q\"", "input: \"queries\"")),
            "m.textproto:10:39: no tensor called \"queries\"; known: W, n, q, w, x, y\n");
  EXPECT_EQ(refusal(std::string(kBlock) + "tensor { name: \"z\" dimension: \"b\" }\n"),
            "m.textproto:13:1: no operator reads or makes \"z\"\n");
  EXPECT_EQ(refusal(with("dimension: \"i\" given", "dimension: \"e\" given")),
            "m.textproto:4:50: no dimension called \"e\"; did you mean \"b\"?\n");
  EXPECT_EQ(refusal(with("output: \"q\"", "output: \"q\" pass: BACKWARD_PASS")),
            "m.textproto:10:39: \"q\" is made in the backward pass, after \"scale\" of the forward pass\n");
}

TEST_F(ListedLayer, RefusesALayoutThatNoKernelReads) {
  EXPECT_EQ(refusal(with("dimension: \"j\" dimension: \"i\" given", "dimension: \"i\" dimension: \"j\" given")),
            "m.textproto:12:42: no kernel of rms_norm reads \"x\" (b i j) beside (b j i): a transpose in front of it turns it\n");
  // The product stores heads in front of tokens; the next operator reads them in the opposite order.
  EXPECT_EQ(
      refusal(with("\"q\" dimension: \"b\" dimension: \"j\" dimension: \"h\"",
                   "\"q\" dimension: \"b\" dimension: \"h\" dimension: \"j\"")),
      "m.textproto:11:1: no matrix product stores \"q\" (b h j p): rows (b j) and columns (h p) have to lie side by side, one "
      "of them innermost\n");
  const std::string attention =
      "type: BF16\n"
      "dimension { name: \"b\" size: 2 } dimension { name: \"j\" size: 256 } dimension { name: \"h\" size: 8 }\n"
      "dimension { name: \"g\" size: 3 } dimension { name: \"p\" size: 64 }\n"
      "tensor { name: \"q\" dimension: \"b\" dimension: \"j\" dimension: \"h\" dimension: \"p\" given: true }\n"
      "tensor { name: \"o\" dimension: \"b\" dimension: \"j\" dimension: \"h\" dimension: \"p\" }\n"
      "tensor { name: \"k\" dimension: \"b\" dimension: \"j\" dimension: \"g\" dimension: \"p\" given: true }\n"
      "tensor { name: \"v\" dimension: \"b\" dimension: \"g\" dimension: \"j\" dimension: \"p\" given: true }\n"
      "operator { name: \"a\" work: \"attention\" input: \"q\" input: \"k\" input: \"v\" output: \"o\" }\n";
  EXPECT_EQ(
      refusal(attention),
      "m.textproto:8:62: no kernel of attention reads \"v\" (b g j p): it reads (b tokens h p), keys and values (b tokens g p)\n");
  // Heads that do not divide.
  std::string heads = attention;
  heads.replace(heads.find("dimension: \"g\" dimension: \"j\""), 29, "dimension: \"j\" dimension: \"g\"");
  EXPECT_EQ(refusal(heads), "m.textproto:8:51: heads (8) must be a multiple of the heads of keys, not 3\n");
}

// A statistic is a number a row, of which no operator on elements reads as many as it takes.
TEST_F(ListedLayer, RefusesAStatisticInPlaceOfElements) {
  const std::string given =
      "type: BF16\n"
      "dimension { name: \"b\" size: 2 } dimension { name: \"j\" size: 256 } dimension { name: \"i\" size: 512 }\n"
      "tensor { name: \"x\" dimension: \"b\" dimension: \"j\" dimension: \"i\" given: true }\n"
      "tensor { name: \"s\" dimension: \"i\" role: STATISTIC_TENSOR given: true }\n";
  const std::string made = given + "tensor { name: \"y\" dimension: \"b\" dimension: \"j\" dimension: \"i\" }\n";
  EXPECT_EQ(refusal(made + "operator { name: \"add\" work: \"bias\" input: \"x\" input: \"s\" output: \"y\" }\n", {}),
            "m.textproto:6:48: bias reads a tensor of elements, not \"s\", a statistic of rows\n");
  std::string maps = made;
  maps.replace(maps.find("role: STATISTIC_TENSOR given"), 28, "given");
  maps.replace(maps.rfind(" }"), 2, " role: STATISTIC_TENSOR }");
  EXPECT_EQ(refusal(maps + "operator { name: \"add\" work: \"bias\" input: \"x\" input: \"s\" output: \"y\" }\n"),
            "m.textproto:6:1: bias makes a tensor of elements, not \"y\", a statistic of rows\n");
}

TEST_F(ListedLayer, RefusesABudgetThatCannotBeMet) {
  const std::string both =
      with("role: WEIGHT_TENSOR }\ntensor { name: \"n\"", "role: WEIGHT_TENSOR }\ntensor { name: \"n\"") +
      "tensor { name: \"dn\" dimension: \"b\" dimension: \"j\" dimension: \"i\" given: true }\n"
      "tensor { name: \"s\" dimension: \"b\" dimension: \"j\" role: STATISTIC_TENSOR given: true }\n"
      "tensor { name: \"dx\" dimension: \"b\" dimension: \"j\" dimension: \"i\" role: GRADIENT_TENSOR }\n"
      "operator { name: \"norm dX\" work: \"rms_norm_gradient\" pass: BACKWARD_PASS input: \"dn\" input: \"x\" "
      "input: \"s\" input: \"w\" output: \"dx\" }\n";
  EXPECT_EQ(refusal(both, {"--no-simulation", "--activations", "1"}), "--activations 1.0: the layer's input alone takes 1.0 MB\n");
  EXPECT_EQ(refusal(kBlock, {"--no-simulation", "--train", "1e9"}),
            "--train takes a model card: a list of operators does not state its number of tokens\n");
  EXPECT_EQ(refusal(kBlock, {"--no-simulation", "--layouts"}),
            "--layouts takes a model card: a list of operators states its tensors' layouts\n");
}

}  // namespace
}  // namespace warpfold::cli
