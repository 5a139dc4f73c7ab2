// The structure of FlashAttention-4's backward kernels, compared with counts from the shape, the source and the paper.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/workloads/kernels.h"
#include "workloads/common/program.h"
#include "workloads/flash_attention_4/flash_attention_4.h"

namespace warpfold::workloads {
namespace {

using testing::HasSubstr;

configs::FlashAttention4 backward(uint64_t heads, uint64_t queries, uint32_t head_dim, bool causal = false) {
  configs::FlashAttention4 all;
  configs::AttentionShape& shape = *all.mutable_shape();
  shape.set_batch(2);
  shape.set_heads(heads);
  shape.set_queries(queries);
  shape.set_head_dim(head_dim);
  shape.set_type(configs::BF16);
  shape.set_causal(causal);
  all.set_pass(configs::BACKWARD);
  return all;
}
configs::FlashAttention4 one_cta(configs::FlashAttention4 all) {
  all.set_two_ctas(false);
  return all;
}

traces::Kernel make(const configs::FlashAttention4& all) { return make_flash_attention_4(all, gpu("b200")).value(); }

uint64_t tensor_flops(const traces::Kernel& kernel) {
  uint64_t flops = 0;
  for_each_instruction(kernel, [&](const isa::Instruction& instruction, uint64_t times) {
    if (instruction.mnemonic.starts_with("UTCHMMA")) flops += times * 2 * 16 * instruction.effect.rows * instruction.effect.columns;
  });
  return flops;
}

bool in_tensor_memory(const isa::Operand& operand) { return operand.text.starts_with("tmem"); }

// Five products of each pair of blocks. In a causal head, a block of keys meets the queries that do not all come before it. The two
// blocks of a pair meet the queries that the first one meets.
TEST(FlashAttention4Backward, MultipliesFiveTimes) {
  for (const uint32_t head_dim : {64U, 128U}) {
    const traces::Kernel kernel = make(backward(4, 2048, head_dim));
    EXPECT_EQ(kernel.flops, 5 * 2 * 8ULL * 2048 * 2048 * head_dim);
    EXPECT_EQ(tensor_flops(kernel), kernel.flops);
  }
  const uint64_t of_blocks = 5 * 2 * 8ULL * 128 * 128 * 128;
  EXPECT_EQ(tensor_flops(make(one_cta(backward(4, 2048, 128, true)))), of_blocks * (16 * 17 / 2));
  EXPECT_EQ(tensor_flops(make(backward(4, 2048, 128, true))), of_blocks * 2 * (16 + 14 + 12 + 10 + 8 + 6 + 4 + 2));
}

// Of 128 x 128 x 128: left operands of S and dP in shared memory, of dV and dK in tensor memory, both of dQ in shared memory.
TEST(FlashAttention4Backward, ProductsHaveTheSourcesOperands) {
  const auto products = [](const configs::FlashAttention4& all, const std::string& operands) {
    uint64_t count = 0;
    for_each_instruction(make(all), [&](const isa::Instruction& instruction, uint64_t times) {
      if (!instruction.mnemonic.starts_with("UTCHMMA")) return;
      if (in_tensor_memory(instruction.operands.front()) == (operands == "tmem")) count += times;
    });
    return count / (16 * 16 * 8);  // of a pair of blocks
  };
  EXPECT_EQ(products(one_cta(backward(4, 2048, 128)), "tmem"), 8 + 8);
  EXPECT_EQ(products(one_cta(backward(4, 2048, 128)), "smem"), 8 + 8 + 8);
  EXPECT_EQ(products(backward(4, 2048, 128), "smem"), 8 + 8 + 16);  // a pair's dQ: 64 queries, 256 keys
  EXPECT_EQ(products(backward(4, 2048, 64), "smem"), 4 + 4 + 8);
}

// A CTA reads its keys once and queries for each of its blocks, of a pair half of them, twice. Of dQ a pair adds half as much.
TEST(FlashAttention4Backward, APairAddsHalfOfTheBytes) {
  const uint64_t tensor = 8ULL * 2048 * 128 * 2;
  auto single = bytes_by_stream(make(one_cta(backward(4, 2048, 128))));
  EXPECT_EQ(single["K"], tensor);
  EXPECT_EQ(single["V"], tensor);
  EXPECT_EQ(single["dK"], tensor);
  EXPECT_EQ(single["dV"], tensor);
  EXPECT_EQ(single["Q"], 16 * tensor);
  EXPECT_EQ(single["dO"], 16 * tensor);
  EXPECT_EQ(single["dQ"], 16 * 2 * tensor);
  auto pair = bytes_by_stream(make(backward(4, 2048, 128)));
  EXPECT_EQ(pair["K"], 2 * tensor);
  EXPECT_EQ(pair["V"], tensor);
  EXPECT_EQ(pair["Q"], single["Q"]);
  EXPECT_EQ(pair["dO"], single["dO"]);
  EXPECT_EQ(pair["dQ"], single["dQ"] / 2);
  uint64_t exchanged = 0;
  for_each_instruction(make(backward(4, 2048, 128)), [&](const isa::Instruction& instruction, uint64_t times) {
    if (instruction.effect.stream < 0) exchanged += times * instruction.effect.bytes;
  });
  EXPECT_EQ(exchanged, 2 * 8ULL * 2048 * 2048);  // half of dS, in 16 bits, sent and received
}

// The paper's cycles of shared memory for 128 x 128 x 128: operands of the products, dS, dQ in FP32 written and read. The paper
// leaves out the numbers of the rows, 512 passes. Of a pair the paper has 2688, with 384 for the half of dS that changes sides;
// here that half is stored once and read once, without a further pass.
TEST(FlashAttention4Backward, SharedMemoryPassesAreThePapers) {
  struct Passes {
    uint64_t paper = 0;
    uint64_t rows = 0;
  };
  const auto passes = [](const configs::FlashAttention4& all) {
    Passes sum;
    const traces::Kernel kernel = make(all);
    for (const traces::Role& role : kernel.roles) {
      for_each_instruction(role.body, {"", {10001, 10000}}, role.warps, [&](const isa::Instruction& instruction, uint64_t times) {
        const bool pair = instruction.mnemonic.ends_with(".2CTA");
        const isa::Effect& effect = instruction.effect;
        if (instruction.mnemonic.starts_with("UTCHMMA")) {
          const bool left = !in_tensor_memory(instruction.operands.front());
          sum.paper += times * ((left ? effect.rows / 4U : 0U) + effect.columns / (pair ? 8U : 4U));
        }
        if (instruction.mnemonic.starts_with("LDS.128")) sum.rows += times * effect.wavefronts;
        if (instruction.mnemonic.starts_with("STS.128")) sum.paper += times * 4;
        if (instruction.mnemonic.starts_with("UTMASTG") || instruction.mnemonic.starts_with("UTMAREDG"))
          sum.paper += times * effect.bytes / 128;
      });
    }
    return Passes{sum.paper / 10001, sum.rows / 10001};  // of a block; the ends of a CTA are less than a pass of each
  };
  EXPECT_EQ(passes(one_cta(backward(4, 2048, 128))).paper, 3328U);
  EXPECT_EQ(passes(one_cta(backward(4, 2048, 128))).rows, 512U);
  EXPECT_EQ(passes(backward(4, 2048, 128)).paper, 2688U - 256U);
}

TEST(FlashAttention4Backward, TakesWhatTheSourceSays) {
  EXPECT_EQ(make(one_cta(backward(4, 2048, 128))).shared_memory_bytes, 232448U);
  const traces::Kernel pair = make(backward(4, 2048, 128));
  EXPECT_EQ(pair.shared_memory_bytes, 231424U);
  EXPECT_EQ(pair.cluster_ctas, 2U);
  EXPECT_EQ(pair.warps_per_cta(), 16U);
  EXPECT_EQ(pair.tensor_memory_columns, 512U);
  EXPECT_EQ(make(backward(4, 2048, 64)).cluster_ctas, 1U);
  const auto registers = [](const traces::Kernel& kernel, const std::string& name) {
    return registers_named({*std::ranges::find(kernel.roles, name, &traces::Role::name)});
  };
  EXPECT_LE(registers(pair, "compute0"), 136U);
  EXPECT_LE(registers(make(one_cta(backward(4, 2048, 128))), "reduce0"), 152U);
}

// An exponential and a conversion a score, one more for its gradient; all compute warps meet five times a block, with columns of
// their own never.
TEST(FlashAttention4Backward, ComputeWarpsMeetFiveTimes) {
  const uint64_t blocks = 8 * 16 * 16;
  const traces::Kernel kernel = make(backward(4, 2048, 64));
  EXPECT_EQ(issued(kernel, "MUFU.EX2"), blocks * 128 * 128 / 32);
  EXPECT_EQ(issued(kernel, "F2FP"), blocks * 2 * 128 * 128 / 64 + 8 * 16 * 2 * 128 * 64 / 64);
  const auto meetings = [](const configs::FlashAttention4& all) {
    uint64_t count = 0;
    for_each_instruction(make(all), [&](const isa::Instruction& instruction, uint64_t times) {
      if (instruction.mnemonic.starts_with("BAR.SYNC") && instruction.effect.count == 256) count += times;
    });
    return count / 8;
  };
  EXPECT_EQ(meetings(backward(4, 2048, 64)), blocks * 5);
  EXPECT_EQ(meetings(backward(4, 2048, 128)), blocks * 5);
  configs::FlashAttention4 own = backward(4, 2048, 64);
  own.set_own_columns(true);
  EXPECT_EQ(meetings(own), 0U);
  EXPECT_EQ(tensor_flops(make(own)), kernel.flops);
}

// A fixed order: a counter is read before each block of dQ is added, and raised behind.
TEST(FlashAttention4Backward, AFixedOrderPollsACounter) {
  configs::FlashAttention4 all = backward(4, 2048, 128);
  EXPECT_EQ(issued(make(all), "LDG"), 0U);
  all.set_deterministic(true);
  EXPECT_EQ(issued(make(all), "LDG"), 8U * 16 * 16);
  EXPECT_EQ(issued(make(all), "STG"), 8U * 16 * 16);
}

// If heads share keys, dK and dV are sums in FP32 and are converted as dQ is.
TEST(FlashAttention4Backward, SharedKeysAreAddedUp) {
  configs::FlashAttention4 all = backward(8, 1024, 128);
  all.mutable_shape()->set_kv_heads(2);
  EXPECT_EQ(bytes_by_stream(make(all))["dK"], 2 * 8ULL * 1024 * 128 * 4);
  all.set_pass(configs::BACKWARD_CONVERT);
  EXPECT_EQ(make(all).ctas(), 2ULL * 8 * (8 + 2 * 2));
}

TEST(FlashAttention4Backward, SaysWhatItCannotDo) {
  const auto error = [](const configs::FlashAttention4& all, const std::string& on = "b200") {
    return make_flash_attention_4(all, gpu(on)).error().message;
  };
  EXPECT_THAT(error(backward(4, 1024, 128), "h100_sxm"), HasSubstr("needs a GPU of architecture sm_100 or sm_103"));
  configs::FlashAttention4 all = backward(4, 1024, 64);
  all.set_two_ctas(true);
  EXPECT_EQ(error(all), "flash_attention_4: two_ctas of the backward pass is a kernel of head_dim 128");
  all = backward(4, 1024, 128);
  all.set_own_columns(true);
  EXPECT_EQ(error(all), "flash_attention_4: own_columns takes tensor memory that head_dim 128 has not left; expected head_dim 64");
  all = backward(4, 1024, 128);
  all.set_rescale_share(0.5);
  EXPECT_THAT(error(all), HasSubstr("belong to the forward pass"));
  all = backward(4, 1024, 128, true);
  all.mutable_shape()->set_keys(512);
  EXPECT_THAT(error(all), HasSubstr("leaves queries without keys"));
  all = backward(4, 1024, 128);
  all.set_pass(configs::FORWARD);
  all.set_deterministic(true);
  EXPECT_EQ(error(all), "flash_attention_4: deterministic and own_columns belong to the backward pass");
}

}  // namespace
}  // namespace warpfold::workloads
