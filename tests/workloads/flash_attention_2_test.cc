#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "isa/control_code_assigner.h"
#include "tests/source_dir.h"
#include "tests/workloads/kernels.h"
#include "workloads/flash_attention_2/flash_attention_2.h"

namespace warpfold::workloads {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

configs::FlashAttention2 attention(uint64_t queries, uint32_t head_dim, configs::Dropout dropout = configs::NONE) {
  configs::FlashAttention2 attention;
  configs::AttentionShape& shape = *attention.mutable_shape();
  shape.set_heads(4);
  shape.set_queries(queries);
  shape.set_head_dim(head_dim);
  shape.set_type(configs::FP16);
  shape.set_dropout(dropout);
  return attention;
}

using Counts = std::map<std::string, int>;  // by opcode; "stalls" as well

std::map<std::string, Counts> counted() {
  std::ifstream stream(WARPFOLD_SOURCE_DIR "/tests/workloads/data/flash_attention_2_counts.csv");
  std::map<std::string, Counts> counts;
  for (std::string text; std::getline(stream, text);) {
    if (text.starts_with("#") || text.starts_with("architecture")) continue;
    std::istringstream cells(text);
    std::string architecture, variant, opcode, count;
    std::getline(std::getline(std::getline(std::getline(cells, architecture, ','), variant, ','), opcode, ','), count);
    // The generators write DEPBAR.LE so where it waits for cp.async; .LU is a hint to the cache.
    if (opcode == "DEPBAR.LE") opcode = "DEPBAR.LE.LDGSTS";
    if (opcode == "LDL.LU") opcode = "LDL";
    counts[architecture + " " + variant][opcode] += std::stoi(count);
  }
  return counts;
}

const std::vector<isa::Instruction>& pass_of(const traces::Kernel& kernel) {
  const auto& body = kernel.roles.front().body;
  return std::get<traces::Block>(std::get<traces::Loop>(body[body.size() - 2]).body.front()).code;
}

Counts counts_of(const traces::Kernel& kernel) {
  Counts counts;
  for (const isa::Instruction& instruction : pass_of(kernel)) ++counts[instruction.mnemonic];
  return counts;
}

configs::FlashAttention2 fused(uint32_t rounds) {
  configs::FlashAttention2 shape = attention(1024, 128, configs::FUSED_PHILOX);
  shape.mutable_shape()->set_philox_rounds(rounds);
  return shape;
}

struct Variant {
  std::string counted;
  std::string gpu;
  configs::FlashAttention2 shape;
  int bookkeeping;  // instructions of address arithmetic and moves by which an opcode may differ
};

std::vector<Variant> variants() {
  std::vector<Variant> all = {
      {"sm_80 n64", "a100_sxm", attention(1024, 128), 0},
      {"sm_80 n32", "rtx_a6000", attention(1024, 128), 0},
      {"sm_80 stored_n32", "a100_sxm", attention(1024, 128, configs::STORED_BITS), 0},
      {"sm_90 n64", "h100_sxm", attention(1024, 128), 0},
      {"sm_90 stored_n32", "h100_sxm", attention(1024, 128, configs::STORED_BITS), 0},
  };
  for (const uint32_t rounds : {3U, 5U, 7U, 10U}) {
    const std::string name = " philox" + std::to_string(rounds) + "_n32";
    all.push_back({"sm_80" + name, "a100_sxm", fused(rounds), 0});
    all.push_back({"sm_90" + name, "h100_sxm", fused(rounds), rounds == 7 ? 0 : 2});
  }
  return all;
}

// All of 13 counted passes of a head dimension of 128; Philox-3, -5 and -10 on sm_90 within two instructions of an opcode.
TEST(FlashAttention2, APassHasTheCountedInstructions) {
  const auto all = counted();
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.counted);
    Counts expected = all.at(variant.counted);
    expected.erase("stalls");
    const Counts made = counts_of(make_flash_attention_2(variant.shape, gpu(variant.gpu)).value());
    for (const auto& [opcode, count] : expected) {
      const auto found = made.find(opcode);
      const int times = found == made.end() ? 0 : found->second;
      EXPECT_LE(std::abs(times - count), variant.bookkeeping) << opcode << " " << times << " instead of " << count;
    }
    for (const auto& [opcode, count] : made) EXPECT_TRUE(expected.contains(opcode) || count <= variant.bookkeeping) << opcode;
  }
}

// The order of instructions is not copied, so stall counts add up to something else; near, because both are scheduled against the
// same ports and latencies. The spilling pass of sm_90 is 11 % shorter here: its moves wait for nothing.
TEST(FlashAttention2, StallCountsAddUpToThoseOfCompiledCode) {
  const auto all = counted();
  for (const Variant& variant : variants()) {
    if (variant.gpu == "rtx_a6000") continue;  // sm_86 spaces HMMA wider than the sm_80 code that was counted
    const traces::Kernel kernel = make_flash_attention_2(variant.shape, gpu(variant.gpu)).value();
    const double ratio = static_cast<double>(isa::scheduled_cycles(pass_of(kernel))) / all.at(variant.counted).at("stalls");
    EXPECT_THAT(ratio, AllOf(Ge(0.88), Le(1.07))) << variant.counted;
  }
}

// The kernel of head_dim 64, part by part: the loop has the last place but one, a second block of its own the places before.
std::map<std::string, std::vector<isa::Instruction>> parts_of(const traces::Kernel& kernel) {
  const auto& body = kernel.roles.front().body;
  const auto block = [&](size_t i) { return std::get<traces::Block>(body[i]).code; };
  const auto loop = [&](size_t i) { return std::get<traces::Block>(std::get<traces::Loop>(body[i]).body.front()).code; };
  std::map<std::string, std::vector<isa::Instruction>> parts = {
      {"prologue", block(0)}, {"first", block(1)}, {"loop", loop(body.size() - 2)}, {"epilogue", block(body.size() - 1)}};
  if (body.size() > 4) parts["second"] = loop(2);
  return parts;
}

// The generator writes BRA for all branches, even if a region of divergence closes or the kernel ends
// early. It writes the FP16 name of a product for both types.
std::string counted_as(const std::string& opcode) {
  if (opcode == "HMMA.16816.F32.BF16") return "HMMA.16816.F32";
  return opcode == "BSSY" || opcode == "BSYNC" || opcode == "EXIT" ? "BRA" : opcode;
}

configs::FlashAttention2 attention_64(uint64_t queries, bool causal) {
  configs::FlashAttention2 shape = attention(queries, 64);
  shape.mutable_shape()->set_causal(causal);
  shape.mutable_shape()->set_type(configs::BF16);
  return shape;
}

std::string variant_64(const std::string& gpu_name, uint64_t queries, bool causal) {
  return std::string(gpu_name == "h100_sxm" ? "sm_90" : "sm_80") + " d64" + (causal ? "_causal" : "") +
         (queries % 128 != 0 ? "_ragged" : "") + "_";
}

// All of 34 parts.
TEST(FlashAttention2, APartOfHeadDim64HasTheCountedInstructions) {
  const auto all = counted();
  int compared = 0;
  for (const std::string gpu_name : {"a100_sxm", "h100_sxm"}) {
    for (const uint64_t queries : {1024U, 559U}) {
      for (const bool causal : {false, true}) {
        const traces::Kernel kernel = make_flash_attention_2(attention_64(queries, causal), gpu(gpu_name)).value();
        for (const auto& [part, code] : parts_of(kernel)) {
          SCOPED_TRACE(variant_64(gpu_name, queries, causal) + part);
          Counts expected;
          for (const auto& [opcode, count] : all.at(variant_64(gpu_name, queries, causal) + part)) {
            if (opcode != "stalls") expected[counted_as(opcode)] += count;
          }
          Counts made;
          for (const isa::Instruction& instruction : code) ++made[counted_as(instruction.mnemonic)];
          EXPECT_EQ(made, expected);
          ++compared;
        }
      }
    }
  }
  EXPECT_EQ(compared, 34);
}

// Blocks of keys take 21 % fewer to 9 % more cycles than in compiled code. Most take fewer: the generated code begins exponentials
// and products earlier, because its sums and packed probabilities need no registers of their own.
TEST(FlashAttention2, StallCountsOfHeadDim64) {
  const auto all = counted();
  for (const std::string gpu_name : {"a100_sxm", "h100_sxm"}) {
    for (const uint64_t queries : {1024U, 559U}) {
      for (const bool causal : {false, true}) {
        const traces::Kernel kernel = make_flash_attention_2(attention_64(queries, causal), gpu(gpu_name)).value();
        for (const auto& [part, code] : parts_of(kernel)) {
          const std::string name = variant_64(gpu_name, queries, causal) + part;
          const double ratio = static_cast<double>(isa::scheduled_cycles(code)) / all.at(name).at("stalls");
          const bool of_keys = part != "prologue" && part != "epilogue";
          EXPECT_THAT(ratio, AllOf(Ge(of_keys ? 0.79 : 0.72), Le(of_keys ? 1.10 : 1.16))) << name;
        }
      }
    }
  }
}

TEST(FlashAttention2, RaggedCausalTilesMaskTwoBlocks) {
  const traces::Kernel ragged = make_flash_attention_2(attention_64(559, true), gpu("h100_sxm")).value();
  ASSERT_EQ(ragged.cta_classes.size(), 5);
  for (uint64_t i = 0; i < 5; ++i) {
    const uint64_t second = i > 0 ? 1 : 0;  // the first tile has one block
    EXPECT_EQ(ragged.cta_classes[i].values, (std::vector<uint64_t>{i - second, second}));
  }
  EXPECT_EQ(issued(ragged, "HMMA.16816.F32"), 15U * 256 * 4 * 4);  // blocks, products of a warp, warps, heads
  const traces::Kernel even = make_flash_attention_2(attention_64(512, true), gpu("h100_sxm")).value();
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(even.cta_classes[i].values, (std::vector<uint64_t>{i, 0}));
}

TEST(FlashAttention2, EveryDependenceIsProtected) {
  for (const std::string name : {"a100_sxm", "h100_sxm"}) {
    for (const uint32_t head_dim : {64U, 128U, 256U}) {
      for (const configs::Dropout dropout : {configs::NONE, configs::STORED_BITS, configs::FUSED_PHILOX}) {
        const traces::Kernel kernel = make_flash_attention_2(attention(1024, head_dim, dropout), gpu(name)).value();
        EXPECT_TRUE(isa::check_control_codes(architecture_of(kernel), pass_of(kernel), true).empty()) << kernel.source;
        EXPECT_LE(kernel.registers_per_thread, 255U);
      }
      configs::FlashAttention2 backward = attention(1024, head_dim);
      backward.set_pass(configs::BACKWARD);
      const traces::Kernel kernel = make_flash_attention_2(backward, gpu(name)).value();
      EXPECT_TRUE(isa::check_control_codes(architecture_of(kernel), pass_of(kernel), true).empty()) << kernel.source;
    }
  }
}

TEST(FlashAttention2, TilesAreThoseOfTheLibrary) {
  const auto tile = [](const std::string& gpu_name, uint32_t head_dim, configs::Dropout dropout, bool causal = false) {
    configs::FlashAttention2 shape = attention(1024, head_dim, dropout);
    shape.mutable_shape()->set_causal(causal);
    const std::string source = make_flash_attention_2(shape, gpu(gpu_name)).value().source;
    return source.substr(source.find("tile="));
  };
  EXPECT_EQ(tile("a100_sxm", 64, configs::NONE), "tile=128x128 warps=4");
  EXPECT_EQ(tile("a100_sxm", 64, configs::STORED_BITS), "tile=128x64 warps=4");
  EXPECT_EQ(tile("h100_sxm", 128, configs::NONE), "tile=128x64 warps=4");
  EXPECT_EQ(tile("h100_sxm", 128, configs::FUSED_PHILOX), "tile=128x32 warps=4");
  EXPECT_EQ(tile("rtx_a6000", 128, configs::NONE, true), "tile=64x64 warps=4");
  EXPECT_EQ(tile("a100_sxm", 256, configs::NONE), "tile=128x64 warps=8");
  EXPECT_EQ(tile("h100_sxm", 256, configs::NONE), "tile=64x64 warps=4");
  EXPECT_EQ(tile("rtx_a6000", 256, configs::NONE), "tile=64x64 warps=4");
}

TEST(FlashAttention2, MovesAndComputesWhatTheShapeSays) {
  const uint64_t n = 1024;
  for (const uint32_t head_dim : {64U, 128U, 256U}) {
    const traces::Kernel kernel = make_flash_attention_2(attention(n, head_dim, configs::STORED_BITS), gpu("h100_sxm")).value();
    SCOPED_TRACE(kernel.source);
    const uint64_t rows = 4 * n;  // of all heads
    const uint64_t query_tiles = head_dim == 256 ? n / 64 : n / 128;
    const auto bytes = bytes_by_stream(kernel);
    EXPECT_EQ(bytes.at("Q"), rows * head_dim * 2);
    EXPECT_EQ(bytes.at("O"), rows * head_dim * 2);
    EXPECT_EQ(bytes.at("K"), rows * head_dim * 2 * query_tiles);
    EXPECT_EQ(bytes.at("V"), rows * head_dim * 2 * query_tiles);
    EXPECT_EQ(bytes.at("bits"), rows * n / 8);
    EXPECT_EQ(kernel.flops, 4 * rows * n * head_dim);
    EXPECT_EQ(issued(kernel, "HMMA.16816.F32") * 2 * 16 * 8 * 16, kernel.flops);
    EXPECT_EQ(issued(kernel, "MUFU.EX2") / (rows * n / 32), 1);
  }
}

TEST(FlashAttention2, CausalTilesGoThroughTheKeysTheySee) {
  configs::FlashAttention2 shape = attention(512, 128);
  shape.mutable_shape()->set_causal(true);
  const traces::Kernel kernel = make_flash_attention_2(shape, gpu("a100_sxm")).value();
  ASSERT_EQ(kernel.cta_classes.size(), 4);
  for (uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(kernel.cta_classes[i].values, (std::vector<uint64_t>{2 * (i + 1), 2}));  // blocks of 64 keys, the last two cut
    EXPECT_EQ(kernel.grid[i], (traces::CtaRun{static_cast<uint32_t>(i), 1}));          // query tiles run fastest
  }
  EXPECT_EQ(kernel.ctas(), 16);
  EXPECT_EQ(kernel.flops, make_flash_attention_2(attention(512, 128), gpu("a100_sxm")).value().flops / 2);
}

TEST(FlashAttention2, SharedKeysComeFromDramOnce) {
  configs::FlashAttention2 shape = attention(1024, 128);
  shape.mutable_shape()->set_heads(32);
  const auto fraction = [&](uint64_t kv_heads) {
    shape.mutable_shape()->set_kv_heads(kv_heads);
    const traces::MemoryStream k = make_flash_attention_2(shape, gpu("h100_sxm")).value().streams[1];
    return static_cast<double>(k.dram_numerator) / static_cast<double>(k.dram_denominator);
  };
  EXPECT_DOUBLE_EQ(fraction(32), 1.0 / 8);  // eight query tiles
  EXPECT_DOUBLE_EQ(fraction(4), 1.0 / 64);  // of eight heads
}

TEST(FlashAttention2, BackwardHasFiveProductsAndAddsToTheQueryGradient) {
  const uint64_t n = 1024;
  for (const uint32_t head_dim : {64U, 128U, 256U}) {
    configs::FlashAttention2 shape = attention(n, head_dim);
    shape.set_pass(configs::BACKWARD);
    const traces::Kernel kernel = make_flash_attention_2(shape, gpu("h100_sxm")).value();
    SCOPED_TRACE(kernel.source);
    const uint64_t elements = 4 * n * head_dim;  // of Q, all heads
    const uint64_t key_blocks = head_dim == 256 ? n / 64 : n / 128;
    EXPECT_EQ(kernel.flops, 5 * 2 * elements * n);
    EXPECT_EQ(issued(kernel, "HMMA.16816.F32") * 2 * 16 * 8 * 16, kernel.flops);
    EXPECT_EQ(issued(kernel, "MUFU.EX2"), 4 * n * n / 32);
    const auto bytes = bytes_by_stream(kernel);
    EXPECT_EQ(bytes.at("Q"), elements * 2 * key_blocks);
    EXPECT_EQ(bytes.at("dO"), elements * 2 * key_blocks);
    EXPECT_EQ(bytes.at("dQ"), elements * 4 * key_blocks);
    for (const std::string once : {"K", "V", "dK", "dV"}) EXPECT_EQ(bytes.at(once), elements * 2) << once;
  }
}

// 144 KiB of shared memory and more, one CTA an SM (kernel_traits.h).
TEST(FlashAttention2, BackwardTilesFillTheSharedMemory) {
  const auto bytes = [](const std::string& gpu_name, uint32_t head_dim) {
    configs::FlashAttention2 shape = attention(1024, head_dim);
    shape.set_pass(configs::BACKWARD);
    return make_flash_attention_2(shape, gpu(gpu_name)).value().shared_memory_bytes / 1024;
  };
  EXPECT_EQ(bytes("a100_sxm", 64), 144);
  EXPECT_EQ(bytes("a100_sxm", 128), 144);
  EXPECT_EQ(bytes("a100_sxm", 256), 144);
  EXPECT_EQ(bytes("h100_sxm", 256), 176);
}

TEST(FlashAttention2, BackwardCausalKeyBlocksMeetTheQueriesThatSeeThem) {
  configs::FlashAttention2 shape = attention(512, 128);
  shape.mutable_shape()->set_causal(true);
  shape.set_pass(configs::BACKWARD);
  const traces::Kernel kernel = make_flash_attention_2(shape, gpu("a100_sxm")).value();
  ASSERT_EQ(kernel.cta_classes.size(), 4);
  for (uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(kernel.cta_classes[i].values, (std::vector<uint64_t>{8 - 2 * i, 2}));  // blocks of 64 queries, the first two cut
  }
}

TEST(FlashAttention2, KernelsRoundTheBackwardPassMoveEachElementOnce) {
  configs::FlashAttention2 shape = attention(1024, 128);
  const uint64_t elements = 4 * 1024 * 128;
  shape.set_pass(configs::BACKWARD_PREPARE);
  EXPECT_EQ(bytes_by_stream(make_flash_attention_2(shape, gpu("a100_sxm")).value()),
            (std::map<std::string, uint64_t>{
                {"O", 2 * elements}, {"dO", 2 * elements}, {"dQ_sums", 4 * elements}, {"rows", 4 * 4 * 1024}}));
  shape.set_pass(configs::BACKWARD_CONVERT);
  EXPECT_EQ(bytes_by_stream(make_flash_attention_2(shape, gpu("a100_sxm")).value()),
            (std::map<std::string, uint64_t>{{"dQ_sums", 4 * elements}, {"dQ", 2 * elements}}));
}

TEST(FlashAttention2, WhatIsNotThereFails) {
  const auto message = [](const auto& change, const std::string& gpu_name = "a100_sxm") {
    configs::FlashAttention2 shape = attention(1024, 128);
    change(shape);
    return make_flash_attention_2(shape, gpu(gpu_name)).error().message;
  };
  using Attention = configs::FlashAttention2;
  EXPECT_EQ(message([](Attention& a) { a.mutable_shape()->set_heads(0); }),
            "flash_attention_2: heads and queries must be at least 1");
  EXPECT_EQ(message([](Attention& a) { a.mutable_shape()->set_head_dim(96); }),
            "flash_attention_2: head_dim 96 has no kernel here; expected 64, 128 or 256");
  EXPECT_EQ(message([](Attention& a) { a.mutable_shape()->set_type(configs::FP8); }),
            "flash_attention_2: type FP8 has no kernel; expected BF16 or FP16");
  EXPECT_EQ(message([](Attention& a) { a.mutable_shape()->set_kv_heads(3); }),
            "flash_attention_2: heads 4 must be a multiple of kv_heads 3");
  EXPECT_EQ(message([](Attention& a) {
              a.mutable_shape()->set_causal(true);
              a.mutable_shape()->set_keys(512);
            }),
            "flash_attention_2: causal with keys 512 fewer than queries 1024 leaves queries without a key");
  EXPECT_EQ(message([](Attention& a) { a.mutable_shape()->set_philox_rounds(6); }),
            "flash_attention_2: philox_rounds 6 was not counted; expected 3, 5, 7 or 10");
  EXPECT_EQ(message([](Attention& a) {
              a.set_pass(configs::BACKWARD);
              a.mutable_shape()->set_dropout(configs::STORED_BITS);
            }),
            "flash_attention_2: the backward pass is there for dropout NONE only");
  EXPECT_EQ(message([](Attention& a) { a.set_pass(configs::BACKWARD); }, "rtx_a6000"),
            "flash_attention_2: the backward pass needs 144 KiB of shared memory a CTA; RTX A6000 has 99");
}

}  // namespace
}  // namespace warpfold::workloads
