#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/flash_attention_3.h"

namespace warpfold::workloads {
namespace {

using testing::HasSubstr;

configs::FlashAttention3 backward(configs::FlashAttention3 attention, configs::AttentionPass pass = configs::BACKWARD) {
  attention.set_pass(pass);
  return attention;
}

const std::map<std::string, int> kOfBlock64 = {
    {"HGMMA.64x64x16", 24}, {"HGMMA.64x128x16", 8}, {"FSEL", 32},   {"FFMA", 32}, {"FADD", 32},   {"FMUL", 32},
    {"MUFU.EX2", 32},       {"F2FP", 32},           {"LDS.64", 16}, {"STSM", 4},  {"STS.128", 8}, {"BAR.", 2},
    {"SYNCS.", 4},          {"WARPGROUP.", 10},     {"FENCE", 2},   {"MEMBAR", 2}};
const std::map<std::string, int> kOfBlock128 = {
    {"HGMMA.64x128x16", 8}, {"HGMMA.64x64x16", 24}, {"FSEL", 64},   {"FFMA", 64}, {"FADD", 64},   {"FMUL", 64},
    {"MUFU.EX2", 64},       {"F2FP", 64},           {"LDS.64", 32}, {"STSM", 8},  {"STS.128", 8}, {"BAR.", 2},
    {"SYNCS.", 4},          {"WARPGROUP.", 10},     {"FENCE", 2},   {"MEMBAR", 2}};

struct Mix {
  std::string name;
  configs::FlashAttention3 attention;
  size_t loop;  // of the consumer
  int total;    // without spilled registers
  std::map<std::string, int> counts;
  int comparisons;
};

class CountedBackward : public testing::TestWithParam<Mix> {};

// Per block of queries and warp: arithmetic instructions are as counted exactly, all instructions within 5 %. flash-attention
// bafe2530, sm_90a, CUDA 12.4, disassembled.
TEST_P(CountedBackward, IsThatOfTheDisassembly) {
  const traces::Kernel kernel = make(backward(GetParam().attention));
  for (const std::string consumer : {"consumer0", "consumer1"}) {
    const std::vector<isa::Instruction>& code = loop_body(kernel, consumer, GetParam().loop);
    for (const auto& [prefix, count] : GetParam().counts) EXPECT_EQ(starting_with(code, prefix), count) << prefix;
    EXPECT_NEAR(starting_with(code, "ISETP"), GetParam().comparisons, 2);
    EXPECT_NEAR(static_cast<double>(code.size()), GetParam().total, 0.05 * GetParam().total);
  }
}

INSTANTIATE_TEST_SUITE_P(FlashAttention3, CountedBackward,
                         testing::Values(Mix{"Whole128", attention(2, 16, 8192, 128), 0, 494 - 11, kOfBlock64, 3},
                                         Mix{"CausalMasked128", causal(2, 16, 8192, 128), 0, 549 - 1, kOfBlock64, 33},
                                         Mix{"CausalWhole128", causal(2, 16, 8192, 128), 1, 509 - 17, kOfBlock64, 3},
                                         Mix{"Whole64", attention(2, 16, 8192, 64), 0, 683 - 20, kOfBlock128, 3},
                                         Mix{"CausalMasked64", causal(2, 16, 8192, 64), 0, 814 - 20, kOfBlock128, 64},
                                         Mix{"CausalWhole64", causal(2, 16, 8192, 64), 1, 683 - 3, kOfBlock128, 2}),
                         [](const auto& mix) { return mix.param.name; });

// The compiled loop has two blocks: 141 instructions, and 91 at head_dim 64, where numbers of stages weigh more.
TEST(FlashAttention3Backward, ProducerHasTheCountedMix) {
  const auto expect = [](uint32_t head_dim, double total, double within, int copies) {
    const traces::Kernel kernel = make(backward(attention(2, 16, 8192, head_dim)));
    const std::vector<isa::Instruction>& code = loop_body(kernel, "producer", 0);
    EXPECT_NEAR(static_cast<double>(code.size()), total, within * total);
    EXPECT_EQ(starting_with(code, "UTMALDG"), copies);
    EXPECT_EQ(starting_with(code, "SYNCS"), 4);
  };
  expect(128, 141 / 2.0, 0.05, 6);
  expect(64, 91 / 2.0, 0.3, 4);
}

// 440 and 432, 296 and 288 instructions: those of the compiled kernels, and no fewer bytes.
TEST(FlashAttention3Backward, KernelsRoundItHaveTheCountedMix) {
  for (const uint32_t head_dim : {64U, 128U}) {
    const auto mix = [head_dim](configs::AttentionPass pass) {
      const traces::Kernel kernel = make(backward(attention(2, 16, 4096, head_dim), pass));
      return std::get<traces::Block>(kernel.roles.front().body.front()).code;
    };
    const std::vector<isa::Instruction> before = mix(configs::BACKWARD_PREPARE);
    EXPECT_NEAR(static_cast<double>(before.size()), head_dim == 64 ? 432 : 440, 10);
    EXPECT_EQ(starting_with(before, "LDG"), 9);
    EXPECT_EQ(starting_with(before, "HADD2"), 64);
    EXPECT_EQ(starting_with(before, "SHFL"), head_dim == 64 ? 12 : 16);
    const std::vector<isa::Instruction> behind = mix(configs::BACKWARD_CONVERT);
    EXPECT_NEAR(static_cast<double>(behind.size()), head_dim == 64 ? 288 : 296, 10);
    EXPECT_EQ(starting_with(behind, "LDS"), 12);
    EXPECT_EQ(starting_with(behind, "FMUL"), 32);
    EXPECT_EQ(starting_with(behind, "F2FP"), 16);
    EXPECT_EQ(starting_with(behind, "STSM"), 4);
    EXPECT_EQ(starting_with(behind, "STG"), 4);
  }
}

uint64_t wgmma_columns(const traces::Kernel& kernel) {
  uint64_t columns = 0;
  for_each_instruction(kernel, [&](const isa::Instruction& instruction, uint64_t times) {
    if (instruction.mnemonic.starts_with("HGMMA.64x")) columns += times * std::stoul(instruction.mnemonic.substr(9));
  });
  return columns;
}

// Five products of each block, whole and once: 2 x 64 x columns x 16 a warpgroup's wgmma, that is a quarter of it a warp. Without a
// mask the useful operations are those of all blocks.
TEST(FlashAttention3Backward, MultipliesFiveTimes) {
  for (const uint32_t head_dim : {64U, 128U}) {
    const traces::Kernel whole = make(backward(attention(2, 16, 4096, head_dim)));
    EXPECT_EQ(wgmma_columns(whole) / 4 * 2 * 64 * 16, 5 * 2 * 32ULL * 4096 * 4096 * head_dim);
    EXPECT_EQ(whole.flops, 5 * 2 * 32ULL * 4096 * 4096 * head_dim);
  }
  // 32 blocks of keys, of which block i does not meet the 2 i blocks of 64 queries before it.
  const traces::Kernel half = make(backward(causal(2, 16, 4096, 128)));
  EXPECT_EQ(wgmma_columns(half) / 4 * 2 * 64 * 16, 5 * 2 * 32ULL * 64 * 128 * 128 * (32 * 64 - 2 * (31 * 32 / 2)));
}

TEST(FlashAttention3Backward, ReadsQueriesForEveryBlockOfKeysAndAddsAsOften) {
  const traces::Kernel kernel = make(backward(attention(2, 16, 4096, 128)));
  const auto bytes = bytes_by_stream(kernel);
  const uint64_t tensor = 32ULL * 4096 * 128 * 2;
  EXPECT_EQ(bytes.at("K"), tensor);
  EXPECT_EQ(bytes.at("V"), tensor);
  EXPECT_EQ(bytes.at("Q"), 32 * tensor);
  EXPECT_EQ(bytes.at("dO"), 32 * tensor);
  EXPECT_EQ(bytes.at("dQ"), 32 * 2 * tensor);
  EXPECT_EQ(bytes.at("dK"), tensor);
  EXPECT_EQ(bytes.at("dV"), tensor);
  EXPECT_EQ(bytes.at("rows"), 32 * 32ULL * 4096 * 2 * 4);
  // Q, dO and dQ of the five heads whose blocks run at a time stay in L2.
  EXPECT_EQ(kernel.streams[0].dram_denominator, 32 * kernel.streams[0].dram_numerator);
}

TEST(FlashAttention3Backward, KernelsRoundItMoveEachElementOnce) {
  for (const uint32_t head_dim : {64U, 128U}) {
    const uint64_t tensor = 32ULL * 4096 * head_dim * 2;
    const auto before = bytes_by_stream(make(backward(attention(2, 16, 4096, head_dim), configs::BACKWARD_PREPARE)));
    EXPECT_EQ(before.at("O"), tensor);
    EXPECT_EQ(before.at("dO"), tensor);
    EXPECT_EQ(before.at("dQ_sums"), 2 * tensor);
    EXPECT_EQ(before.at("rows"), 2 * 32ULL * 4096 * 4);
    EXPECT_EQ(before.at("LSE"), 32ULL * 4096 * 4);
    const traces::Kernel behind = make(backward(attention(2, 16, 4096, head_dim), configs::BACKWARD_CONVERT));
    EXPECT_EQ(bytes_by_stream(behind).at("dQ_sums"), 2 * tensor);
    EXPECT_EQ(bytes_by_stream(behind).at("dQ"), tensor);
  }
}

// Of 512 queries and keys at head_dim 128: eight blocks of queries, four of keys; three blocks are masked, as the library does.
TEST(FlashAttention3Backward, CausalKeyBlocksMeetTheQueriesThatSeeThem) {
  const traces::Kernel kernel = make(backward(causal(1, 1, 512, 128)));
  using testing::ElementsAre;
  ASSERT_EQ(kernel.cta_classes.size(), 4);
  EXPECT_THAT(kernel.cta_classes[0].values, ElementsAre(8, 7, 3, 5));
  EXPECT_THAT(kernel.cta_classes[1].values, ElementsAre(6, 5, 3, 3));
  EXPECT_THAT(kernel.cta_classes[2].values, ElementsAre(4, 3, 3, 1));
  EXPECT_THAT(kernel.cta_classes[3].values, ElementsAre(2, 1, 2, 0));
}

// The library's storage: 0x30800 and 0x30c00 bytes in front of the barriers, less their alignment.
TEST(FlashAttention3Backward, TilesFillTheSharedMemory) {
  EXPECT_EQ(make(backward(attention(1, 1, 512, 128))).shared_memory_bytes, 0x30800);
  EXPECT_EQ(make(backward(attention(1, 1, 512, 64))).shared_memory_bytes, 0x30c00);
}

// dO is given back before dQ is begun, Q behind it; the warpgroups meet in between.
TEST(FlashAttention3Backward, GivesItsStagesBackInTheOrderOfTheCompiledKernel) {
  const traces::Kernel kernel = make(backward(attention(1, 16, 1024, 128)));
  const std::vector<isa::Instruction>& code = loop_body(kernel, "consumer1", 0);
  std::vector<std::string> order;
  int exponentials = 0;
  for (const isa::Instruction& instruction : code) {
    const std::string& name = instruction.mnemonic;
    if (name == "MUFU.EX2") ++exponentials;
    if (name.starts_with("SYNCS.ARRIVE") || name.starts_with("BAR.") || instruction.effect.commit) order.push_back(name);
    if (name.starts_with("WARPGROUP.DEPBAR")) order.push_back("wait, exponentials " + std::to_string(exponentials));
  }
  EXPECT_THAT(order,
              testing::ElementsAre("HGMMA.64x64x16.F32", "HGMMA.64x64x16.F32", "wait, exponentials 0", "wait, exponentials 8",
                                   "HGMMA.64x128x16.F32", "HGMMA.64x128x16.F32", "wait, exponentials 32",
                                   "SYNCS.ARRIVE.TRANS64.RED.A1T0", "BAR.SYNC.DEFER_BLOCKING", "HGMMA.64x64x16.F32",
                                   "wait, exponentials 32", "SYNCS.ARRIVE.TRANS64.RED.A1T0", "wait, exponentials 32", "BAR.ARV"));
}

TEST(FlashAttention3Backward, RefusesWhatHasNoKernel) {
  const auto error_of = [](const configs::FlashAttention3& each, const std::string& on = "h100_sxm") {
    const auto made = make_flash_attention_3(each, gpu(on));
    return made ? "no error" : made.error().message;
  };
  EXPECT_EQ(error_of(backward(attention(1, 1, 512, 256))),
            "flash_attention_3: the backward pass of head_dim 256 has no kernel here; expected 64 or 128");
  configs::FlashAttention3 eight = backward(attention(1, 1, 512, 128));
  eight.mutable_shape()->set_type(configs::FP8);
  EXPECT_EQ(error_of(eight), "flash_attention_3: the backward pass has no kernel for FP8; expected BF16 or FP16");
  configs::FlashAttention3 dropping = backward(attention(1, 1, 512, 128));
  dropping.mutable_shape()->set_dropout(configs::STORED_BITS);
  EXPECT_EQ(error_of(dropping), "flash_attention_3: the backward pass is there for dropout NONE only");
  configs::FlashAttention3 split = backward(attention(1, 1, 512, 128));
  split.set_splits(2);
  EXPECT_THAT(error_of(split), HasSubstr("belong to the forward pass"));
  configs::FlashAttention3 few = backward(causal(1, 1, 512, 128));
  few.mutable_shape()->set_keys(256);
  EXPECT_EQ(error_of(few), "flash_attention_3: causal with 256 keys for 512 queries leaves queries without keys");
  EXPECT_THAT(error_of(backward(attention(1, 1, 512, 128)), "a100_sxm"), HasSubstr("needs sm_90"));
}

}  // namespace
}  // namespace warpfold::workloads
