// Every scenario of the repository, scaled down where it is large: folded exactly, the result is that of a full replay.

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>

#include <map>
#include <stdexcept>

#include "configs/result.pb.h"
#include "program.h"
#include "tests/source_dir.h"

namespace warpfold::cli {
namespace {

namespace fs = std::filesystem;

const fs::path kScenarios = fs::path(WARPFOLD_SOURCE_DIR) / "configs" / "scenarios";

// Settings that make a full replay take a second or less, by the scenario's name.
const std::map<std::string, std::vector<std::string>> kSmaller = {
    {"block", {"embedding=512", "heads=4", "seq=512", "type=fp8"}},
    {"block_b200", {"seq=512", "embedding=512"}},
    {"block_gpt3_like", {"seq=512", "embedding=1024"}},
    {"block_gpt4_like", {"seq=512", "embedding=1024"}},
    {"block_llama3_405b", {"seq=1024", "embedding=1024"}},
    {"block_llama3_70b", {"seq=512", "embedding=512", "policy.kind=PIPELINED"}},
    {"block_llama3_8b", {"seq=512", "embedding=512", "policy.kind=WARP_SPECIALIZED"}},
    {"decode_beside_gemm_h100", {"batch=4", "tokens=1024", "kernel.gemm.hopper_gemm.n=4096", "kernel.gemm.hopper_gemm.k=2048"}},
    {"decode_gemm_partition_a100", {"kernel.decode.flash_attention_2.shape.batch=64", "kernel.gemm.ampere_gemm.k=1024"}},
    {"decode_gemm_partition_h100", {"kernel.gemm.hopper_gemm.m=1024", "kernel.gemm.hopper_gemm.k=2048"}},
    {"decode_h100", {}},
    {"decode_paged_a100", {"batch=8"}},
    {"flash_attention_2_a100", {"seq=1024", "batch=1"}},
    {"flash_attention_3_backward_h100", {"seq=1024", "batch=1"}},
    {"flash_attention_3_dropout_h100", {"seq=1024"}},
    {"flash_attention_3_h100", {"seq=2048"}},
    {"flash_attention_4_b200", {"seq=2048"}},
    {"flash_attention_4_backward_b200", {"seq=1024"}},
    {"gemm_a100_fp16_4096", {"size=2048"}},
    {"gemm_b200_bf16_8192", {}},
    {"gemm_b200_fp8_8192", {"size=4096"}},
    {"gemm_h100_bf16_8192", {"size=4096"}},
    {"gemm_h100_fp8_8192", {"size=4096"}},
    {"gemm_relu_h100", {}},
    {"listing_beside_philox", {"kernel.own.listing.description.parameter.rows.value=1728", "kernel.rng.philox.heads=1"}},
    {"moe_up_h100", {}},
    {"philox_h100", {"seq=1024"}},
    {"pod_attention_a100", {"prompt=2048", "sequences=8", "keys=2048"}},
    {"prefill_decode_a100", {"prompt=2048", "sequences=8", "keys=2048"}},
    {"prefill_decode_h100", {"sequences=16", "kernel.prefill.flash_attention_2.shape.queries=512"}},
    {"prefill_decode_yi_a100", {"prompt=2048", "sequences=8", "keys=2048", "policy.kind=WARP_INTERLEAVED"}},
    {"qkv_philox_b200", {"seq=1024", "embedding=1024"}},
    {"qkv_philox_llama3_70b", {"seq=2048", "embedding=2048"}},
    {"qkv_philox_small", {}},
    {"rms_norm_beside_qkv_h100", {"seq=1024", "embedding=2048"}},
    {"row_sums_philox", {"kernel.sums.listing.description.parameter.rows.value=1728", "kernel.rng.philox.heads=1"}},
    {"stream_copy_h100", {"elements=4194304"}},
    {"stream_triad_h100", {"elements=4194304"}},
    {"xqa_decode_h200", {}},
};

class EveryScenario : public Program, public testing::WithParamInterface<std::string> {
 protected:
  configs::Result simulate(const std::string& fold) const {
    std::vector<std::string> arguments = {"simulate", (kScenarios / (GetParam() + ".textproto")).string(), "--fold", fold};
    for (const std::string& setting : kSmaller.at(GetParam())) arguments.insert(arguments.end(), {"--set", setting});
    return message<configs::Result>(arguments);
  }
};

TEST_P(EveryScenario, GivesTheSameFoldedAsReplayed) {
  ASSERT_TRUE(kSmaller.contains(GetParam())) << "say in kSmaller what makes the scenario small enough to be replayed";
  configs::Result exact = simulate("exact");
  configs::Result off = simulate("off");
  EXPECT_THAT(exact.fold().mode(), testing::AnyOf("exact", "none"));
  EXPECT_EQ(off.fold().mode(), "off");
  EXPECT_LE(exact.instructions_replayed(), off.instructions_replayed());
  for (configs::Result* result : {&exact, &off}) {
    result->clear_fold();
    result->clear_instructions_replayed();
    result->mutable_provenance()->clear_command_line();
  }
  google::protobuf::util::MessageDifferencer differencer;
  std::string differences;
  differencer.ReportDifferencesToString(&differences);
  EXPECT_TRUE(differencer.Compare(exact, off)) << differences;
}

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kScenarios)) names.push_back(entry.path().stem().string());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Folding, EveryScenario, testing::ValuesIn(scenario_names()),
                         [](const auto& scenario) { return scenario.param; });

// Causal attention: every SM of 108 is a class of its own.
class ManyClasses : public Program {
 protected:
  configs::Result of(const std::vector<std::string>& fold) const {
    std::vector<std::string> words{"simulate", (kScenarios / "flash_attention_2_a100.textproto").string()};
    for (const std::string set : {"kernel.attention.flash_attention_2.shape.causal=true", "batch=8", "seq=1024"})
      words.insert(words.end(), {"--set", set});
    words.insert(words.end(), fold.begin(), fold.end());
    return message<configs::Result>(words);
  }
};

TEST_F(ManyClasses, EndWithinTheirBoundWhereOneStandsForMany) {
  const configs::Result estimated = of({"--fold-error", "0.1"});
  const auto exact = static_cast<double>(of({"--fold", "exact"}).kernels(0).end_cycle());
  EXPECT_EQ(estimated.fold().mode(), "bounded");
  EXPECT_LT(estimated.sms_simulated(), estimated.sm_classes());
  EXPECT_NEAR(static_cast<double>(estimated.kernels(0).end_cycle()), exact, estimated.fold().error_bound() * exact);
}

}  // namespace
}  // namespace warpfold::cli
