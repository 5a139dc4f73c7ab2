#include "tools/validation/attention_relatives.h"

#include <gmock/gmock.h>

#include "rows.h"

namespace warpfold::validation {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using Relatives = Rows;

TEST_F(Relatives, HaveAFamilyOfTheirOwnAndSayHowTheyDiffer) {
  const Comparison relative = map(kAttention, "S1,ATTN,H100,attention fwd,cuDNN,fp16,2,16,8192,128,1,529,TFLOPS");
  EXPECT_EQ(relative.family, "attention forward, by a relative");
  EXPECT_EQ(relative.kernel, "cuDNN by flash_attention_3, causal");
  EXPECT_THAT(relative.relative, HasSubstr("closed source"));
  const Comparison own = map(kAttention, "S1,ATTN,H100,attention fwd,FlashAttention-3,fp16,2,16,8192,128,1,529,TFLOPS");
  EXPECT_EQ(own.family, "attention forward");
  EXPECT_THAT(own.relative, IsEmpty());
  EXPECT_DOUBLE_EQ(relative.measured, own.measured);  // with the same count of FLOP
}

TEST_F(Relatives, FollowTheArchitecture) {
  const auto kernel_on = [&](const std::string& gpu) {
    return map(kAttention, "S1,ATTN," + gpu + ",attention fwd,cuDNN,bf16,1,16,8192,128,0,500,TFLOPS")
        .runs.front()
        .scenario.kernel(0);
  };
  EXPECT_TRUE(kernel_on("RTX 5090").has_flash_attention_2());
  EXPECT_TRUE(kernel_on("H100").has_flash_attention_3());
  EXPECT_TRUE(kernel_on("GB200").has_flash_attention_4());
}

TEST_F(Relatives, TakeTheFactsThatArePublic) {
  const auto kernel_of = [&](const std::string& cells) {
    return map(kAttention, "S1,ATTN," + cells).runs.front().scenario.kernel(0);
  };
  const std::string shape = ",fp16,2,16,8192,128,0,500,TFLOPS";
  const configs::FlashAttention3 cudnn = kernel_of("H100,attention fwd,cuDNN" + shape).flash_attention_3();
  EXPECT_EQ(cudnn.tile_keys(), 128);
  EXPECT_FALSE(cudnn.intra_warpgroup_overlap());
  EXPECT_FALSE(cudnn.has_pingpong());
  EXPECT_FALSE(kernel_of("H100,attention fwd,cuDNN,fp8,2,8,8192,256,0,900,TFLOPS").flash_attention_3().has_tile_keys());
  const configs::FlashAttention3 triton = kernel_of("H100,attention fwd,Triton" + shape).flash_attention_3();
  EXPECT_EQ(triton.tile_keys(), 64);
  EXPECT_FALSE(triton.pingpong());
  EXPECT_TRUE(kernel_of("GB200,attention fwd,cuDNN" + shape).flash_attention_4().has_two_ctas());
  EXPECT_EQ(kernel_of("A100,attention fwd,xformers cutlass" + shape).flash_attention_2().tile_queries(), 64);
  EXPECT_EQ(kernel_of("A100,attention fwd,FlashAttention Triton" + shape).flash_attention_2().warps(), 8);
}

TEST_F(Relatives, SetTheBackwardPassApart) {
  const Comparison both = map(kAttention, "S1,ATTN,A100,attention fwd+bwd,xformers cutlass,fp16,2,16,8192,128,0,97,TFLOPS");
  ASSERT_EQ(both.runs.size(), 4);
  EXPECT_EQ(both.family, "attention forward and backward, by a relative");
  EXPECT_TRUE(both.runs[0].scenario.kernel(0).flash_attention_2().has_tile_queries());
  for (size_t step = 1; step < 4; ++step)
    EXPECT_FALSE(both.runs[step].scenario.kernel(0).flash_attention_2().has_tile_queries()) << step;
}

// Only FlashAttention-3's own launch clears a tile counter.
TEST_F(Relatives, HaveNoKernelsOfTheOtherLibrarysLaunch) {
  EXPECT_EQ(map(kAttention, "S1,ATTN,H100,attention fwd,cuDNN,fp16,2,16,8192,128,1,529,TFLOPS").runs.size(), 1);
}

TEST_F(Relatives, AreRefusedIfNoneIsNearEnough) {
  const auto reason = [&](const std::string& cells) { return mistake(kAttention + "\nS1,ATTN," + cells + "\n"); };
  EXPECT_THAT(reason("A100,attention fwd+bwd,FlashAttention-1,fp16,2,16,8192,128,0,82,TFLOPS"), HasSubstr("keeps keys in a CTA"));
  EXPECT_THAT(reason("GB300,attention fwd,FlexAttention,bf16,1,32,8192,128,1,500,TFLOPS"), HasSubstr("none of the warp roles"));
  EXPECT_EQ(reason("A100,attention fwd,mine,fp16,2,16,8192,128,0,82,TFLOPS"), "reason: no generator for attention by \"mine\"");
  EXPECT_EQ(reason("H100,attention bwd,cuDNN,fp8,2,16,8192,128,0,600,TFLOPS"), "reason: no generator has a backward pass in FP8");
  EXPECT_EQ(reason("GB200,attention fwd,cuDNN,fp8,2,16,8192,128,0,600,TFLOPS"),
            "reason: FlashAttention-4 has a generator for BF16 and FP16 only");
}

TEST_F(Relatives, CountTheKeysThatARowStates) {
  const Comparison longer =
      map(kAttention + ",dims_other", "S1,ATTN,RTX 5090,attention fwd,v4 ldmatrix.x4,bf16,1,8,4096,128,0,194,TFLOPS,kv_len=8192");
  EXPECT_DOUBLE_EQ(longer.work, 4.0 * 4096 * 8192 * 128 * 8);
  EXPECT_EQ(longer.runs.front().scenario.kernel(0).flash_attention_2().shape().keys(), 8192);
  EXPECT_EQ(longer.runs.front().scenario.kernel(0).flash_attention_2().tile_keys(), 32);
}

TEST_F(Relatives, AnOverheadOfDropoutIsARatioOfTwoRuns) {
  const std::string header = "id,category,gpu,kernel,impl,dtype,batch,heads,seqlen,head_dim,causal,dropout,metric,value,unit";
  const std::string by = "FlashAttention CuTe DSL + dropout,bf16,2,16,2048,";
  const Comparison overhead = map(header, "S1,DROPOUT,GB10,attention fwd," + by + "64,0,0.1,dropout overhead vs p=0,24.5,%");
  EXPECT_EQ(overhead.quantity, Quantity::kTimeRatio);
  EXPECT_DOUBLE_EQ(overhead.measured, 1.245);
  ASSERT_EQ(overhead.runs.size(), 2);
  EXPECT_EQ(overhead.runs[0].scenario.kernel(0).flash_attention_2().shape().dropout(), configs::FUSED_PHILOX);
  EXPECT_EQ(overhead.runs[1].scenario.kernel(0).flash_attention_2().shape().dropout(), configs::NONE);
  EXPECT_EQ(overhead.family, "attention forward, overhead of dropout, by a relative");
  EXPECT_EQ(mistake(header + "\nS1,DROPOUT,GB10,attention bwd," + by + "64,0,0.1,dropout overhead vs p=0,9,%\n"),
            "reason: the backward pass with dropout has no generator");
}

TEST_F(Relatives, ADecodeStepMayStateItsKeysApart) {
  const Comparison step = map("id,category,gpu,kernel,impl,dtype,batch,heads,kv_heads,seqlen,head_dim,dims_other,value,unit",
                              "S1,ATTN,GB300,attention decode,flash_attn 2.7.4,bf16,32,32,32,1,128,kv_len=8192,1,ms");
  EXPECT_EQ(step.family, "decode attention");
  EXPECT_EQ(step.runs.front().scenario.kernel(0).flash_attention_2().shape().keys(), 8192);
}

}  // namespace
}  // namespace warpfold::validation
