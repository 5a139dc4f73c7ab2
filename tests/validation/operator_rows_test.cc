#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "configs/launch_sizes.h"
#include "tests/source_dir.h"
#include "tools/validation/map_row.h"
#include "tools/validation/operator_rows.h"

namespace warpfold::validation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OperatorRows : public testing::Test {
 protected:
  OperatorRows() : file_(std::filesystem::path(testing::TempDir()) / "warpfold_operator_rows.csv") {}
  ~OperatorRows() override { std::filesystem::remove(file_); }
  OperatorRows(const OperatorRows&) = delete;
  OperatorRows& operator=(const OperatorRows&) = delete;
  OperatorRows(OperatorRows&&) = delete;
  OperatorRows& operator=(OperatorRows&&) = delete;

  MeasuredRow row(const std::string& line) const {
    std::ofstream(file_) << "id,category,gpu,kernel,impl,dtype,M,N,dims_other,value,unit\n" << line << "\n";
    return read_measured_rows(file_.string()).value().front();
  }
  Mapped<Comparison> mapped(const std::string& line) { return RowMapper(WARPFOLD_SOURCE_DIR "/configs/gpus", {}).map(row(line)); }
  std::vector<std::string> functions(const std::string& line) {
    std::vector<std::string> names;
    const auto comparison = mapped(line);
    if (!comparison) return {comparison.error().reason};
    for (const validation::Run& run : comparison->runs) {
      const configs::Kernel& kernel = *run.scenario.kernel().rbegin();
      const auto sized = configs::with_sizes(kernel.listing().description(), {});
      names.push_back(std::filesystem::path(kernel.listing().path()).filename().string() + " " +
                      (sized ? sized->function() : sized.error().message));
    }
    return names;
  }

  std::filesystem::path file_;
};

TEST_F(OperatorRows, SayOperatorPassAndSize) {
  const auto liger =
      operator_row(row("1,MEM,H100 80GB HBM3,fused_add_rms_norm full,liger_rms_norm (Liger 0.7.0),see dims,,,"
                       "\"H=4096;{\"\"M\"\": 2048, \"\"dtype\"\": \"\"torch.float32\"\"}\",1,ms"));
  ASSERT_TRUE(liger) << liger.error().reason;
  EXPECT_EQ(liger->op, RowOperator::kResidualRmsNorm);
  EXPECT_EQ(liger->pass, RowPass::kFull);
  EXPECT_EQ(liger->maker, RowMaker::kLiger);
  EXPECT_EQ(liger->type, "fp32");
  EXPECT_EQ(liger->rows, 2048U);
  EXPECT_EQ(liger->columns, 4096U);

  const auto entropy =
      operator_row(row("1,MEM,H100,cross_entropy forward,liger,see dims,,,\"V=8192;{\"\"B\"\": 8, \"\"T\"\": 2048}\",1,ms"));
  EXPECT_EQ(entropy->rows, 8U * 2048);
  EXPECT_EQ(entropy->type, "fp32");

  const auto decode = operator_row(row("1,MEM,H100,\"RMSNorm fwd, decode-size\",torch.compile,bf16,,,shape 1x192x5120,1,us"));
  EXPECT_EQ(decode->rows, 192U);
  EXPECT_EQ(decode->columns, 5120U);
}

TEST_F(OperatorRows, RunTheKernelsOfTheirMaker) {
  EXPECT_THAT(functions("1,MEM,H100,rms_norm forward,liger,bf16,2048,1024,,1,ms"),
              ElementsAre("norm_sm_80.sass rms_norm_bf16_128x1"));
  EXPECT_THAT(functions("1,MEM,H100,RMSNorm fwd,torch.compile,bf16,2048,8192,,1,ms"),
              ElementsAre("inductor_sm_80.sass inductor_rms_norm_looped"));
  EXPECT_EQ(functions("1,MEM,H100,relu_squared backward,torch (Liger 0.7.0),bf16,4096,8192,,1,ms").size(), 4U);
  EXPECT_THAT(functions("1,MEM,H100,poly_norm fwd,liger,bf16,2048,4096,,1,ms"), ElementsAre(HasSubstr("no operator")));
}

// docs/validation/operator_kernels.csv: names, grids and blocks.
TEST_F(OperatorRows, OfPyTorchRunTheKernelsOfAProfile) {
  EXPECT_THAT(functions("1,MEM,H100,softmax fwd,PyTorch 2.11,bf16,4096,1024,,1,us"),
              ElementsAre("torch_sm_80.sass torch_softmax_warp_bf16"));
  EXPECT_THAT(functions("1,MEM,H100,softmax fwd,PyTorch 2.11,fp32,4096,32768,,1,us"),
              ElementsAre("torch_sm_80.sass torch_softmax_passes_fp32"));
  EXPECT_THAT(functions("1,MEM,H100,softmax fwd,PyTorch 2.11,bf16,4096,8192,,1,us"), ElementsAre(HasSubstr("not measured")));
  EXPECT_THAT(functions("1,MEM,H100,fused_add_rms_norm fwd,PyTorch 2.11,bf16,8192,4096,,1,us"),
              ElementsAre("torch_sm_80.sass torch_add_bf16", "torch_sm_80.sass torch_rms_norm_bf16"));
  EXPECT_THAT(functions("1,MEM,H100,softmax fwd,torch.compile 2.11,bf16,4096,1024,,1,us"),
              ElementsAre("inductor_sm_80.sass inductor_softmax_held"));
  EXPECT_THAT(functions("1,MEM,H100,add,liger,bf16,4096,1024,,1,us"), ElementsAre(HasSubstr("no kernel of this maker")));

  const auto sums = mapped("1,MEM,H100,column sums,PyTorch 2.11,bf16,8192,16384,,1,us");
  ASSERT_TRUE(sums) << sums.error().reason;
  const auto sized = configs::with_sizes(sums->runs.back().scenario.kernel().rbegin()->listing().description(), {});
  ASSERT_TRUE(sized) << sized.error().message;
  EXPECT_EQ(sized->grid().x(), 128U);
  EXPECT_EQ(sized->grid().y(), 17U);
}

TEST_F(OperatorRows, AreTimedAsTheirSourceTimes) {
  const auto events = mapped("1,MEM,H100,softmax fwd,QuACK,bf16,32768,8192,,2900,GB/s");
  ASSERT_TRUE(events) << events.error().reason;
  EXPECT_EQ(events->runs.front().scenario.kernel(0).name(), "flush");
  EXPECT_EQ(events->of, "pass");
  EXPECT_DOUBLE_EQ(events->launches_us, 4.7);
  EXPECT_DOUBLE_EQ(events->runs.front().scenario.gpu().clock_mhz(), 1980);
  EXPECT_EQ(events->runs.front().scenario.gpu().l2().hit_latency_cycles(), 416U);  // of the far partition
  EXPECT_NEAR(events->measured, 4.0 * 32768 * 8192 / 2900e3, 1e-6);
  const auto profile = mapped("1,MEM,H200,rms_norm fwd,pytorch (cuDNN backend 91901),bf16,8192,4096,,3114.8,GB/s");
  ASSERT_TRUE(profile) << profile.error().reason;
  EXPECT_DOUBLE_EQ(profile->launches_us, 1106 / 1980.0);
}

TEST_F(OperatorRows, AreJudgedApartIfTheirKernelIsNotKnown) {
  const auto family = [&](const std::string& maker) {
    return mapped("1,MEM,H100,RMSNorm fwd," + maker + ",bf16,32768,4096,,195.8,us").value().family;
  };
  const std::string apart = "memory-bound, nearest relative of a kernel that is not known";
  EXPECT_EQ(family("cuDNN (Jul 2025; torch 2.7.1)"), apart);
  EXPECT_EQ(family("torch.compile (Jul 2025; torch 2.7.1)"), apart);
  EXPECT_EQ(family("torch.compile"), "memory-bound");
  EXPECT_EQ(family("pytorch (cuDNN backend 91901)"), "memory-bound") << "cuDNN's script, PyTorch's kernel";
  EXPECT_EQ(family("QuACK (Jul 2025; torch 2.7.1)"), "memory-bound");
}

TEST_F(OperatorRows, OfAStreamLimitTheCtasOfAnSm) {
  const auto stream =
      mapped("1,MEM,H200,stream triad,gpu-benches gpu-stream,fp64,,,blockSize=256;blocks/SM=2;occupancy=25.0%,1905,GB/s");
  ASSERT_TRUE(stream) << stream.error().reason;
  EXPECT_EQ(stream->runs.front().scenario.gpu().sm().cta_slots(), 2U);
  EXPECT_EQ(stream->runs.front().scenario.kernel(0).elementwise().threads_per_cta(), 256U);
}

constexpr const char* kVidurSizes = "\"tokens=256;TP=4;n_embd=8192;n_head=64;n_kv=8;n_expanded=28672;gated=True\"";
std::string vidur(const std::string& layer, const std::string& model = "meta-llama/Llama-2-70b-hf TP4",
                  const std::string& sizes = kVidurSizes) {
  return "1,MEM,A100 80GB,x,\"vidur profiler, sarathi/vLLM layer " + layer + " of " + model + "\",fp16,,," + sizes + ",0.01,ms";
}
std::string serving(const std::string& layer, const std::string& tokens, const std::string& model = "meta-llama/Llama-3.1-8B tp1") {
  return "1,MEM,RTX PRO 6000 Blackwell Server,x,vLLM 0.19 layer " + layer + " of " + model + ",bf16,,,tokens=" + tokens + ",3,us";
}

// csrc/layernorm_kernels.cu, activation_kernels.cu, pos_encoding_kernels.cu.
TEST_F(OperatorRows, OfVllmRunTheKernelsOfItsSource) {
  EXPECT_THAT(functions(vidur("input_layernorm")), ElementsAre("vllm_sm_80.sass sarathi_rms_norm_fp16"));
  EXPECT_THAT(functions(vidur("mlp_act")), ElementsAre("vllm_sm_80.sass sarathi_silu_multiply_fp16"));
  EXPECT_THAT(functions(vidur("attn_rope")), ElementsAre("vllm_sm_80.sass sarathi_rope_fp16"));
  EXPECT_THAT(functions(serving("act_fn", "64")), ElementsAre("vllm_sm_80.sass vllm_silu_multiply_bf16"));
  EXPECT_THAT(functions(serving("act_fn", "128")), ElementsAre("vllm_sm_80.sass vllm_silu_multiply_pairs_bf16"));
  EXPECT_THAT(functions(serving("layernorm", "64")),
              ElementsAre("vllm_sm_80.sass vllm_rms_norm_bf16", "vllm_sm_80.sass vllm_add_rms_norm_bf16"));
  EXPECT_THAT(functions(serving("final_layernorm", "64")), ElementsAre("vllm_sm_80.sass vllm_add_rms_norm_bf16"));
  EXPECT_THAT(functions(serving("qk_norm", "64", "Qwen/Qwen3-32B tp2")),
              ElementsAre("vllm_sm_80.sass vllm_head_norm_bf16", "vllm_sm_80.sass vllm_head_norm_bf16"));
  EXPECT_THAT(functions(serving("rotary_emb", "64")), ElementsAre("vllm_sm_80.sass vllm_rope_bf16"));
  EXPECT_EQ(functions(serving("embedding", "64")).back(), "torch_sm_80.sass torch_index_rows");

  const std::string phi = "tokens=128;TP=1;n_embd=2560;n_head=32;n_kv=32;n_expanded=10240;gated=False";
  EXPECT_THAT(functions(vidur("input_layernorm", "microsoft/phi-2 TP1", phi)),
              ElementsAre("torch_sm_80.sass torch_layer_norm_bf16"));
  EXPECT_THAT(functions(vidur("mlp_act", "microsoft/phi-2 TP1", phi)), ElementsAre("torch_sm_80.sass torch_gelu_bf16"));
  const auto sums = mapped(vidur("add", "microsoft/phi-2 TP1", phi));
  ASSERT_TRUE(sums) << sums.error().reason;
  EXPECT_EQ(sums->runs.size(), 2U);
}

TEST_F(OperatorRows, OfVllmHaveTheSizesOfARank) {
  const auto rope = mapped(vidur("attn_rope"));
  ASSERT_TRUE(rope) << rope.error().reason;
  const configs::Kernel& kernel = *rope->runs.front().scenario.kernel().rbegin();
  std::map<std::string, uint64_t> sizes;
  for (const auto& parameter : kernel.listing().description().parameter()) sizes[parameter.name()] = parameter.value();
  EXPECT_EQ(sizes.at("rows"), 256U);
  EXPECT_EQ(sizes.at("heads"), 16U);
  EXPECT_EQ(sizes.at("kv_heads"), 2U);
  EXPECT_EQ(sizes.at("stride"), 20U * 128);
  EXPECT_EQ(kernel.listing().description().block().x(), 512U);
}

// The scenario holds the passes that leave L2 as the kernel finds it.
TEST_F(OperatorRows, OfVllmFindInL2WhatTheirProgramLeavesThere) {
  const auto sum = mapped(vidur("add"));
  ASSERT_TRUE(sum) << sum.error().reason;
  EXPECT_EQ(sum->of, "pass");
  EXPECT_DOUBLE_EQ(sum->launches_us, 1270 / 1410.0);  // a profile's kernel
  const configs::Scenario& scenario = sum->runs.front().scenario;
  ASSERT_EQ(scenario.kernel_size(), 4);
  EXPECT_EQ(scenario.kernel(0).elementwise().elements() * 4, uint64_t{256} * 8192 * 2);
  EXPECT_TRUE(scenario.kernel(1).has_listing());
  EXPECT_EQ(scenario.kernel(3).l2(), configs::AS_LEFT);
  ASSERT_EQ(scenario.kernel(3).tensor_size(), 2);
  EXPECT_EQ(scenario.kernel(3).tensor(1).of(), "before2.out");

  const auto norms = mapped(serving("layernorm", "64"));
  ASSERT_TRUE(norms) << norms.error().reason;
  EXPECT_DOUBLE_EQ(norms->measured, 6);  // the row has the mean of both

  const auto woven = mapped(
      "1,MEM,H100 SXM (8x DGX),RMSNorm over tokens/8,vLLM fused_add_rms_norm,bf16,64,8192,"
      "tokens=64;hidden=8192;world=8,8,us");
  ASSERT_TRUE(woven) << woven.error().reason;
  EXPECT_EQ(woven->runs.front().scenario.kernel(0).name(), "flush");
  EXPECT_DOUBLE_EQ(woven->launches_us, 4.7);
  const auto sized = configs::with_sizes(woven->runs.front().scenario.kernel().rbegin()->listing().description(), {});
  ASSERT_TRUE(sized) << sized.error().message;
  EXPECT_EQ(sized->grid().x(), 8U);
  EXPECT_EQ(sized->block().x(), 1024U);
}

TEST_F(OperatorRows, OfVllmSayWhyTheyAreNotMapped) {
  const auto reason = [&](const std::string& line) { return functions(line).front(); };
  const auto sizes = [&](const std::string& text) { return reason(vidur("mlp_act", "meta-llama/Llama-2-70b-hf TP4", text)); };
  EXPECT_EQ(reason(vidur("attn_out")), "no kernels known of vLLM's layer \"attn_out\"");
  EXPECT_EQ(reason(vidur("mlp_act", "meta-llama/Llama-2-70b-hf")),
            "no layer, model and ranks in \"vidur profiler, sarathi/vLLM layer mlp_act of meta-llama/Llama-2-70b-hf\"");
  EXPECT_EQ(
      sizes("tokens=8;TP=4"),
      "dims_other: tokens, n_embd, n_head, n_kv and n_expanded, and gated=True or gated=False, are needed, each from 1 to 1048576");
  EXPECT_EQ(sizes("tokens=8;TP=2;n_embd=8192;n_head=64;n_kv=8;n_expanded=28672;gated=True"),
            "dims_other: TP is not that of the row's impl, 4");
  EXPECT_EQ(sizes("tokens=8;n_embd=8192;n_head=64;n_kv=8;n_expanded=28672;gated=False"),
            "no norm known of a model without a gate: \"meta-llama/Llama-2-70b-hf\"");
  EXPECT_EQ(sizes("tokens=8;n_embd=8192;n_head=60;n_kv=8;n_expanded=28672;gated=True"), "n_embd has no whole heads");
  EXPECT_EQ(sizes("tokens=8;n_embd=8192;n_head=64;n_kv=2;n_expanded=28672;gated=True"), "the model has no whole parts for 4 ranks");
  EXPECT_EQ(sizes("tokens=8;n_embd=8196;n_head=4;n_kv=4;n_expanded=28672;gated=True"), "rows of 8196 are no whole 16-byte vectors");
  EXPECT_EQ(reason(serving("act_fn", "many")), "dims_other: tokens are needed, each from 1 to 1048576");
  EXPECT_EQ(reason(serving("act_fn", "18446744073709551615")), reason(serving("act_fn", "0")));
  EXPECT_EQ(reason(serving("act_fn", "1;n_embd=5120")), "n_embd is not that of the model, 4096");
  EXPECT_EQ(reason(serving("act_fn", "1", "google/gemma-2-9b tp1")), "no sizes known of the model \"google/gemma-2-9b\"");
  EXPECT_EQ(reason(serving("qk_norm", "1")), "the model has no norm of heads");
  EXPECT_EQ(reason("1,MEM,A100,x,vLLM 0.9 layer act_fn of Qwen/Qwen3-8B tp1,bf16,,,tokens=1,3,us"),
            "vLLM's kernels are known of 0.19, not of \"0.9\"");
  EXPECT_EQ(reason("1,MEM,A100,x,vLLM 0.19 layer act_fn of Qwen/Qwen3-8B tp1,fp8,,,tokens=1,3,us"),
            "this profile's kernels are of bf16");
  EXPECT_EQ(reason("1,MEM,H100,RMSNorm over all tokens,vLLM fused_add_rms_norm,bf16,,,tokens=64,8,us"),
            "dims_other: tokens and hidden are needed, each from 1 to 1048576");
  EXPECT_EQ(reason("1,MEM,H100,RMSNorm over tokens/8,vLLM fused_add_rms_norm,bf16,,,tokens=63;hidden=8192;world=8,8,us"),
            "dims_other: world is needed, which tokens are a multiple of");
}

// All rows as their sources print them.
TEST_F(OperatorRows, OfVllmAreAllMapped) {
  RowMapper mapper(WARPFOLD_SOURCE_DIR "/configs/gpus", {});
  const auto rows = read_measured_rows(WARPFOLD_SOURCE_DIR "/tests/validation/operators/vllm.csv");
  ASSERT_TRUE(rows) << rows.error().text();
  EXPECT_EQ(rows->size(), 273U);
  for (const MeasuredRow& each : *rows) {
    const auto comparison = mapper.map(each);
    EXPECT_TRUE(comparison) << each.id() << ": " << comparison.error().reason;
  }
}

// All rows as their sources print them (docs/validation/operators.md); a row that is not mapped has a reason.
TEST_F(OperatorRows, OfPublishedBenchmarksAreMappedOrRefused) {
  RowMapper mapper(WARPFOLD_SOURCE_DIR "/configs/gpus", {});
  const auto rows = read_measured_rows(WARPFOLD_SOURCE_DIR "/tests/validation/operators/memory_bound.csv");
  ASSERT_TRUE(rows) << rows.error().text();
  size_t count = 0;
  for (const MeasuredRow& each : *rows) {
    const auto comparison = mapper.map(each);
    if (comparison) {
      ++count;
      continue;
    }
    EXPECT_FALSE(comparison.error().mistake) << each.id();
    EXPECT_FALSE(comparison.error().reason.empty()) << each.id();
  }
  EXPECT_EQ(rows->size(), 469U);
  EXPECT_EQ(count, 360U);
}

TEST_F(OperatorRows, OfPyTorchAreAllMapped) {
  RowMapper mapper(WARPFOLD_SOURCE_DIR "/configs/gpus", {});
  for (const std::string gpu : {"h100", "h200"}) {
    const auto rows = read_measured_rows(WARPFOLD_SOURCE_DIR "/tests/validation/operators/torch_" + gpu + ".csv");
    ASSERT_TRUE(rows) << rows.error().text();
    EXPECT_EQ(rows->size(), 173U);
    for (const MeasuredRow& each : *rows) {
      const auto comparison = mapper.map(each);
      ASSERT_TRUE(comparison) << each.id() << ": " << comparison.error().reason;
      const double start_and_end_us = gpu == "h100" ? 1621 / 1980.0 : 1106 / 1980.0;
      EXPECT_NEAR(comparison->launches_us, start_and_end_us * static_cast<double>(comparison->runs.size()), 1e-9) << each.id();
    }
  }
}

}  // namespace
}  // namespace warpfold::validation
