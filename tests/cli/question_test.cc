// Questions in one line: the block, words NAME=VALUE, and files of another kind than a command takes.

#include <gmock/gmock.h>

#include <stdexcept>

#include "configs/load.h"
#include "configs/result.pb.h"
#include "program.h"
#include "tests/source_dir.h"

namespace warpfold::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kConfigs = WARPFOLD_SOURCE_DIR "/configs/";
const std::string kBlock = kConfigs + "scenarios/block.textproto";

configs::Scenario block(const std::vector<std::string>& settings) {
  auto scenario = configs::load_scenario(kBlock, settings);
  if (!scenario) throw std::runtime_error(scenario.error().text());
  return *scenario;
}

std::string block_error(const std::vector<std::string>& settings) {
  const auto scenario = configs::load_scenario(kBlock, settings);
  return scenario ? "no error" : scenario.error().message;
}

const configs::Kernel& kernel(const configs::Scenario& scenario, const std::string& name) {
  for (const configs::Kernel& each : scenario.kernel()) {
    if (each.name() == name) return each;
  }
  throw std::runtime_error("no kernel " + name);
}

TEST(Block, OfAModelCardHasItsSizes) {
  const configs::Scenario scenario = block({"model=llama3-70b"});
  EXPECT_FALSE(scenario.has_block());
  ASSERT_EQ(scenario.kernel_size(), 6);
  EXPECT_EQ(kernel(scenario, "qkv").hopper_gemm().n(), (64 + 2 * 8) * 128);
  EXPECT_EQ(kernel(scenario, "fc1").hopper_gemm().n(), 2 * 28672) << "gate and up-projection";
  EXPECT_EQ(kernel(scenario, "fc2").hopper_gemm().k(), 28672);
  EXPECT_EQ(kernel(scenario, "proj").hopper_gemm().k(), 8192);
  const configs::AttentionShape& shape = kernel(scenario, "attention").flash_attention_3().shape();
  EXPECT_EQ(shape.kv_heads(), 8);
  EXPECT_TRUE(shape.causal());
  // Half of the scores are masked, and so many bits are not drawn.
  EXPECT_EQ(kernel(scenario, "rng").philox().keys(), 4096);
  EXPECT_EQ(scenario.DebugString(), block({}).DebugString()) << "the default";
}

TEST(Block, OfSizesOfOnesOwnHasThosePlain) {
  const configs::Scenario scenario = block({"embedding=6144", "heads=48", "seq=16384", "type=bf16", "gpu_file=h200_sxm"});
  EXPECT_EQ(scenario.gpu().name(), "H200 SXM5 141GB");
  EXPECT_EQ(kernel(scenario, "qkv").hopper_gemm().n(), 3 * 6144);
  EXPECT_EQ(kernel(scenario, "fc1").hopper_gemm().n(), 4 * 6144);
  EXPECT_EQ(kernel(scenario, "qkv").hopper_gemm().m(), 16384);
  EXPECT_EQ(kernel(scenario, "attention").flash_attention_3().shape().head_dim(), 128);
  EXPECT_EQ(kernel(scenario, "rng").philox().keys(), 16384);
  EXPECT_EQ(scenario.compare(0), configs::FUSED);
}

TEST(Block, OfTheFormerScenarioIsTheSame) {
  auto former = configs::load_scenario(kConfigs + "scenarios/block_llama3_70b.textproto", {"seq=4096"});
  ASSERT_TRUE(former) << former.error().text();
  const configs::Scenario scenario = block({"embedding=8192", "seq=4096", "type=fp8"});
  for (const configs::Kernel& each : former->kernel()) {
    configs::Kernel mine = kernel(scenario, each.name());
    configs::Kernel theirs = each;
    theirs.mutable_hopper_gemm()->set_rasterisation(configs::ALONG_M);  // which is the default
    if (each.has_hopper_gemm()) mine.mutable_hopper_gemm()->set_rasterisation(configs::ALONG_M);
    if (each.has_philox()) theirs = each, theirs.mutable_philox()->set_batch(1);
    if (each.has_flash_attention_3()) theirs = each;
    EXPECT_EQ(mine.DebugString(), theirs.DebugString());
  }
}

TEST(Block, HasKernelsOfTheGpusArchitecture) {
  const configs::Scenario scenario = block({"embedding=2048", "seq=1024", "gpu_file=a100_sxm"});
  EXPECT_TRUE(kernel(scenario, "qkv").has_ampere_gemm());
  EXPECT_TRUE(kernel(scenario, "attention").has_flash_attention_2());
  const configs::Scenario blackwell = block({"embedding=2048", "seq=1024", "type=fp8", "gpu_file=b200"});
  EXPECT_TRUE(kernel(blackwell, "qkv").has_blackwell_gemm());
  EXPECT_EQ(kernel(blackwell, "attention").flash_attention_4().shape().type(), configs::BF16);
  EXPECT_EQ(blackwell.policy().kind(), configs::CONCURRENT);
  EXPECT_THAT(block_error({"gpu_file=v100_16gb"}), StartsWith("no attention with dropout is generated for sm_70"));
}

TEST(Block, OfACardThatIsSharedIsAGpusPart) {
  const configs::Scenario scenario = block({"model=gpt3"});  // by eight
  EXPECT_EQ(kernel(scenario, "attention").flash_attention_3().shape().heads(), 12);
  EXPECT_EQ(kernel(scenario, "fc2").hopper_gemm().k(), 49152 / 8);
  EXPECT_EQ(kernel(scenario, "fc2").hopper_gemm().n(), 12288);
}

TEST(Block, IsChangedLikeAnyScenario) {
  const configs::Scenario scenario =
      block({"kernel.*.hopper_gemm.tile_n=128", "embedding=2048", "seq=1024", "unset kernel.fc1", "policy.kind=concurrent",
             "kernel+={ name: \"copy\" stream: 2 elementwise { elements: 4096 } }"});
  EXPECT_EQ(scenario.kernel_size(), 6);
  EXPECT_EQ(kernel(scenario, "qkv").hopper_gemm().tile_n(), 128);
  EXPECT_EQ(kernel(scenario, "qkv").hopper_gemm().k(), 2048);
  EXPECT_EQ(scenario.policy().kind(), configs::CONCURRENT);
  EXPECT_EQ(scenario.policy().reserve_size(), 1);
}

TEST(Block, SaysWhatIsWrongWithItsSizes) {
  EXPECT_EQ(block_error({"embedding=6144", "heads=47", "seq=1024"}),
            "heads must divide embedding (6144), not 47; or state head_dim");
  EXPECT_EQ(block_error({"embedding=6144", "heads=48", "kv_heads=7", "seq=1024"}), "kv_heads must divide heads (48), not 7");
  EXPECT_EQ(block_error({"embedding=6144"}), "seq is missing: tokens of each sequence");
  EXPECT_THAT(block_error({"embeding=6144"}), HasSubstr("did you mean \"embedding\"?"));
  EXPECT_THAT(block_error({"model=llama3_71b"}), HasSubstr("did you mean \"llama3_70b\"?"));
}

class Questions : public Program {};

TEST_F(Questions, AreWordsBehindTheScenario) {
  const auto comparison = message<configs::Comparison>({"compare", "block", "embedding=512", "heads=4", "seq=512", "gpu=h200_sxm"});
  ASSERT_EQ(comparison.results_size(), 3);
  EXPECT_EQ(comparison.results(0).policy(), "FUSED");
  EXPECT_EQ(comparison.results(2).policy(), "CARVE_OUT");
  EXPECT_EQ(comparison.results(0).gpu(), "H200 SXM5 141GB");
  const Ended model = run({"check", "block", "model=bert_large"});
  EXPECT_EQ(model.out, "block: valid scenario block on H100 SXM5 80GB\n") << model.err;
  EXPECT_THAT(run({"compare", "block", "gpu=h200_sxn"}).err, HasSubstr("did you mean \"h200_sxm\"?"));
  EXPECT_EQ(run({"simulate", "qkv_philox_small", "more"}).err, "unexpected argument \"more\"\n");
}

TEST_F(Questions, OrderSetAndUnset) {
  const std::vector<std::string> base{"check", "qkv_philox_small"};
  EXPECT_EQ(run({"check", "qkv_philox_small", "--set", "kernel.qkv.after=rng", "--unset", "kernel.qkv.after"}).exit_code, 0);
  EXPECT_EQ(run({"check", "qkv_philox_small", "--unset", "kernel.qkv.after", "--set", "kernel.qkv.after=rng"}).err,
            "--unset kernel.qkv.after: kernel[0].after is not set\n");
}

class Kinds : public Program {
 protected:
  Kinds() { write("s.textproto", small_scenario()); }
};

TEST_F(Kinds, OfEveryFileAreToldByCheck) {
  ASSERT_EQ(run({"simulate", "s.textproto", "--output", "r.json"}).exit_code, 0);
  ASSERT_EQ(run({"compare", "s.textproto", "--output", "c.json"}).exit_code, 0);
  ASSERT_EQ(run({"trace", "write", "s.textproto", "--output", "k.wft"}).exit_code, 0);
  const Ended ended = run({"check", "s.textproto", "r.json", "c.json", "k.wft", "llama3_8b", "h100_sxm", "small_pair",
                           kConfigs + "kernels/row_sums.textproto", kConfigs + "kernels/operators/rms_norm.textproto",
                           kConfigs + "kernels/operators.textproto", kConfigs + "kernels/philox_sm_80.sass",
                           kConfigs + "libraries/cublas.textproto", WARPFOLD_SOURCE_DIR "/tests/validation/data/h100_gemm.csv"});
  const std::vector<std::string> expected{"s.textproto: valid scenario s on",
                                          "r.json: valid result\n",
                                          "c.json: valid comparison of policies\n",
                                          "k.wft: valid trace of 2 kernels\n",
                                          "llama3_8b: valid model card llama3_8b\n",
                                          "h100_sxm: valid GPU H100 SXM5 80GB\n",
                                          "small_pair: valid study small_pair of",
                                          "valid launch description of row_sums\n",
                                          "valid launch description in ",
                                          "valid table of listings that run operators",
                                          "philox_sm_80.sass: valid SASS listing, ",
                                          "valid library of GEMM kernels: cuBLAS",
                                          "valid table of measurements, "};
  for (const std::string& each : expected) EXPECT_THAT(ended.out, HasSubstr(each)) << ended.err;
}

TEST_F(Kinds, OfEveryConfigurationAreTold) {
  for (const std::string folder : {"gpus", "studies", "models", "libraries"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kConfigs + folder)) {
      const Ended ended = run({"check", entry.path().string()});
      EXPECT_EQ(ended.exit_code, 0) << ended.err;
      const std::string what = folder == "gpus"      ? ": valid GPU "
                               : folder == "studies" ? ": valid study "
                               : folder == "models"  ? ": valid model card "
                                                     : ": valid library ";
      EXPECT_THAT(ended.out, HasSubstr(what));
    }
  }
}

TEST_F(Kinds, ThatACommandDoesNotTakeAreNamed) {
  const std::string gpu = kConfigs + "gpus/h100_sxm.textproto";
  const std::string card = kConfigs + "models/gpt2.textproto";
  const std::string listing = kConfigs + "kernels/philox_sm_80.sass";
  const auto error = [&](const std::vector<std::string>& arguments) {
    const Ended ended = run(arguments);
    return ended.exit_code == 2 && ended.out.empty() ? ended.err : "exit code " + std::to_string(ended.exit_code);
  };
  EXPECT_EQ(error({"simulate", gpu}), gpu + " is a GPU, and simulate takes a scenario; GPUs are for gpu show and --gpu\n");
  EXPECT_EQ(error({"compare", "gpt2"}),
            "gpt2 is a model card, and compare takes a scenario; model cards are for layer and compare block --model\n");
  EXPECT_THAT(error({"layer", "s.textproto"}), StartsWith("s.textproto is a scenario, and layer takes a model card;"));
  EXPECT_THAT(error({"study", "s.textproto"}), StartsWith("s.textproto is a scenario, and study takes a study;"));
  EXPECT_THAT(error({"simulate", "s.textproto", "--gpu", card}), StartsWith(card + " is a model card, and --gpu takes a GPU;"));
  EXPECT_THAT(error({"report", gpu}), StartsWith(gpu + " is a GPU, and report takes a result;"));
  EXPECT_THAT(error({"validate", gpu}), StartsWith(gpu + " is a GPU, and validate takes a table of measurements;"));
  EXPECT_THAT(error({"import", gpu, "--launch", card}), StartsWith(gpu + " is a GPU, and import takes a SASS listing;"));
  EXPECT_THAT(error({"import", listing, "--launch", card}), StartsWith(card + " is a model card, and --launch takes a launch"));
  EXPECT_THAT(error({"trace", "stats", gpu}), StartsWith(gpu + " is a GPU, and trace takes a trace;"));
  EXPECT_THAT(error({"gpu", "show", card}), StartsWith(card + " is a model card, and gpu show takes a GPU;"));
  EXPECT_THAT(error({"simulate", listing}), StartsWith(listing + " is a SASS listing, and simulate takes a scenario;"));
}

// A listing and a trace in place of a scenario: the refusal ends with a scenario that runs them.
TEST_F(Kinds, OfOneKernelAreRefusedWithAScenarioOfIt) {
  const auto pasted = [this](const std::string& file, const std::string& before) {
    const Ended ended = run({"simulate", file});
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    const size_t at = ended.err.find(before + ": name: ");
    if (at == std::string::npos) ADD_FAILURE() << ended.err;
    return at == std::string::npos ? std::string() : ended.err.substr(at + before.size() + 2);
  };
  write("k.sass", "Function : first\n/*0000*/ IADD3 R1, R2, R3, RZ ;\n/*0010*/ EXIT ;\nFunction : second\n/*0000*/ EXIT ;\n");
  const std::string of_listing = pasted("k.sass", "; this file is one, with the kernel's own grid and block");
  EXPECT_THAT(of_listing, HasSubstr("listing { path: \"k.sass\" description { function: \"first\" architecture: \"sm_90\" grid"));
  write("of_listing.textproto", of_listing);
  EXPECT_EQ(run({"simulate", "of_listing.textproto"}).exit_code, 0);

  ASSERT_EQ(run({"trace", "write", "s.textproto", "--output", "k.wft"}).exit_code, 0);
  const std::string of_trace = pasted("k.wft", "; this file is one");
  EXPECT_THAT(of_trace, StartsWith("name: \"k\" gpu_file: \"h100_sxm\" kernel { name: \"k\" trace { path: \"k.wft\" kernel: "));
  write("of_trace.textproto", of_trace);
  EXPECT_EQ(run({"simulate", "of_trace.textproto"}).exit_code, 0);

  write("kernel-1.traceg", "-kernel name = k\n-binary version = 80\n");
  const std::string of_recorded =
      pasted("kernel-1.traceg", "; after warpfold import-trace kernel-1.traceg --output kernel-1.wft this file is one");
  EXPECT_THAT(of_recorded, HasSubstr("gpu_file: \"a100_sxm\" kernel { name: \"kernel-1\" trace { path: \"kernel-1.wft\" } }"));
}

TEST_F(Kinds, WithAMistakeAreReadAsTheCommandTakesThem) {
  write("broken.textproto", "gpu_file: \"h100_sxm\"\nkernl {}\n");
  EXPECT_THAT(run({"simulate", "broken.textproto"}).err, StartsWith("broken.textproto:2:1: unknown field \"kernl\" in Scenario"));
  write("card.textproto", "hidden: 4096\nheds: 32\n");
  EXPECT_THAT(run({"check", "card.textproto"}).err, StartsWith("card.textproto:2:1: unknown field \"heds\" in TransformerModel"));
  write("rows.csv", "gpu,category,vlaue\nH100,GEMM,3\n");
  EXPECT_EQ(run({"check", "rows.csv"}).exit_code, 2);
  write("r.json", "{ \"scenario\": 3 ");
  EXPECT_THAT(run({"check", "r.json"}).err, StartsWith("r.json:1:"));
  write("notes.txt", "\x01\x02 nothing of ours");
  EXPECT_EQ(run({"check", "notes.txt"}).exit_code, 2);
}

}  // namespace
}  // namespace warpfold::cli
