#include <gmock/gmock.h>

#include "configs/load.h"
#include "rows.h"
#include "tools/validation/gpu_names.h"

namespace warpfold::validation {
namespace {

using testing::HasSubstr;

TEST_F(Rows, AGemmTakesTheTimeThatItsThroughputMeans) {
  const Comparison gemm = map(kGemm, "S1,GEMM,H100 80GB HBM3,bf16,4096,4096,4096,800,TFLOPS,tile_n=128");
  EXPECT_NEAR(gemm.measured, 2.0 * 4096 * 4096 * 4096 / 800e6, 1e-9);
  EXPECT_NEAR(rate_of(gemm.work, gemm.rate_unit, gemm.measured), 800, 1e-9);
  ASSERT_EQ(gemm.runs.size(), 1);
  const configs::Scenario& scenario = gemm.runs.front().scenario;
  EXPECT_EQ(scenario.gpu().name(), "H100 SXM5 80GB");
  EXPECT_EQ(scenario.kernel(0).hopper_gemm().tile_n(), 128);
  EXPECT_EQ(scenario.kernel(0).hopper_gemm().tile_k(), 64);
}

TEST_F(Rows, FewRowsBecomeColumns) {
  const Comparison gemm = map(kGemm, "S1,GEMM,H100,fp8,1,12288,5376,4.73,TFLOPS,");
  const configs::HopperGemm& is = gemm.runs.front().scenario.kernel(0).hopper_gemm();
  EXPECT_EQ(is.m(), 12288);
  EXPECT_EQ(is.n(), 32);
  EXPECT_EQ(is.tile_n(), 32);
  EXPECT_DOUBLE_EQ(gemm.work, 2.0 * 12288 * 5376);
  EXPECT_EQ(gemm.family, "GEMM, a dimension of 256 or less");
}

// FP32 on the FMA pipe of any GPU; TF32, INT8 and FP8 by mma.sync where a GPU's fastest products are such, else by a type of as
// many bytes.
TEST_F(Rows, ProductsOfOtherTypes) {
  const char* const header = "id,category,gpu,impl,dtype,M,N,K,value,unit,set";
  const auto scenario = [&](const std::string& cells) { return map(header, "S1,GEMM," + cells).runs.front().scenario; };
  for (const std::string gpu : {"T4", "A100", "H100", "B200"}) {
    const configs::AmpereGemm simt = scenario(gpu + ",torch.matmul,fp32,512,512,512,1,ms,").kernel(0).ampere_gemm();
    EXPECT_EQ(simt.type(), configs::FP32) << gpu;
    EXPECT_EQ(simt.tile(), configs::AUTO) << gpu;
  }
  EXPECT_EQ(scenario("H100,torch.matmul,tf32,512,512,512,1,ms,").kernel(0).hopper_gemm().k(), 1024U);
  const configs::HopperGemm integers = scenario("H100,torch.matmul,int8,512,512,512,1,ms,").kernel(0).hopper_gemm();
  EXPECT_EQ(integers.type(), configs::FP8);
  EXPECT_EQ(integers.fp8_accumulation(), configs::FAST);
  EXPECT_EQ(scenario("RTX 4090,torch.matmul,tf32,512,512,512,1,ms,").kernel(0).ampere_gemm().type(), configs::TF32);
  // A GeForce halves sums in FP32, not integers.
  EXPECT_EQ(scenario("RTX 4090,torch.matmul,fp16,512,512,512,1,ms,").gpu().sm().tensor().scale(), 0.5);
  EXPECT_EQ(scenario("RTX 4090,torch.matmul,int8,512,512,512,1,ms,").gpu().sm().tensor().scale(), 1);
  EXPECT_EQ(scenario("A100,HF layer q_proj of meta-llama/Llama-3.1-8B,,4,4096,4096,1,ms,").kernel(0).ampere_gemm().m(), 64U);
}

TEST_F(Rows, ProductsThatNobodyMakes) {
  const std::string gemm = "id,category,gpu,impl,dtype,M,N,K,value,unit\n";
  EXPECT_EQ(mistake(gemm + "S1,GEMM,A100,mine,fp32,512,512,512,1,ms\n"), "reason: no kernel for a GEMM of FP32 by \"mine\"");
  EXPECT_EQ(mistake(gemm + "S1,GEMM,B200,cuBLAS,int8,512,512,512,1,ms\n"), "reason: no GEMM of INT8 for sm_100");
}

const char* const kMade = "id,category,gpu,kernel,impl,dtype,M,N,K,dims_other,value,unit,set";

TEST_F(Rows, AGemmIsRunByWhatItsMakersLibraryHas) {
  const auto gemm_of = [&](const std::string& cells) {
    return map(kMade, "S1,GEMM,H100," + cells).runs.front().scenario.kernel(0).hopper_gemm();
  };
  const configs::HopperGemm made = gemm_of(",torch.mm,bf16,1,12288,5376,,1,ms,");
  EXPECT_EQ(made.tile(), configs::AUTO);
  EXPECT_EQ(made.library(), "cuBLAS");
  EXPECT_EQ(made.m(), 1);
  EXPECT_FALSE(made.has_tile_m());
  // A stated tile needs no library; any other stated parameter applies to every candidate.
  EXPECT_EQ(gemm_of(",torch.mm,bf16,4096,4096,4096,,1,ms,tile_m=128").tile(), configs::STATED);
  const configs::HopperGemm staged = gemm_of(",torch.mm,bf16,4096,4096,4096,,1,ms,stages=3");
  EXPECT_EQ(staged.tile(), configs::AUTO);
  EXPECT_EQ(staged.stages(), 3);
  const configs::HopperGemm fused = gemm_of("GEMM+bias+GELU,ThunderKittens,bf16,4096,4096,4096,,1,ms,");
  EXPECT_TRUE(fused.fused().bias());
  EXPECT_EQ(fused.fused().activation(), configs::GELU);
}

TEST_F(Rows, GroupsCountRowsOfEach) {
  const Comparison grouped =
      map(kMade, "S1,GEMM,H800,Grouped GEMM (masked),DeepGEMM,fp8,8192,4096,7168,groups=4;M_per_group=2048,1,ms,");
  const configs::HopperGemm& gemm = grouped.runs.front().scenario.kernel(0).hopper_gemm();
  EXPECT_EQ(gemm.m(), 2048);
  EXPECT_EQ(gemm.grouped().groups(), 4);
  EXPECT_EQ(gemm.grouped().layout(), configs::MASKED);
  EXPECT_DOUBLE_EQ(grouped.work, 2.0 * 8192 * 4096 * 7168);
  EXPECT_EQ(grouped.family, "GEMM");
  EXPECT_EQ(grouped.kernel, "grouped GEMM");
}

TEST_F(Rows, AQuantisationInTheTimeIsAKernelInFront) {
  const Comparison with = map(kMade, "S1,GEMM,H100,,vLLM CUTLASS fp8 (dyn token quant incl.),fp8,128,4096,4096,,1,ms,");
  ASSERT_EQ(with.runs.size(), 2);
  EXPECT_EQ(with.runs.back().scenario.kernel(0).elementwise().elements(), 128 * 4096);
  EXPECT_DOUBLE_EQ(with.launches_us, 0.9375);
  EXPECT_EQ(map(kMade, "S1,GEMM,H100,,vLLM CUTLASS fp8 noquant,fp8,128,4096,4096,,1,ms,").runs.size(), 1);
}

// 4.7 us beside the kernel instead of its launch; a memset of 256 MB in front, whose time does not count.
TEST_F(Rows, AFlushAndEventsAreSimulatedAsTheRowSays) {
  const std::string header = "id,category,gpu,dims_other,value,unit";
  const std::string pass = "operation=COPY;elements=1024;element_bytes=4";
  EXPECT_DOUBLE_EQ(map(header, "S1,MEM,H100," + pass + ",1,us").launches_us, 0);
  const Comparison timed = map(header, "S1,MEM,H100," + pass + ";timer=events;flush_bytes=268435456,1,us");
  EXPECT_DOUBLE_EQ(timed.launches_us, 4.7);
  EXPECT_EQ(timed.of, "pass");
  const configs::Scenario& scenario = timed.runs.front().scenario;
  ASSERT_EQ(scenario.kernel_size(), 2);
  EXPECT_EQ(scenario.kernel(0).elementwise().operation(), configs::FILL);
  EXPECT_EQ(scenario.kernel(0).elementwise().elements() * scenario.kernel(0).elementwise().element_bytes(), 268435456);
  EXPECT_EQ(scenario.kernel(0).elementwise().accesses_per_thread(), 4);
  EXPECT_EQ(scenario.kernel(1).name(), "pass");
  const std::string text = header + "\nS1,MEM,";
  EXPECT_EQ(mistake(text + "H100," + pass + ";timer=host,1,us\n"),
            "reason: dims_other: timer=host; expected timer=events, timer=graph or timer=kernel");
  EXPECT_EQ(mistake(text + "H100," + pass + ";flush_bytes=all,1,us\n"),
            "reason: dims_other: flush_bytes=all; expected a whole number from 16 on");
  EXPECT_EQ(mistake(text + "RTX A6000," + pass + ";timer=events,1,us\n"),
            "reason: timer=events needs a GPU that states timed_launch_us");
  EXPECT_EQ(mistake(kAttention + ",dims_other\nS1,ATTN,H100,attention bwd,FlashAttention-2,fp16,2,16,8192,128,1,300,TFLOPS," +
                    "flush_bytes=64\n"),
            "reason: flush_bytes of a row with several kernels");
}

TEST_F(Rows, AnAmpereGpuRunsAnAmpereGemm) {
  EXPECT_TRUE(map(kGemm, "S1,GEMM,A100-SXM4-80GB,fp16,4096,4096,4096,1,ms,").runs.front().scenario.kernel(0).has_ampere_gemm());
}

// impl: a library, with a tile or without; neither.
TEST_F(Rows, AGemmOfMmaSyncIsItsLibrarys) {
  const std::string header = "id,category,gpu,impl,dtype,M,N,K,value,unit,notes";
  const auto gemm = [&](const std::string& gpu, const std::string& implementation) {
    return map(header, "S1,GEMM," + gpu + ",\"" + implementation + "\",fp16,4096,4096,4096,1,ms,")
        .runs.front()
        .scenario.kernel(0)
        .ampere_gemm();
  };
  EXPECT_EQ(gemm("RTX 5090", "torch.matmul (cuBLAS)").library(), "cuBLAS");
  EXPECT_EQ(gemm("RTX 5090", "torch.matmul (cuBLAS)").tile(), configs::AUTO);
  EXPECT_EQ(gemm("RTX 5090", "cuBLAS, 128 x 256").tile_n(), 256);
  EXPECT_EQ(gemm("RTX 5090", "v1 TMA").stages(), 4);
  EXPECT_EQ(gemm("A100-SXM4-80GB", "cuBLAS, 128 x 256").tile(), configs::STATED);
}

TEST_F(Rows, ABlackwellGemmRunsAtTheClockThatItsSourceSet) {
  const std::string header = "id,category,gpu,impl,dtype,M,N,K,value,unit,notes";
  const Comparison set =
      map(header, "S1,GEMM,B200,cuBLAS,fp16,4096,4096,4096,1,ms,\"app clocks 1965/3996 MHz set, residency not proven\"");
  EXPECT_EQ(set.runs.front().scenario.gpu().clock_mhz(), 1965);
  EXPECT_NE(set.runs.front().scenario.gpu().clock(), configs::POWER);
}

TEST_F(Rows, AttentionByPyTorchIsProductsAndASoftmax) {
  const std::string shape = "PyTorch eager,fp16,4,16,2048,128,0,80,TFLOPS";
  const Comparison forward = map(kAttention, "S1,ATTN,H100,attention fwd," + shape);
  ASSERT_EQ(forward.runs.size(), 6);  // copies of q, k and v, a product, softmax, a product
  EXPECT_EQ(forward.runs[3].scenario.kernel(0).hopper_gemm().grouped().groups(), 64);
  EXPECT_EQ(forward.runs[3].scenario.kernel(0).hopper_gemm().k(), 128);
  EXPECT_THAT(forward.runs[4].scenario.kernel(0).listing().path(), HasSubstr("torch_sm_80.sass"));
  EXPECT_EQ(forward.runs[5].scenario.kernel(0).hopper_gemm().n(), 128);
  EXPECT_DOUBLE_EQ(forward.work, 4.0 * 2048 * 2048 * 128 * 64);
  EXPECT_EQ(map(kAttention, "S1,ATTN,H100,attention bwd," + shape).runs.size(), 11);
  EXPECT_EQ(map(kAttention, "S1,ATTN,H100,attention fwd+bwd," + shape).runs.size(), 17);
  EXPECT_EQ(map(kAttention, "S1,ATTN,H100,attention fwd,PyTorch eager,fp16,4,16,2048,128,1,40,TFLOPS").runs.size(), 7);
  // Rows of one product.
  EXPECT_EQ(map(kAttention, "S1,ATTN,A100,attention fwd," + shape).runs[3].scenario.kernel(0).ampere_gemm().m(), 64 * 2048);
  EXPECT_EQ(mistake(kAttention + "\nS1,ATTN,A100,attention fwd,PyTorch eager,fp16,4,16,2048,64,0,40,TFLOPS\n"),
            "reason: products of head_dim 64 need a shallower loop of mma.sync than known");
  EXPECT_EQ(mistake(kAttention + "\nS1,ATTN,H100,attention,PyTorch eager,fp16,4,16,2048,64,0,40,TFLOPS\n"),
            "reason: expected attention fwd, attention bwd or attention fwd+bwd");
  EXPECT_EQ(mistake(kAttention + ",dropout\nS1,ATTN,H100,attention fwd,PyTorch eager,fp16,4,16,2048,64,0,40,TFLOPS,0.1\n"),
            "reason: attention by PyTorch with dropout is not known");
}

TEST_F(Rows, PyTorchsCopyOfFlashAttentionIsTheSecond) {
  for (const char* name : {"sdpa flash", "flash_attn 2.7.4"}) {
    const Comparison attention =
        map(kAttention, "S1,ATTN,GB300,attention fwd," + std::string(name) + ",bf16,1,32,8192,128,1,397,TFLOPS");
    EXPECT_TRUE(attention.runs.front().scenario.kernel(0).has_flash_attention_2()) << name;
  }
}

TEST_F(Rows, ABackwardPassHasThreeKernelsAndBothHaveFour) {
  const std::string shape = "FlashAttention-2,fp16,2,16,8192,128,1,300,TFLOPS";
  const Comparison backward = map(kAttention, "S1,ATTN,H100,attention bwd," + shape);
  EXPECT_EQ(backward.runs.size(), 3);
  EXPECT_DOUBLE_EQ(backward.work, 2.5 * 0.5 * 4 * 8192.0 * 8192 * 128 * 16 * 2);
  EXPECT_EQ(map(kAttention, "S1,ATTN,H100,attention fwd+bwd," + shape).runs.size(), 4);
  const Comparison third = map(kAttention, "S1,ATTN,H100,attention bwd,FlashAttention-3,fp16,2,16,8192,128,1,300,TFLOPS");
  ASSERT_EQ(third.runs.size(), 3);  // no tile counter to clear: CTAs have a block of keys each
  EXPECT_EQ(third.runs[0].scenario.kernel(0).flash_attention_3().pass(), configs::BACKWARD_PREPARE);
  EXPECT_EQ(third.runs[1].scenario.kernel(0).flash_attention_3().pass(), configs::BACKWARD);
  EXPECT_DOUBLE_EQ(third.launches_us, 3 * 0.9375);
}

// 1500 cycles at 1600 MHz each; a GEMM's time is its kernel's.
TEST_F(Rows, AttentionIsTimedWithTheLaunchesOfItsKernels) {
  EXPECT_DOUBLE_EQ(map(kGemm, "S1,GEMM,H100,fp16,4096,4096,4096,1,ms,").launches_us, 0);
  const std::string shape = ",fp16,2,16,8192,128,0,300,TFLOPS";
  EXPECT_DOUBLE_EQ(map(kAttention, "S1,ATTN,H100,attention fwd,FlashAttention-3" + shape).launches_us, 0.9375);
  EXPECT_DOUBLE_EQ(map(kAttention, "S1,ATTN,H100,attention fwd,FlashAttention-2" + shape).launches_us, 0.9375);
  EXPECT_DOUBLE_EQ(map(kAttention, "S1,ATTN,H100,attention bwd,FlashAttention-2" + shape).launches_us, 3 * 0.9375);
}

TEST_F(Rows, CausalFlashAttention3ClearsItsTileCounterFirst) {
  const Comparison causal =
      map(kAttention + ",set", "S1,ATTN,H100,attention fwd,FlashAttention-3,fp16,2,16,8192,128,1,300,TFLOPS,tile_keys=96");
  ASSERT_EQ(causal.runs.size(), 2);
  EXPECT_EQ(causal.runs.front().scenario.kernel(0).flash_attention_3().tile_keys(), 96);
  EXPECT_EQ(causal.runs.back().scenario.kernel(0).elementwise().elements(), 1);
  EXPECT_DOUBLE_EQ(causal.launches_us, 2 * 0.9375);
}

TEST_F(Rows, DropoutIsTheLibrarysOrWhatTheRowSays) {
  const std::string header = kAttention + ",dropout,set";
  const auto shape_of = [&](const std::string& cells) {
    const configs::Kernel kernel = map(header, "S1,ATTN,H100," + cells).runs.front().scenario.kernel(0);
    return kernel.has_flash_attention_2() ? kernel.flash_attention_2().shape() : kernel.flash_attention_3().shape();
  };
  const std::string shape = "fp16,2,16,8192,128,0,300,TFLOPS,";
  EXPECT_EQ(shape_of("attention fwd,FlashAttention-2," + shape + "0,").dropout(), configs::NONE);
  EXPECT_EQ(shape_of("attention fwd,FlashAttention-2," + shape + "0.17,").dropout(), configs::FUSED_PHILOX);
  EXPECT_EQ(map(header, "S1,ATTN,H100,attention fwd,FlashAttention-2," + shape + "0.17,").family, "attention forward with dropout");
  const configs::AttentionShape stored = shape_of("attention fwd,FlashAttention-3," + shape + "0.17,shape.dropout=STORED_BITS");
  EXPECT_EQ(stored.dropout(), configs::STORED_BITS);
  const std::string row = header + "\nS1,ATTN,H100,attention ";
  EXPECT_EQ(mistake(row + "fwd,FlashAttention-3," + shape + "0.17,\n"),
            "reason: where its dropout takes its bits from is not stated: set has no shape.dropout");
  EXPECT_THAT(mistake(row + "fwd,FlashAttention-3," + shape + "0.17,shape.dropuot=STORED_BITS\n"), HasSubstr("did you mean"));
  EXPECT_EQ(mistake(row + "bwd,FlashAttention-2," + shape + "0.17,\n"), "reason: the backward pass with dropout has no generator");
}

TEST_F(Rows, ADecodeStepTakesItsPagesAndSplitsFromItsNames) {
  const std::string header = "id,category,gpu,kernel,impl,dtype,batch,heads,kv_heads,seqlen,head_dim,dims_other,causal,value,unit";
  const Comparison split =
      map(header, "S1,DECODE,H100,\"decode attention, MQA\",\"FlashAttention-3, 22 splits\",fp16,4,16,1,16384,128,q=4,1,27,us");
  ASSERT_EQ(split.runs.size(), 2);
  const configs::FlashAttention3& attention = split.runs.front().scenario.kernel(0).flash_attention_3();
  EXPECT_EQ(attention.splits(), 22);
  EXPECT_EQ(attention.shape().queries(), 4);
  EXPECT_EQ(attention.shape().keys(), 16384);
  EXPECT_TRUE(attention.shape().causal());
  EXPECT_FALSE(attention.combine());
  EXPECT_TRUE(split.runs.back().scenario.kernel(0).flash_attention_3().combine());
  EXPECT_DOUBLE_EQ(split.work, 4.0 * 4 * 16384 * 128);  // bytes of keys and values
  // Enough tiles: the rule takes one part.
  const Comparison paged =
      map(header, "S1,DECODE,H100,paged decode attention,\"FlashAttention-2 paged, page 256\",fp16,64,64,8,128,128,,,27,us");
  ASSERT_EQ(paged.runs.size(), 1);
  EXPECT_EQ(paged.runs.front().scenario.kernel(0).flash_attention_2().page_keys(), 256);
  const Comparison few = map(header, "S1,DECODE,H100,decode attention,FlashInfer 0.2,fp16,1,64,8,4096,128,,,27,us");
  ASSERT_EQ(few.runs.size(), 2);
  EXPECT_TRUE(few.runs.front().scenario.kernel(0).flash_attention_2().warps_share_keys());
  EXPECT_EQ(mistake(header + "\nS1,DECODE,H100,decode attention,XQA,fp16,1,64,8,4096,128,,,27,us\n"),
            "reason: no generator for decode attention by \"XQA\"");
}

// LLMServingSim's profiler of 2025 gives each decode its part of the keys that a row states (attention_profiler.py).
TEST_F(Rows, DecodesOfAVarlenProfileShareTheirKeys) {
  const std::string header = "id,category,gpu,kernel,impl,dtype,batch,heads,kv_heads,seqlen,head_dim,dims_other,value,unit";
  const std::string by = "FLASH_ATTENTION (vidur-type profiler),fp16,";
  const Comparison decode =
      map(header, "L1,DECODE,H100,paged decode attention alone," + by + "4,16,2,512,128,decodes=4;kv=512,7.5,us");
  EXPECT_EQ(decode.family, "decode attention");
  EXPECT_NEAR(decode.launches_us, 1621 / 1980.0, 1e-9);
  ASSERT_EQ(decode.runs.size(), 1U);
  const configs::Scenario& scenario = decode.runs.front().scenario;
  EXPECT_DOUBLE_EQ(scenario.gpu().clock_mhz(), 1980);
  EXPECT_EQ(scenario.kernel(0).l2(), configs::WARM);
  const configs::FlashAttention2& attention = scenario.kernel(0).flash_attention_2();
  EXPECT_EQ(attention.shape().keys(), 128U);
  EXPECT_EQ(attention.shape().queries(), 1U);
  EXPECT_FALSE(attention.has_splits() || attention.has_page_keys() || attention.has_pack_gqa());

  const std::string chunk = "L1,ATTN,H100,paged prefill attention alone," + by + "1,16,2,512,128,prefill chunk=512";
  const Comparison prefill = map(header, chunk + ";kv before chunk=1024,32,us");
  EXPECT_EQ(prefill.family, "attention forward");
  EXPECT_EQ(prefill.runs.front().scenario.kernel(0).flash_attention_2().shape().queries(), 512U);
  EXPECT_EQ(prefill.runs.front().scenario.kernel(0).flash_attention_2().shape().keys(), 1024U);

  EXPECT_EQ(mistake(header + "\n" + "L1,DECODE,H100,paged decode attention alone," + by + "256,16,2,128,128,,7.5,us\n"),
            "reason: less than a key for each of the decodes");
  EXPECT_EQ(mistake(header + "\n" + chunk + ",32,us\n"), "reason: dims_other: kv before chunk is needed, from 1 on");
  EXPECT_EQ(mistake(header + "\n" + "L1,DECODE,H100,mixed attention," + by + "1,16,2,512,128,,7.5,us\n"),
            "reason: no generator for this kernel of LLMServingSim's profiler");
}

TEST_F(Rows, AReadClockReplacesTheGpuFiles) {
  const Comparison gemm = map("id,category,gpu,dtype,M,N,K,time_ms,clock_mhz", "S1,GEMM,H100,bf16,4096,4096,4096,0.2,1754.6");
  EXPECT_EQ(gemm.runs.front().scenario.gpu().clock_mhz(), 1755);
  EXPECT_DOUBLE_EQ(gemm.measured, 200);
}

TEST_F(Rows, ARatioHasTwoRuns) {
  const Comparison ratio =
      map("id,category,gpu,dims_other,value,unit,over_set",
          "P,RNG,h100_sxm,heads=1;queries=4096;keys=4096;rounds=5;threshold_bits=32;threads_per_cta=128,0.81,x,rounds=7");
  ASSERT_EQ(ratio.runs.size(), 2);
  EXPECT_EQ(ratio.quantity, Quantity::kTimeRatio);
  EXPECT_EQ(ratio.runs[0].scenario.kernel(0).philox().rounds(), 5);
  EXPECT_EQ(ratio.runs[1].scenario.kernel(0).philox().rounds(), 7);
}

TEST_F(Rows, ARatioMayBeOfTwoScenarios) {
  const std::string scenarios = WARPFOLD_SOURCE_DIR "/configs/scenarios/";
  const Comparison ratio = map("id,category,gpu,value,unit,set,over_set,scenario,over_scenario",
                               "P,CORUN,a100_sxm,1.3,x,sequences=8,sequences=16," + scenarios + "prefill_decode_a100.textproto," +
                                   scenarios + "pod_attention_a100.textproto");
  ASSERT_EQ(ratio.runs.size(), 2);
  EXPECT_EQ(ratio.quantity, Quantity::kTimeRatio);
  EXPECT_EQ(ratio.runs[0].scenario.kernel(2).flash_attention_2().shape().batch(), 8);
  EXPECT_EQ(ratio.runs[1].scenario.name(), "pod_attention_a100");
  EXPECT_EQ(ratio.runs[1].scenario.kernel(1).flash_attention_2().shape().batch(), 16);
}

TEST_F(Rows, WhatCannotBeSimulatedHasAReason) {
  const std::string gemm = kGemm + "\n";
  EXPECT_EQ(mistake(gemm + "S1,GEMM,GTX 1080,bf16,1,1,1,1,ms,\n"), "reason: no GPU file for GTX 1080");
  EXPECT_EQ(mistake(gemm + "S1,GEMM,H100,bf16,4096,,4096,1,ms,\n"), "reason: N is not stated");
  EXPECT_EQ(mistake(gemm + "S1,GEMM,H100,bf16,4k,1,1,1,ms,\n"), "reason: M is not a whole number: \"4k\"");
  EXPECT_EQ(mistake(gemm + "S1,GEMM,H100,nvfp4,4096,4096,4096,1,ms,\n"), "reason: no GEMM of FP4 for sm_90");
  EXPECT_EQ(mistake(gemm + "S1,GEMM,H100,bf16,4096,4096,4096,95,% of cuBLAS,\n"),
            "reason: a figure in \"% of cuBLAS\" says nothing of this row's time");
  EXPECT_EQ(mistake(gemm + "S1,GEMM,A100,fp8,4096,4096,4096,1,ms,\n"), "reason: no GEMM of FP8 for sm_80");
  EXPECT_EQ(mistake(gemm + "S1,MEM,H100,bf16,1,1,1,1,ms,\n"),
            "reason: a memory-bound row needs operation, elements and element_bytes in dims_other");
  EXPECT_EQ(mistake(gemm + "S1,E2E,H100,bf16,1,1,1,1,ms,\n"),
            "reason: no generator for rows of E2E; name its kernel_file or scenario");
  const std::string attention = kAttention + "\n";
  EXPECT_EQ(mistake(attention + "S1,ATTN,H100,attention fwd,mine,fp16,1,1,1,128,0,1,ms\n"),
            "reason: no generator for attention by \"mine\"");
  EXPECT_EQ(mistake(attention + "S1,ATTN,H100,attention bwd,FA3,fp16,1,1,512,256,0,1,ms\n"),
            "reason: FlashAttention-3's backward pass has a generator for head_dim 64 and 128 only");
  EXPECT_THAT(mistake(attention + "S1,ATTN,H100,attention fwd,FA3,fp16,1,1,1024,96,0,1,ms\n"), HasSubstr("head_dim"));
  EXPECT_EQ(mistake(attention + "S1,ATTN,H100,attention fwd,FA3,fp16,1,1,1,128,unstated,1,ms\n"),
            "reason: whether it is causal is not stated: \"unstated\"");
}

TEST_F(Rows, MistakesHaveAPlace) {
  EXPECT_EQ(mistake("id,category,gpu,dtpye,value,unit\n"), ":1:17: no column called \"dtpye\"; did you mean \"dtype\"?");
  EXPECT_EQ(mistake("id,category,gpu,id,value,unit\n"), ":1:17: column \"id\" stands here twice");
  EXPECT_EQ(mistake("id,category,value,unit\n"), ":1:1: column \"gpu\" is missing");
  EXPECT_EQ(mistake("id,category,gpu,value\n"), ":1:1: columns \"value\" and \"unit\", or \"time_ms\", are missing");
  EXPECT_EQ(mistake("id,category,gpu,value,unit\n"), ":1:1: no rows under this header");
  EXPECT_EQ(mistake("id,category,gpu,value,unit\nS1,GEMM,H100,,ms\n"), ":2:1: the row has no value and no time_ms");
  EXPECT_EQ(mistake("id,category,gpu,time_ms,judged\nS1,GEMM,H100,1,maybe\n"), ":2:16: expected yes or no, not \"maybe\"");
  EXPECT_EQ(mistake(kGemm + "\nS1,GEMM,H100,bf16,4096,4096,4096,1,ms,tile_m\n"), ":2:39: expected FIELD=VALUE, not \"tile_m\"");
  EXPECT_THAT(mistake(kGemm + "\nS1,GEMM,H100,bf16,4096,4096,4096,1,ms,tile_x=1\n"), HasSubstr(":2:39: tile_x=1: "));
  EXPECT_THAT(mistake("id,category,gpu,value,unit,scenario\nS1,CORUN,H100,1,ms,no.textproto\n"), HasSubstr(":2:20: "));
  EXPECT_THAT(mistake("id,category,gpu,value,unit\nS1,GEMM,h100_sxn,1,ms\n"), HasSubstr(":2:9: "));
}

TEST_F(Rows, NumbersOutsideTheirColumnsRangeAreMistakes) {
  for (const std::string value : {"fast", "0", "-1", "nan", "inf", "1e308", "1e-320", "1e400"}) {
    EXPECT_EQ(mistake("id,category,gpu,value,unit\nS1,GEMM,H100," + value + ",ms\n"),
              ":2:14: expected a number from 1e-9 to 1e15, not \"" + value + "\"");
    EXPECT_EQ(mistake("id,category,gpu,time_ms\nS1,GEMM,H100," + value + "\n"),
              ":2:14: expected a number from 1e-9 to 1e9, not \"" + value + "\"");
    EXPECT_EQ(mistake("id,category,gpu,time_ms,clock_mhz\nS1,GEMM,H100,1," + value + "\n"),
              ":2:16: expected a number from 1 to 100000, not \"" + value + "\"");
  }
  EXPECT_EQ(mistake("id,category,gpu,time_ms,dropout\nS1,ATTN,H100,1,nan\n"), ":2:16: expected a number from 0 to 1, not \"nan\"");
  EXPECT_EQ(mistake("id,category,gpu,time_ms,head_dim\nS1,ATTN,H100,1,4294967360\n"), ":2:16: at most 2147483648, not 4294967360");
}

TEST_F(Rows, MayNameAKernelFile) {
  const std::string kernels = WARPFOLD_SOURCE_DIR "/configs/kernels/";
  const std::string header = "id,category,gpu,kernel_file,launch,time_ms,set";
  const Comparison listing = map(
      header, "S1,NORM,A100," + kernels + "elementwise_sm_80.sass," + kernels + "row_sums.textproto,0.1,description.grid.x=1000");
  EXPECT_EQ(listing.kernel, "elementwise_sm_80");
  EXPECT_EQ(listing.runs.at(0).scenario.kernel(0).listing().description().grid().x(), 1000);
  EXPECT_EQ(listing.runs.at(0).scenario.kernel(0).listing().description().function(), "row_sums");
  EXPECT_EQ(map(header, "S1,GEMM,B200," + kernels + "blackwell_gemm.wfs,,1,").runs.at(0).scenario.kernel(0).trace().path(),
            kernels + "blackwell_gemm.wfs");
  const std::string sass = kernels + "elementwise_sm_80.sass";
  EXPECT_THAT(mistake(header + "\nS1,NORM,A100,none.wfs,,0.1,\n"), testing::StartsWith(":2:14: no file "));
  EXPECT_EQ(mistake(header + "\nS1,NORM,A100," + sass + ",,0.1,\n"), ":2:14: a listing needs a launch description: column launch");
  EXPECT_THAT(mistake(header + "\nS1,NORM,A100," + sass + ",none.textproto,0.1,\n"), testing::HasSubstr("none.textproto"));
}

// vLLM's benchmarks replay a graph of calls, CuTeDSL's rows are of a dozen launches; a profiler's time is the kernel's own.
TEST_F(Rows, OfBlackwellAreTimedAsTheirSourceTimes) {
  const std::string header = "id,category,gpu,impl,dtype,M,N,K,value,unit,source,location,dims_other,clock_mhz";
  const auto timed = [&](const std::string& impl, const std::string& rest) {
    return map(header, "S1,GEMM,B200," + impl + ",bf16,4096,4096,4096,1,ms," + rest);
  };
  const Comparison calls = timed("cuBLAS", "a table,,,");
  EXPECT_NEAR(calls.launches_us, 1500 / 1426.0, 1e-9);
  EXPECT_EQ(calls.runs.at(0).scenario.gpu().clock(), configs::POWER);
  EXPECT_EQ(calls.runs.at(0).scenario.kernel(0).l2(), configs::COLD);
  const Comparison graph = timed("cuBLAS", "https://github.com/vllm-project/vllm/pull/20646,,,");
  EXPECT_NEAR(graph.launches_us, 830 / 1426.0, 1e-9);
  EXPECT_EQ(graph.runs.at(0).scenario.kernel(0).l2(), configs::WARM);
  EXPECT_EQ(timed("cuBLAS", "a table,,timer=graph,").runs.at(0).scenario.kernel(0).l2(), configs::WARM);
  EXPECT_NEAR(timed("cuBLAS", "a table,Nsight Systems kernel time,,").launches_us, 830 / 1426.0, 1e-9);
  EXPECT_EQ(timed("cuBLAS", "a table,,,1300").runs.at(0).scenario.gpu().clock(), configs::FIXED);
  EXPECT_EQ(timed("cuBLAS", "github:Antoniomv7/gb300-microbench@1f27767:results,,,").runs.at(0).scenario.gpu().clock(),
            configs::FIXED);
}

TEST_F(Rows, OfBlackwellAreWhatTheirSourceSaysOfTheKernel) {
  const auto gemm_of = [&](const std::string& impl, const std::string& dtype) {
    const Comparison row =
        map("id,category,gpu,impl,dtype,M,N,K,time_ms", "S1,GEMM,B300," + impl + "," + dtype + ",8192,8192,8192,1");
    return row.runs.at(0).scenario.kernel(0).blackwell_gemm();
  };
  const configs::BlackwellGemm pair = gemm_of("\"CuTeDSL persistent 2-CTA, mma_tiler 256x128, cluster 2x1\"", "bf16->f32 out");
  EXPECT_EQ(pair.cta_group(), 2);
  EXPECT_EQ(pair.tile_m(), 128);
  EXPECT_EQ(pair.tile_n(), 128);
  EXPECT_TRUE(pair.persistent());
  EXPECT_EQ(pair.output_type(), configs::FP32);
  const configs::BlackwellGemm single = gemm_of("\"dual CTA/SM 128x256, 2 stages\"", "fp16");
  EXPECT_EQ(single.cta_group(), 1);
  EXPECT_EQ(single.stages(), 2);
  const configs::BlackwellGemm library = gemm_of("cuBLASLt first heuristic", "nvfp4");
  EXPECT_EQ(library.tile(), configs::AUTO);
  EXPECT_EQ(library.library(), "cuBLAS");
  EXPECT_EQ(library.type(), configs::FP4);
}

TEST(GpuNames, HaveTheNameOfEveryPart) {
  for (const auto& entry : std::filesystem::directory_iterator(WARPFOLD_SOURCE_DIR "/configs/gpus")) {
    const std::string file = entry.path().stem().string();
    if (file == "b200_wide" || file == "rubin_announced") continue;  // no parts
    const configs::Gpu gpu = configs::load_gpu(entry.path().string()).value();
    EXPECT_EQ(gpu_file_of(gpu.name()), file);
    EXPECT_EQ(gpu_file_of("NVIDIA " + gpu.name()), file);
  }
}

TEST(GpuNames, AreThoseThatSourcesPrint) {
  EXPECT_EQ(gpu_file_of("NVIDIA A100-SXM4-80GB"), "a100_sxm");
  EXPECT_EQ(gpu_file_of("H800 SXM5"), "h800_sxm");
  EXPECT_EQ(gpu_file_of("my_gpu"), "my_gpu");
  EXPECT_EQ(gpu_file_of("A100 40GB"), "a100_sxm_40gb");
  EXPECT_EQ(gpu_file_of("RTX 5090 (400 W)"), "rtx_5090");
  EXPECT_EQ(gpu_file_of("GH200 SXM 141GB 900W"), "gh200_144gb");
  EXPECT_EQ(gpu_file_of("Tesla T4"), "t4");
  EXPECT_EQ(gpu_file_of("NVIDIA L4"), "l4");
  EXPECT_EQ(gpu_file_of("NVIDIA A100 80GB PCIe"), "a100_pcie");
  EXPECT_EQ(gpu_file_of("NVIDIA A100-PCIE-40GB"), "a100_pcie_40gb");
  EXPECT_EQ(gpu_file_of("8x A100-80GB SXM"), "a100_sxm");
  EXPECT_EQ(gpu_file_of("GB10 (DGX Spark, SM121a)"), "gb10");
  EXPECT_EQ(gpu_file_of("x H100"), std::nullopt);
  EXPECT_EQ(gpu_file_of("8"), "8") << "a file may have any name of its own";
  EXPECT_EQ(gpu_file_of("H100/H200 (Hopper)"), std::nullopt);
  EXPECT_EQ(gpu_file_of(""), std::nullopt);
}

}  // namespace
}  // namespace warpfold::validation
